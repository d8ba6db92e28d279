"""Kernels of an accelerator: gradients are read once, rounded to integers, measured and added up.

All rounding is done here, example by example; what follows are sums of integers. Matrices of 8-bit integers
are written with examples along the contiguous axis, as the accelerator's products of such matrices need them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = [
    "add_parts",
    "describe_rows",
    "exact_product",
    "gram_products",
    "round_inputs",
    "round_slopes",
]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)  # added and taken away, it rounds doubles below 2^51 to integers
_TO_INTEGER_32 = tl.constexpr(1.5 * 2.0**23)  # the same for floats below 2^22
_TILE, _DEPTH = 64, 64


def describe_rows(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest absolute value of each row and the sum of its squares, in doubles."""
    rows, columns = values.shape
    largest = torch.empty(rows, dtype=torch.float32, device=values.device)
    squares = torch.empty(rows, dtype=torch.float64, device=values.device)
    _describe_kernel[(rows,)](values, largest, squares, columns, *values.stride(), width=1024)
    return largest, squares


def round_inputs(values: Tensor, unit: Tensor, places: int) -> tuple[Tensor, Tensor]:
    """Return rows over their unit as integers up to 127, (columns, places), and the sums of their squares.

    Parameters
    ----------
    values : tensor (rows, columns)
    unit : tensor (rows,)
        Powers of two; a row whose unit is infinite becomes zeros.
    places : int
        At least as many as rows: what is beyond them is 0.
    """
    rows, columns = values.shape
    out = torch.empty(columns, places, dtype=torch.int8, device=values.device)
    squares = torch.zeros(places, dtype=torch.int64, device=values.device)
    grid = (triton.cdiv(places, _TILE), triton.cdiv(columns, _DEPTH))
    _input_kernel[grid](
        values, unit, out, squares, rows, columns, places, *values.stride(), tile=_TILE, depth=_DEPTH
    )
    return out, squares[:rows]


def round_slopes(values: Tensor, factors: Tensor, places: int) -> Tensor:
    """Return rows times their factor as integers of 24 bits, in three parts: (3 columns, places).

    The parts count 2^16, 2^8 and 1; the last two are from -128 to 127. Factors are doubles, and products at
    most 8,300,000.
    """
    rows, columns = values.shape
    out = torch.empty(3 * columns, places, dtype=torch.int8, device=values.device)
    grid = (triton.cdiv(places, _TILE), triton.cdiv(columns, _DEPTH))
    _slope_kernel[grid](
        values, factors, out, rows, columns, places, *values.stride(), tile=_TILE, depth=_DEPTH
    )
    return out


def exact_product(left: Tensor, right: Tensor) -> Tensor:
    """Return left right^T of 8-bit integers as 32-bit ones; both have as many columns, at most 2^16."""
    if left.is_cuda and right.shape[0] % 8 == 0 and left.shape[0] > 16:
        return torch._int_mm(left.contiguous(), right.contiguous().T)
    return (left.double() @ right.double().T).to(torch.int32)


def add_parts(total: Tensor, product: Tensor, shift: int) -> None:
    """Add 2^shift times the sum of 2^16, 2^8 and 1 times the three parts of a product's rows to a total."""
    count = total.numel()
    _add_kernel[(triton.cdiv(count, 1024),)](total, product, shift, count, width=1024)


def gram_products(slopes: Tensor, unit: Tensor, inputs: Tensor, examples: int) -> Tensor:
    """Return, for each example, the sum over pairs of positions of two inner products, multiplied.

    Parameters
    ----------
    slopes : tensor (examples times positions, rows)
        Multiplied by their unit first. Inner products are summed in blocks of 64, and then over blocks.
    unit : tensor (examples times positions,)
    inputs : tensor of int8 (columns, at least as many places)
        Inner products are exact.
    examples : int
    """
    positions = len(slopes) // examples
    tiles = triton.cdiv(positions, _TILE)
    pairs = tiles * (tiles + 1) // 2  # of which the second is not before the first
    out = torch.empty(examples, pairs, dtype=torch.float64, device=slopes.device)
    _gram_kernel[(examples, pairs)](
        slopes,
        unit,
        inputs,
        out,
        positions,
        slopes.shape[1],
        inputs.shape[0],
        inputs.shape[1],
        *slopes.stride(),
        tile=_TILE,
        depth=_DEPTH,
    )
    return out.sum(1)


