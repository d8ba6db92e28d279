"""Slopes as integers in two parts, and their products with inputs, bit for bit."""

from __future__ import annotations

import pytest
import torch

from discreet.learning.deep.accelerator.noisy_sums import LARGEST
from discreet.learning.deep.accelerator.product_kernels import add_product, round_slopes, write_product

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE)


def whole(parts):
    high, low = parts.cpu().long().split(len(parts) // 2)
    return 256 * high + low


def small(*shape, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-128, 128, shape, generator=generator, dtype=torch.int8).to(DEVICE)


def in_steps(parts, inputs, shift):
    """A product in grid steps, over what was there before."""
    steps = torch.full((len(parts) // 2 * len(inputs),), 77, dtype=torch.int32, device=DEVICE)
    write_product(steps, parts, inputs, shift)
    return steps.cpu().long()


def test_slopes_become_two_parts():
    slopes = numbers(22, 70).clamp(-1, 1).half()
    one, two = numbers(len(slopes), seed=2).abs(), numbers(len(slopes), seed=3).abs()
    coefficients = numbers(22, seed=4, scale=1_000.0).double()
    coefficients[2], slopes[2, 3] = 0, torch.nan
    slopes[1, :2], one[1], two[1] = torch.tensor([1.0, -1.0]).half(), 4.0, 1.0
    coefficients[1] = 32_600
    found = round_slopes(slopes, one, two, coefficients, 80, 2)
    factor = one.double() * two * coefficients / 4
    expected = (slopes.double() * factor[:, None]).round()
    expected[2] = 0
    assert expected.abs().max() == 32_600
    assert torch.equal(whole(found)[:, : len(slopes)].T.double(), expected.cpu())
    assert not found[:, len(slopes) :].any()


@pytest.mark.parametrize(("rows", "columns", "places"), [(1, 1, 16), (70, 130, 144), (10, 7, 48)])
def test_products_are_added_exactly(rows, columns, places):
    parts, inputs = small(2 * rows, places), small(columns, places, seed=2)
    expected = whole(parts) @ inputs.cpu().long().T
    total = torch.arange(rows * columns, device=DEVICE)
    add_product(total, parts, inputs, 2)
    assert torch.equal(total.cpu(), torch.arange(rows * columns) + 4 * expected.flatten())
    assert torch.equal(in_steps(parts, inputs, 7), (expected.flatten() + 64) >> 7)


def test_some_of_the_places_are_multiplied_where_they_are():
    parts, inputs = small(4, 64), small(5, 64, seed=2)
    total = torch.zeros(10, dtype=torch.int64, device=DEVICE)
    for start in (0, 32):
        add_product(total, parts[:, start : start + 32], inputs[:, start : start + 32], 0)
    assert torch.equal(total.cpu().reshape(2, 5), whole(parts) @ inputs.cpu().long().T)


def test_products_are_exact_at_their_largest():
    parts = torch.full((2, 2**16), -128, dtype=torch.int8, device=DEVICE)
    inputs = torch.full((2, 2**16), 127, dtype=torch.int8, device=DEVICE)
    inputs[1] = -127
    total = torch.zeros(2, dtype=torch.int64, device=DEVICE)
    add_product(total, parts, inputs, 0)
    one = 2**16 * 128 * 127 * (256 + 1)
    assert total.tolist() == [-one, one]


@pytest.mark.parametrize("shift", [-14, -9, -1])
def test_grid_steps_are_cut_off_where_32_bits_end(shift):
    parts = torch.full((2, 1024), -128, dtype=torch.int8, device=DEVICE)
    inputs = torch.full((2, 1024), 127, dtype=torch.int8, device=DEVICE)
    inputs[1] = -127
    assert in_steps(parts, inputs, shift).tolist() == [-LARGEST, LARGEST]


def steps_of(parts, inputs, shift):
    """The same of integers of any size."""
    exact = whole(parts) @ inputs.cpu().long().T
    rounded = (exact + (1 << shift >> 1)) >> shift if shift >= 0 else exact << -shift
    return rounded.clamp(-LARGEST, LARGEST).flatten()


@pytest.mark.parametrize("shift", [-14, -13, -6, -1, 0, 1, 2, 7, 8, 9, 15, 16])
def test_grid_steps_are_rounded_and_cut_off_at_every_size(shift):
    """Products around the edges of what fits, of both signs, and small ones; against integers of any size."""
    parts = torch.zeros(2 * 64, 16, dtype=torch.int8, device=DEVICE)
    values = small(2 * 64, 16, seed=shift + 20)
    for row in range(64):  # rows of more and more places that are not 0, in one part or in both
        parts[row::64, : row // 4 + 1] = values[row::64, : row // 4 + 1]
        parts[row + 64 * (row % 2) :: 128, :] = -128
    parts[0::64], parts[1::64], parts[64:, 1] = 0, 0, 1
    inputs = small(40, 16, seed=99)
    inputs[0], inputs[1], inputs[2:5] = 127, -127, 0
    inputs[3, 1], inputs[4, 1] = 1, -1
    assert torch.equal(in_steps(parts, inputs, shift), steps_of(parts, inputs, shift))


@pytest.mark.parametrize("shift", [-14, -1, 0, 1, 14, 16])
def test_long_sums_are_cut_off_at_both_ends(shift):
    places = 2**16
    parts = torch.full((4, places), 127, dtype=torch.int8, device=DEVICE)
    parts[1::2] = -128
    inputs = torch.full((2, places), 127, dtype=torch.int8, device=DEVICE)
    inputs[1] = -127
    assert torch.equal(in_steps(parts, inputs, shift), steps_of(parts, inputs, shift))


@pytest.mark.parametrize("shift", [-15, 17])
def test_other_grid_steps_are_refused(shift):
    with pytest.raises(ValueError, match="grid step"):
        in_steps(small(2, 16), small(1, 16), shift)
