"""Slopes and inputs as short numbers, and what is measured of them, against the same in doubles."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from discreet.learning.deep.accelerator.measuring_kernels import (
    gram_products,
    keep_slopes,
    round_inputs,
    summarize,
)

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


@pytest.mark.parametrize("positions", [1, 3, 130])
def test_examples_are_summarized(positions):
    count = 2 * positions
    slopes, slope_unit, largest, slope_squares = keep_slopes(numbers(count, 5))
    inputs, input_unit, input_squares = round_inputs(numbers(count, 7, seed=2, scale=100.0))
    given = (slope_squares, slope_unit, largest, input_squares, input_unit)
    mass, share, reach, limit = summarize(*given, 2, share=0.5, step=3.0, most=7.0)
    lengths = inputs[:, :count].double().norm(dim=0)
    each = (slopes.double() * slope_unit[:, None]).norm(dim=1) * lengths * input_unit
    most = largest.double() * slope_unit * input_unit
    assert torch.allclose(mass, each.reshape(2, -1).sum(1), rtol=1e-14)
    assert torch.allclose(share, 0.5 * mass.square(), rtol=1e-14)
    assert torch.allclose(reach, 3 * lengths.reshape(2, -1).sum(1), rtol=1e-14)
    assert torch.allclose(limit, 7 / most.reshape(2, -1).amax(1), rtol=1e-14)


def test_without_slopes_the_largest_coefficient_is_finite():
    zeros = torch.zeros(1, 3, device=DEVICE)
    slopes, inputs = keep_slopes(zeros), round_inputs(zeros)
    given = (slopes[3], slopes[1], slopes[2], inputs[2], inputs[1])
    assert summarize(*given, 1, share=1.0, step=1.0, most=1.0)[3].tolist() == [2.0**100]


@pytest.mark.parametrize(
    ("positions", "rows", "columns"), [(3, 5, 4), (65, 66, 7), (200, 3, 2), (2, 300, 200)]
)
def test_products_of_gram_matrices(positions, rows, columns):
    examples = 2
    count = examples * positions
    slopes, slope_unit, *_ = keep_slopes(numbers(count, rows))
    inputs, input_unit, _ = round_inputs(
        numbers(count, columns, seed=2) * numbers(count, 1, seed=3, scale=30.0)
    )
    found = gram_products(slopes, slope_unit, inputs, input_unit, examples).sum(1)
    each = torch.einsum(
        "etr,etc->erc",
        (slopes.double() * slope_unit[:, None]).reshape(examples, positions, rows),
        (inputs[:, :count].double() * input_unit).T.reshape(examples, positions, columns),
    )
    assert torch.allclose(found, each.square().sum((1, 2)), rtol=1e-5)


@pytest.mark.slow
def test_gram_products_are_summed_in_blocks():
    """Compiled, for an accelerator that need not be there: blocks are added by an addition of their own."""
    program = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from discreet.learning.deep.accelerator.measuring_kernels import _gram_kernel as kernel
pointers = dict(slopes="*fp16", slope_unit="*fp32", inputs="*i8", input_unit="*fp32", out="*fp64")
sizes = dict.fromkeys(("positions", "rows", "columns", "places"), "i32")
signature = {**pointers, **sizes, "tile": "constexpr", "depth": "constexpr"}
source = ASTSource(fn=kernel, signature=signature, constexprs={"tile": 64, "depth": 128})
made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
lines = made.asm["ttir"].splitlines()
assert any("tt.dot" in line and "f16" in line for line in lines)
assert any("arith.addf" in line and "64x64xf32" in line for line in lines)
"""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