@triton.jit
def _describe_kernel(values, largest, squares, columns, by_row, by_column, width: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    most = tl.zeros((width,), tl.float32)
    total = tl.zeros((width,), tl.float64)
    for start in range(0, columns, width):
        column = start + tl.arange(0, width)
        place = values + row * by_row + column.to(tl.int64) * by_column
        value = tl.load(place, mask=column < columns, other=0.0).to(tl.float32)
        size = tl.abs(value)
        most = tl.where(size < float("inf"), tl.maximum(most, size), float("inf"))  # not a number, too
        total += value.to(tl.float64) * value.to(tl.float64)
    tl.store(largest + row, tl.max(most))
    tl.store(squares + row, tl.sum(total))


@triton.jit
def _input_kernel(
    values,
    unit,
    out,
    squares,
    rows,
    columns,
    places,
    by_row,
    by_column,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    row = tl.program_id(0) * tile + tl.arange(0, tile)
    column = tl.program_id(1) * depth + tl.arange(0, depth)
    scale = tl.load(unit + row, mask=row < rows, other=float("inf"))
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    place = values + row.to(tl.int64)[:, None] * by_row + column.to(tl.int64)[None, :] * by_column
    value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    known = inside & (scale < float("inf"))[:, None]
    value = tl.where(known, value / tl.where(scale < float("inf"), scale, 1.0)[:, None], 0.0)
    whole = (value + _TO_INTEGER_32) - _TO_INTEGER_32
    whole = tl.minimum(tl.maximum(whole, -127.0), 127.0)
    kept = whole.to(tl.int32)
    tl.atomic_add(squares + row, tl.sum(kept * kept, 1).to(tl.int64), mask=row < places)
    target = out + column.to(tl.int64)[:, None] * places + row.to(tl.int64)[None, :]
    inside_target = (column < columns)[:, None] & (row < places)[None, :]
    tl.store(target, tl.trans(kept).to(tl.int8), mask=inside_target)


@triton.jit
def _slope_kernel(
    values, factors, out, rows, columns, places, by_row, by_column, tile: tl.constexpr, depth: tl.constexpr
):
    row = tl.program_id(0) * tile + tl.arange(0, tile)
    column = tl.program_id(1) * depth + tl.arange(0, depth)
    factor = tl.load(factors + row, mask=row < rows, other=0.0)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    place = values + row.to(tl.int64)[:, None] * by_row + column.to(tl.int64)[None, :] * by_column
    value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    exact = tl.where((factor == 0)[:, None], 0.0, value.to(tl.float64) * factor[:, None])
    whole = tl.trans(((exact + _TO_INTEGER) - _TO_INTEGER).to(tl.int32))
    middle = (whole + 128) >> 8
    high = (middle + 128) >> 8
    start = column.to(tl.int64)
    place = out + row.to(tl.int64)[None, :]
    inside_target = (column < columns)[:, None] & (row < places)[None, :]
    tl.store(place + start[:, None] * places, high.to(tl.int8), mask=inside_target)
    start += columns
    tl.store(place + start[:, None] * places, (middle - (high << 8)).to(tl.int8), mask=inside_target)
    start += columns
    tl.store(place + start[:, None] * places, (whole - (middle << 8)).to(tl.int8), mask=inside_target)


@triton.jit
def _add_kernel(total, product, shift, count, width: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, width)
    inside = place < count
    high = tl.load(product + place, mask=inside, other=0).to(tl.int64)
    middle = tl.load(product + (place + count), mask=inside, other=0).to(tl.int64)
    low = tl.load(product + (place + 2 * count), mask=inside, other=0).to(tl.int64)
    held = tl.load(total + place, mask=inside, other=0)
    tl.store(total + place, held + (((((high << 8) + middle) << 8) + low) << shift), mask=inside)


@triton.jit
def _gram_kernel(
    slopes,
    unit,
    inputs,
    out,
    positions,
    rows,
    columns,
    places,
    by_row,
    by_column,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    example = tl.program_id(0).to(tl.int64)
    second = ((tl.sqrt(8.0 * tl.program_id(1).to(tl.float32) + 1.0) - 1.0) / 2.0).to(tl.int32)
    second = tl.where(second * (second + 1) // 2 > tl.program_id(1), second - 1, second)
    second = tl.where((second + 1) * (second + 2) // 2 <= tl.program_id(1), second + 1, second)
    first = tl.program_id(1) - second * (second + 1) // 2
    one = first * tile + tl.arange(0, tile)
    other = second * tile + tl.arange(0, tile)
    here, there = example * positions + one, example * positions + other
    has_one, has_other = one < positions, other < positions
    exact = tl.zeros((tile, tile), tl.int32)
    for start in range(0, columns, depth):
        column = start + tl.arange(0, depth)
        inside = column < columns
        row = column.to(tl.int64)[:, None] * places
        left = tl.load(inputs + row + here[None, :], mask=inside[:, None] & has_one[None, :], other=0)
        right = tl.load(inputs + row + there[None, :], mask=inside[:, None] & has_other[None, :], other=0)
        exact = tl.dot(tl.trans(left), right, exact, out_dtype=tl.int32)
    scale_one = tl.load(unit + here, mask=has_one, other=0.0)
    scale_other = tl.load(unit + there, mask=has_other, other=0.0)
    found = tl.zeros((tile, tile), tl.float32)
    for start in range(0, rows, depth):
        column = start + tl.arange(0, depth)
        inside = column < rows
        by = column.to(tl.int64)[None, :] * by_column
        left = tl.load(
            slopes + here[:, None] * by_row + by, mask=has_one[:, None] & inside[None, :], other=0.0
        )
        right = tl.load(
            slopes + there[:, None] * by_row + by, mask=has_other[:, None] & inside[None, :], other=0.0
        )
        left, right = left.to(tl.float32) * scale_one[:, None], right.to(tl.float32) * scale_other[:, None]
        found += tl.dot(left, tl.trans(right), input_precision="tf32x3")
    total = tl.sum(tl.sum(exact.to(tl.float64) * found.to(tl.float64), 1), 0)
    place = out + example * tl.num_programs(1) + tl.program_id(1)
    tl.store(place, tl.where(first == second, total, 2 * total))
