"""Products of slopes and inputs, example by example, against the same in doubles, fractions and integers."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from functools import partial

import pytest
import torch

from discreet.learning.deep.accelerator import example_products
from discreet.learning.deep.accelerator.example_products import (
    MOST_EXAMPLES,
    add_products,
    look_up_squares_from_above,
    squares_from_above,
    write_products,
)
from discreet.learning.deep.accelerator.noisy_sums import LARGEST

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
shorten, shortened = (
    partial(does, may_share=False) for does in (example_products.shorten, example_products.shortened)
)
SHAPES = [(1, 2, 3, 5), (3, 16, 20, 9), (2, 65, 130, 7), (2, 130, 3, 140), (3, 300, 17, 8)]


def numbers(*shape, seed=1, scale=1.0, kind=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE, kind)


def doubles(*values):
    return torch.tensor(values, dtype=torch.float64, device=DEVICE)


def pair(examples, positions, rows, columns, *, scale=1.0, kind=torch.float32):
    return shorten(
        numbers(examples, positions, rows, scale=scale, kind=kind),
        numbers(examples, positions, columns, seed=2, kind=kind),
    )


def gradients(slopes, inputs):
    return torch.bmm(slopes.double().transpose(1, 2), inputs.double())


def added(slopes, inputs, coefficients, unit):
    total = torch.zeros(slopes.shape[2] * inputs.shape[2], dtype=torch.int64, device=DEVICE)
    add_products(total, slopes, inputs, coefficients, unit)
    return total


def largest_coefficients(slopes, inputs, unit):
    """Those with which the longest gradient is as long as it may be."""
    return 0.99 * 2.0 ** (22 + unit) / gradients(slopes, inputs).flatten(1).norm(dim=1)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("columns", [1, 8, 13])
def test_numbers_become_short_and_rows_begin_at_multiples_of_sixteen_bytes(kind, columns):
    slopes, inputs = numbers(2, 3, columns, kind=kind), numbers(2, 3, 4, kind=kind)
    short, other = shorten(slopes, inputs)
    expected = torch.float16 if kind == torch.float16 else torch.bfloat16
    assert short.dtype == other.dtype == expected
    assert torch.equal(short, slopes.to(expected))
    assert short.stride()[1] % 8 == other.stride()[1] % 8 == 0
    assert short.stride()[2] == 1


def test_numbers_that_are_short_already_are_copied_unless_they_may_be_shared():
    slopes, inputs = numbers(2, 3, 16, kind=torch.bfloat16), numbers(2, 3, 8, kind=torch.float16)
    assert example_products.shorten(slopes, inputs, may_share=True)[0] is slopes
    short, other = shorten(slopes, inputs)
    before = slopes.clone()
    slopes.zero_()
    assert torch.equal(short, before)
    assert other.dtype == torch.bfloat16


def test_numbers_in_another_layout_are_the_same():
    values = numbers(2, 16, 24, kind=torch.bfloat16).mT
    found = example_products.shortened(values, may_share=True)
    assert found.stride() == (24 * 16, 16, 1)
    assert torch.equal(found, values)


@pytest.mark.parametrize(("examples", "positions", "rows", "columns"), SHAPES)
@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_squares_are_those_of_gradients_and_hardly_more(examples, positions, rows, columns, kind):
    slopes, inputs = pair(examples, positions, rows, columns, kind=kind)
    exact = gradients(slopes, inputs).square().sum((1, 2))
    share = 2.0**-15
    mass = (slopes.double().norm(dim=2) * inputs.double().norm(dim=2)).sum(1)
    found = squares_from_above(slopes, inputs, share).sum(1)
    assert (found >= exact + share * mass.square() * (1 - 1e-5) - 1e-6 * mass.square()).all()
    lengths = slopes.double().norm(dim=2) * inputs.double().norm(dim=2)
    assert torch.allclose(found, exact + share * positions * lengths.square().sum(1), rtol=1e-5)


@pytest.mark.parametrize("positions", [1, 17, 130])
@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_squares_of_look_ups_have_all_pairs_that_read_the_same_row(positions, kind):
    slopes = shortened(numbers(3, positions, 13, kind=kind))
    index = torch.randint(0, 5, (3, positions), generator=torch.Generator().manual_seed(2)).to(DEVICE)
    table = torch.zeros(3, 5, 13, dtype=torch.float64, device=DEVICE)
    table.scatter_add_(1, index[:, :, None].expand(-1, -1, 13), slopes.double())
    squares = slopes.double().square().sum((1, 2))
    found = look_up_squares_from_above(slopes, index, 2.0**-10).sum(1)
    exact = table.square().sum((1, 2)) + 2.0**-10 * positions * squares
    assert torch.allclose(found, exact, rtol=1e-5)


def test_of_no_positions_there_is_nothing():
    slopes, inputs = torch.zeros(2, 0, 3, device=DEVICE), torch.zeros(2, 0, 4, device=DEVICE)
    assert squares_from_above(*shorten(slopes, inputs), 1.0).shape == (2, 0)
    assert not added(*shorten(slopes, inputs), doubles(1.0, 1.0), 0).any()


@pytest.mark.parametrize("scale", [1e-35, 1e-25, 1e-20])
def test_slopes_too_small_to_be_squared_do_not_pass_for_zeros(scale):
    """Floats below 2^-126 may be 0: inputs that are large make up for it."""
    slopes, inputs = shorten(numbers(2, 3, 40, scale=scale), numbers(2, 3, 30, scale=1e15))
    exact = gradients(slopes, inputs).square().sum((1, 2))
    assert (squares_from_above(slopes, inputs, 2.0**-15).sum(1) >= exact).all()


@pytest.mark.parametrize(("examples", "positions", "rows", "columns"), SHAPES)
@pytest.mark.parametrize("unit", [0, 8])
def test_sums_are_those_of_examples_rounded_one_by_one(examples, positions, rows, columns, unit):
    slopes, inputs = pair(examples, positions, rows, columns)
    coefficients = largest_coefficients(slopes, inputs, unit)
    alone = [
        added(slopes[place : place + 1], inputs[place : place + 1], coefficients[place : place + 1], unit)
        for place in range(examples)
    ]
    together = added(slopes, inputs, coefficients, unit)
    assert torch.equal(together, torch.stack(alone).sum(0))
    assert not (together % 2**unit).any()
    exact = gradients(slopes, inputs).flatten(1) * coefficients[:, None]
    mass = (slopes.double().norm(dim=2) * inputs.double().norm(dim=2)).sum(1) * coefficients
    for found, sought, most in zip(alone, exact, mass, strict=True):
        assert (found - sought).abs().max() <= 0.51 * 2**unit + 2.0**-17 * most + 2.0**-22 * sought.norm()


def test_integers_are_the_nearest_at_every_size():
    """Of one position with one input, against exact fractions."""
    values = torch.tensor([1.0, -1.0, 1.5, -1.5, 255.0, 2.0**20, -(2.0**22)])
    slopes, inputs = shorten(values.reshape(1, 1, -1).to(DEVICE), torch.ones(1, 1, 1, device=DEVICE))
    for factor in (1.0, 0.3, 1 / 3):
        found = added(slopes, inputs, doubles(factor), 0)
        for one, value in zip(found.tolist(), values.tolist(), strict=True):
            exact = Fraction(value) * Fraction(factor)
            assert abs(one - exact) <= Fraction(1, 2) + abs(exact) * Fraction(1, 2**21)


def test_an_example_without_a_coefficient_adds_nothing_whatever_it_holds():
    slopes, inputs = pair(3, 4, 5, 6)
    for odd in (torch.nan, torch.inf, 3e38):
        slopes[1, 2, 3] = inputs[1, 2, 3] = odd
        found = added(slopes, inputs, doubles(100.0, 0.0, 50.0), 0)
        assert torch.equal(found, added(slopes[::2], inputs[::2], doubles(100.0, 50.0), 0))


def test_many_examples_are_added_in_several_sums():
    count = MOST_EXAMPLES + 3
    ones = torch.ones(count, 1, 1, device=DEVICE)
    largest = 2.0**22 - 0.51
    found = added(*shorten(ones, ones), torch.full((count,), largest, device=DEVICE).double(), 0)
    each = added(*shorten(ones[:1], ones[:1]), doubles(largest), 0)
    assert found.tolist() == [count * each.item()]
    assert 2**22 - 3 <= each.item() < 2**22


@pytest.mark.parametrize(("unit", "shift"), [(8, 5), (8, 8), (8, 9), (8, 15), (0, 3)])
def test_what_is_written_is_the_sum_in_grid_steps(unit, shift):
    slopes, inputs = pair(3, 20, 9, 17)
    coefficients = largest_coefficients(slopes, inputs, unit)
    sums = added(slopes, inputs, coefficients, unit)
    steps = torch.full((9 * 17,), 77, dtype=torch.int32, device=DEVICE)
    write_products(steps, slopes, inputs, coefficients, unit, shift)
    assert torch.equal(steps.long(), ((sums + (1 << (shift - 1))) >> shift).clamp(-LARGEST, LARGEST))


def test_sums_in_grid_steps_are_cut_off_where_32_bits_end():
    ones = torch.ones(300, 1, 1, device=DEVICE)
    steps = torch.tensor([5], dtype=torch.int32, device=DEVICE)
    coefficients = torch.full((300,), 2.0**30, device=DEVICE).double()
    write_products(steps, *shorten(ones, ones), coefficients, 8, 5)
    assert steps.item() == LARGEST


def test_as_many_examples_as_fit_do_not_wrap():
    """Each as large as it may be: a sum of 32 bits that wraps would be far below 0."""
    ones = torch.ones(MOST_EXAMPLES, 1, 1, device=DEVICE)
    steps = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    coefficients = torch.full((MOST_EXAMPLES,), (2.0**22 - 0.51) * 2**8, device=DEVICE).double()
    write_products(steps, *shorten(ones, ones), coefficients, 8, 16)
    assert steps.item() == pytest.approx(2.0**23, rel=1e-5)


def test_more_examples_than_32_bits_hold_are_refused():
    ones = torch.ones(MOST_EXAMPLES + 1, 1, 1, device=DEVICE)
    steps = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    with pytest.raises(ValueError, match="more than 512"):
        write_products(steps, *shorten(ones, ones), ones[:, 0, 0].double(), 8, 5)


KERNELS = {
    "_gram_kernel": """
