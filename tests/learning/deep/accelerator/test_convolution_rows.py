"""Rows of convolutions against gradients of examples that are run alone, in doubles."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from discreet.learning.deep.accelerator.convolution_rows import (
    Geometry,
    Tiles,
    convolution_rows,
    fits,
    rows_by_tiles,
)
from effort import examples

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PRODUCTS = 2.0**-9 if DEVICE.type == "cuda" else 2.0**-20
"""What products of 32-bit numbers may be off by, in units of the sum of absolute values."""
LAYOUTS = ["channels first", "channels last", "every other", "examples last"]
THREE = Geometry((3, 3), (1, 1), (1, 1), (1, 1))


def laid_out(values, layout):
    """The same numbers in another order in memory."""
    if layout == "channels last":
        return values.contiguous(memory_format=torch.channels_last)
    if layout == "every other":
        return values.repeat_interleave(2, 3)[:, :, :, ::2]
    if layout == "examples last":
        return values.permute(3, 1, 2, 0).contiguous().permute(3, 1, 2, 0)
    return values


def numbers(geometry, channels, outputs, sizes, *, many=3):
    """Inputs, and slopes in the shape of the output."""
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(many, channels, *sizes, generator=generator)
    weight = torch.zeros(outputs, channels, *geometry.kernel)
    shape = functional.conv2d(inputs, weight, None, *geometry[1:]).shape
    return inputs.to(DEVICE), torch.randn(shape, generator=generator).to(DEVICE)


def exact_rows(inputs, slopes, geometry):
    """The gradient of each example's weight, by automatic differentiation, with taps before channels."""

    def paired(weight, one, slope):
        return (functional.conv2d(one[None], weight, None, *geometry[1:])[0] * slope).sum()

    weight = torch.zeros(slopes.shape[1], inputs.shape[1], *geometry.kernel, device=DEVICE).double()
    each = torch.func.vmap(torch.func.grad(paired), (None, 0, 0))(weight, inputs.double(), slopes.double())
    return each.permute(0, 1, 3, 4, 2).flatten(2, 3)


def assert_near(rows, inputs, slopes, geometry, products):
    expected = exact_rows(inputs, slopes, geometry)
    size = exact_rows(inputs.abs(), slopes.abs(), geometry)
    assert rows.dtype == torch.bfloat16
    assert ((rows.double() - expected).abs() <= 2.0**-7 * expected.abs() + products * size).all()


def assert_measured(rows, squares):
    """From above, by little."""
    for row, found in zip(rows.double().flatten(1).tolist(), squares.tolist(), strict=True):
        exact = sum(Fraction(value) ** 2 for value in row)
        assert (
            exact
            <= sum(Fraction(part) for part in found)
            <= exact * (1 + Fraction(1, 2**14)) + Fraction(1, 2**90)
        )


@given(
    geometry=st.builds(
        Geometry,
        st.tuples(st.integers(1, 4), st.integers(1, 4)),
        st.tuples(st.integers(1, 3), st.integers(1, 3)),
        st.tuples(st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.integers(1, 2), st.integers(1, 2)),
    ),
    sizes=st.tuples(st.integers(7, 9), st.integers(7, 9)),
    matrix=st.tuples(st.sampled_from([1, 2, 7, 8, 17]), st.sampled_from([1, 3, 16, 20])),
    layouts=st.tuples(st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS)),
    kinds=st.tuples(*[st.sampled_from([torch.float32, torch.bfloat16, torch.float16])] * 2),
)
@settings(max_examples=examples(60), deadline=None)
def test_rows_are_those_of_examples_alone(geometry, sizes, matrix, layouts, kinds):
    inputs, slopes = numbers(geometry, *matrix, sizes)
    inputs, slopes = inputs.to(kinds[0]), slopes.to(kinds[1])
    given, seen = laid_out(inputs, layouts[0]), laid_out(slopes, layouts[1])
    rows, squares, sums = convolution_rows(given, seen, geometry)
    is_short = torch.bfloat16 in kinds or layouts[0] == "channels last"
    assert_near(rows, inputs, slopes, geometry, 2.0**-6 if is_short else PRODUCTS)
    assert_measured(rows, squares)
    assert torch.allclose(sums.double(), slopes.double().sum((2, 3)), atol=1e-4)


