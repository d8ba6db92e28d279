"""Slopes and inputs as short numbers, and what is measured of them, against the same in doubles."""

from __future__ import annotations

import pytest
import torch

from discreet.learning.deep.accelerator.measuring_kernels import keep_slopes, round_inputs, summarize

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (70, 65), (5, 130)])
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_inputs_become_integers(rows, columns, scale):
    values = numbers(rows, columns, scale=scale)
    found, unit, squares = round_inputs(values)
    expected = (values.double() / unit[:, None].double()).round().clamp(-127, 127)
    assert torch.equal(found[:, :rows].T.double(), expected)
    assert not found[:, rows:].any()
    assert found.shape == (columns, -(-rows // 16) * 16)
    assert torch.equal(squares, expected.long().square().sum(1))
    assert (expected.abs().amax(1) >= 64).all()
    assert torch.equal(torch.frexp(unit)[0], torch.full((rows,), 0.5, device=DEVICE))  # powers of two


def test_inputs_of_another_layout_become_the_same_integers():
    values = numbers(20, 12)
    other = values.T.contiguous().T
    assert other.stride() != values.stride()
    for one, two in zip(round_inputs(values), round_inputs(other), strict=True):
        assert torch.equal(one, two)
    for one, two in zip(keep_slopes(values), keep_slopes(other), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("odd", [torch.nan, torch.inf, -torch.inf, 2.0**100])
def test_a_row_that_is_not_finite_is_known_and_spoils_no_other(odd):
    values = numbers(4, 9)
    values[1, 4] = odd
    alone = values[[0, 2, 3]]
    found, unit, squares = round_inputs(values)
    assert unit.tolist()[1] == torch.inf
    assert not found[:, 1].any()
    assert torch.equal(unit[[0, 2, 3]], round_inputs(alone)[1])
    assert torch.equal(squares[[0, 2, 3]], round_inputs(alone)[2])
    kept, _, largest, squares = keep_slopes(values)
    assert squares.tolist()[1] == largest.tolist()[1] == torch.inf
    assert not kept[1].any()
    assert torch.equal(kept[[0, 2, 3]], keep_slopes(alone)[0])


def test_zeros_and_the_smallest_numbers_are_kept_as_zeros():
    values = torch.tensor([[0.0, 0.0], [2.0**-149, 0.0]], device=DEVICE)
    assert not round_inputs(values)[0].any()
    assert not keep_slopes(values)[0].any()


def test_squares_of_many_inputs_do_not_wrap():
    """Beyond 133,144 inputs of the largest size a sum of 32 bits would; more than 2^17 are refused."""
    _, _, squares = round_inputs(torch.full((1, 2**17), 127.0, device=DEVICE))
    assert squares.tolist() == [2**17 * 127**2]


@pytest.mark.parametrize("columns", [1, 1024, 1500])
@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_slopes_are_kept_in_16_bits(columns, scale):
    values = numbers(3, columns, scale=scale)
    kept, unit, largest, squares = keep_slopes(values)
    assert kept.dtype == torch.float16
    assert torch.equal(kept, (values / unit[:, None]).half())
    off = kept.double() * unit[:, None] - values
    assert (off.abs() <= 2.0**-11 * values.abs() + 2.0**-38 * values.abs().amax(1, keepdim=True)).all()
    assert torch.equal(largest, kept.float().abs().amax(1))
    assert torch.allclose(squares, kept.double().square().sum(1), rtol=1e-14)


@pytest.mark.parametrize("count", [1, 130])
def test_examples_are_summarized(count):
    slopes, slope_unit, largest, slope_squares = keep_slopes(numbers(count, 5))
    inputs, input_unit, input_squares = round_inputs(numbers(count, 7, seed=2, scale=100.0))
    given = (slope_squares, slope_unit, largest, input_squares, input_unit)
    norm, square, reach, limit = summarize(*given, step=3.0, most=7.0)
    lengths = inputs[:, :count].double().norm(dim=0)
    each = (slopes.double() * slope_unit[:, None]).norm(dim=1) * lengths * input_unit
    assert torch.allclose(norm, each, rtol=1e-14)
    assert torch.allclose(square, norm.square(), rtol=1e-14)
    assert torch.allclose(reach, 3 * lengths, rtol=1e-14)
    assert torch.allclose(limit, 7 / (largest.double() * slope_unit * input_unit), rtol=1e-14)


def test_without_slopes_the_largest_coefficient_is_finite():
    zeros = torch.zeros(1, 3, device=DEVICE)
    slopes, inputs = keep_slopes(zeros), round_inputs(zeros)
    given = (slopes[3], slopes[1], slopes[2], inputs[2], inputs[1])
    assert summarize(*given, step=1.0, most=1.0)[3].tolist() == [2.0**100]