given = dict(slopes="tensordesc<bf16[1, 64, 128]>", inputs="tensordesc<bf16[1, 64, 128]>", out="*fp64")
given |= dict(positions="i32", rows="i32", columns="i32", share="fp32")
constants = {"operand": tl.bfloat16, "is_look_up": False, "tile": 64, "depth": 128}
""",
    "_product_kernel": """
given = dict.fromkeys(("slopes", "inputs"), "tensordesc<bf16[1, 128, 64]>")
given |= dict(coefficients="*fp64", target="*i64")
given |= dict.fromkeys(("examples", "each", "rows", "columns", "unit", "shift"), "i32")
given |= dict(smaller="fp32")
constants = {"operand": tl.bfloat16, "blocks": 2, "tile_rows": 64, "tile_columns": 64, "depth": 128}
constants |= {"together": 8}
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_products_of_floats_are_summed_in_blocks(kernel):
    """Compiled, for an accelerator that need not be there: blocks are added by an addition of their own."""
    program = f"""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from discreet.learning.deep.accelerator.example_products import {kernel} as quick
{KERNELS[kernel]}
signature = {{**given, **dict.fromkeys(constants, "constexpr")}}
source = ASTSource(fn=quick.kernel, signature=signature, constexprs=constants)
made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={{"num_warps": 4}})
lines = made.asm["ttir"].splitlines()
assert any("tt.dot" in line and "bf16" in line for line in lines)
assert any("arith.addf" in line and "64x64xf32" in line for line in lines)
"""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