@pytest.mark.parametrize("in_three", [True, False])
@pytest.mark.parametrize("tiles", [(16, 16, 16), (16, 32, 64), (32, 128, 32)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2)])
def test_tiles_do_not_matter(in_three, tiles, stride):
    """Several tiles of outputs, channels and positions, of which the last are not full."""
    geometry = THREE._replace(stride=stride)
    inputs, slopes = numbers(geometry, 20, 19, (5, 7), many=2)
    rows, squares, sums = rows_by_tiles(
        inputs,
        slopes,
        geometry,
        in_three=in_three,
        product=torch.float32,
        tiles=Tiles(*tiles, warps=4, stages=2),
    )
    assert_near(rows, inputs, slopes, geometry, PRODUCTS)
    assert_measured(rows, squares)
    assert torch.allclose(sums.double(), slopes.double().sum((2, 3)), atol=1e-4)


@pytest.mark.parametrize("channels", [2, 20])
def test_other_examples_do_not_change_a_bit_of_an_example(channels):
    inputs, slopes = numbers(THREE, channels, 5, (6, 7), many=4)
    rows, squares, sums = convolution_rows(inputs, slopes, THREE)
    others, steeper = inputs * 100, slopes.flip(0)
    others[2], steeper[2] = inputs[1], slopes[1]
    again, again_squares, again_sums = convolution_rows(others, steeper, THREE)
    assert torch.equal(rows[1], again[2])
    assert torch.equal(squares[1], again_squares[2])
    assert torch.equal(sums[1], again_sums[2])


@pytest.mark.parametrize("channels", [2, 20])
@pytest.mark.parametrize("odd", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("side", ["inputs", "slopes"])
def test_what_is_not_finite_stays_with_its_example(channels, odd, side):
    inputs, slopes = numbers(THREE, channels, 5, (6, 7))
    rows, squares, sums = convolution_rows(inputs, slopes, THREE)
    (inputs if side == "inputs" else slopes)[1, 1, 3, 3] = odd
    again, again_squares, again_sums = convolution_rows(inputs, slopes, THREE)
    assert torch.equal(rows[::2], again[::2])
    assert torch.equal(squares[::2], again_squares[::2])
    assert torch.equal(sums[::2], again_sums[::2])
    assert not again_squares[1].sum().isfinite()


@pytest.mark.parametrize("channels", [2, 20])
def test_what_no_tap_reads_does_not_matter(channels):
    """Of eight rows and columns, steps of three reach six; the next tile of positions would reach further."""
    geometry = Geometry((3, 3), (3, 3), (0, 0), (1, 1))
    inputs, slopes = numbers(geometry, channels, 5, (8, 8))
    rows, squares, _ = convolution_rows(inputs, slopes, geometry)
    inputs[:, :, 6:], inputs[:, :, :, 6:] = torch.nan, torch.inf
    again, again_squares, _ = convolution_rows(inputs, slopes, geometry)
    assert torch.equal(rows, again)
    assert torch.equal(squares, again_squares)


@pytest.mark.parametrize("exponent", [-140, -75, -63, -40, 54])
def test_squares_of_any_size_are_from_above(exponent):
    """Squares below 2^-126 may be 0, and the bound has room for all of them."""
    inputs, slopes = numbers(THREE, 9, 4, (5, 5))
    rows, squares, _ = convolution_rows(
        inputs * 2.0 ** (exponent // 2), slopes * 2.0 ** (exponent // 2), THREE
    )
    assert_measured(rows, squares)


def test_numbers_that_are_too_large_to_be_measured_have_no_finite_square():
    inputs, slopes = numbers(THREE, 9, 4, (5, 5))
    inputs[1] *= 2.0**70
    _, squares, _ = convolution_rows(inputs, slopes, THREE)
    assert squares.sum(1).isfinite().tolist() == [True, False, True]


def test_what_fits():
    few = torch.zeros(2, 3, 4, 4)
    assert fits(few, few)
    assert fits(few.half(), few.bfloat16())
    assert not fits(few.double(), few)
    assert not fits(few, few.double())
    far = torch.empty_strided((2, 3, 4, 4), (1, 2**30, 4, 1), device="meta")
    assert not fits(far, few)
    assert not fits(few, far)
    assert fits(torch.empty_strided((2, 3, 4, 4), (2**40, 2**20, 4, 1), device="meta"), few)
