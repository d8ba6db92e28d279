"""Gains and biases of normalizing layers, against the derivative of each example in doubles."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from discreet.learning.deep.accelerator.normalized_rows import group_norm_rows, layer_norm_rows

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(*shape, generator=generator) + 5).to(DEVICE)


def derivatives(normalized, given, slopes):
    """The gradients of a gain and a bias of which all examples have their own."""
    axes = [1 if axis > 1 else size for axis, size in enumerate(given.shape)]
    shape = (given.shape[0], 1, given.shape[-1]) if normalized == "layer" else axes
    gain = torch.ones(shape, dtype=torch.float64, device=DEVICE, requires_grad=True)
    bias = torch.zeros(shape, dtype=torch.float64, device=DEVICE, requires_grad=True)
    if normalized == "layer":
        normal = functional.layer_norm(given.double(), given.shape[-1:], eps=1e-5)
    else:
        normal = functional.group_norm(given.double(), normalized, eps=1e-5)
    found = torch.autograd.grad(gain * normal + bias, (gain, bias), slopes.double())
    return [one.reshape(len(given), -1) for one in found]


def near(found, expected):
    return torch.allclose(found.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("positions", "columns"), [(1, 1), (3, 5), (37, 70), (2, 600), (1, 4097)])
def test_every_position_is_normalized_by_itself(positions, columns):
    given, slopes = numbers(3, positions, columns), numbers(3, positions, columns, seed=2)
    for found, expected in zip(
        layer_norm_rows(given, slopes, 1e-5), derivatives("layer", given, slopes), strict=True
    ):
        assert found.shape == (3, columns)
        assert near(found, expected)


@pytest.mark.parametrize(
    ("groups", "shape"),
    [(1, (1, 1)), (2, (6, 4, 5)), (3, (3, 7)), (4, (64, 9, 9)), (1, (5, 2, 3, 4)), (2, (4,))],
)
def test_channels_are_normalized_in_groups(groups, shape):
    given, slopes = numbers(3, *shape), numbers(3, *shape, seed=2)
    if len(shape) == 1:
        given, slopes = given[:, :, None], slopes[:, :, None]
    for found, expected in zip(
        group_norm_rows(given, slopes, groups, 1e-5), derivatives(groups, given, slopes), strict=True
    ):
        assert found.shape == (3, shape[0])
        assert near(found, expected)


def test_other_layouts_and_types_give_the_same():
    given, slopes = numbers(2, 8, 3, 3), numbers(2, 8, 3, 3, seed=2)
    last = [one.to(memory_format=torch.channels_last) for one in (given, slopes)]
    for one, other in zip(
        group_norm_rows(given, slopes, 2, 1e-5), group_norm_rows(*last, 2, 1e-5), strict=True
    ):
        assert torch.equal(one, other)
    halves = given.half(), slopes.half()
    for one, other in zip(
        group_norm_rows(*halves, 2, 1e-5),
        group_norm_rows(halves[0].float(), halves[1].float(), 2, 1e-5),
        strict=True,
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize("odd", [torch.nan, torch.inf])
def test_what_is_not_finite_stays_with_its_example(odd):
    given, slopes = numbers(3, 4, 6), numbers(3, 4, 6, seed=2)
    expected = [*layer_norm_rows(given, slopes, 1e-5), *group_norm_rows(given, slopes, 2, 1e-5)]
    given[1, 2, 3] = odd
    found = [*layer_norm_rows(given, slopes, 1e-5), *group_norm_rows(given, slopes, 2, 1e-5)]
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one[[0, 2]], other[[0, 2]])
    assert not found[0][1].isfinite().all()
    assert not found[2][1].isfinite().all()
