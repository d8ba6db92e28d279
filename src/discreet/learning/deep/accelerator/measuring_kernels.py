"""Slopes and inputs of one position for each example, rounded to short numbers and measured.

Matrices of 8-bit integers are written with examples along the contiguous axis, as the accelerator's products
of such matrices need them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["keep_slopes", "round_inputs", "summarize"]

_TO_INTEGER_32 = tl.constexpr(1.5 * 2.0**23)  # added and taken away, it rounds floats below 2^22 to integers
_TOO_LARGE = tl.constexpr(2.0**100)
_INFINITE = tl.constexpr(float("inf"))
_SMALLEST = tl.constexpr(2.0**-100)  # of what is divided by
# Shapes of tiles, and how many threads share one, by time measured.
_TILE, _DEPTH, _WIDTH = 64, 128, 1024
_ROWS = 1  # that a program reads
_EXAMPLES = 128  # that a program summarizes


def round_inputs(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows as integers up to 127 times a power of two for each row.

    Returns
    -------
    tensor of int8 (columns, places)
        The integers: as many places as rows, and zeros up to a multiple of 16.
    tensor (rows,)
        The powers of two: the largest entry is 64 times it at least, where it is not too small. Infinite for
        a row that holds what is not a number, or 2^100 or more: its integers are zeros.
    tensor of int32 (rows,)
        The sums of squares of the integers: of up to 2^17 columns they fit.
    """
    rows, columns = values.shape
    places = block_count(16, rows) * 16
    out = torch.empty(columns, places, dtype=torch.int8, device=values.device)
    unit = torch.empty(rows, dtype=torch.float32, device=values.device)
    squares = torch.empty(rows, dtype=torch.int32, device=values.device)
    given = (values, unit, squares, rows, columns, *values.stride())
    _unit_kernel[(block_count(_ROWS, rows),)](*given, height=_ROWS, width=_WIDTH)
    grid = (block_count(_TILE, places), block_count(_DEPTH, columns))
    given = (values, unit, squares, out, rows, columns, places, *values.stride())
    _input_kernel[grid](*given, tile=_TILE, depth=_DEPTH)
    return out, unit, squares


def keep_slopes(values: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return rows as floats of 16 bits times a power of two for each row.

    Returns
    -------
    tensor of float16 (rows, columns)
        Up to 2^15. Zeros for a row that holds what is not a number, or 2^100 or more.
    tensor (rows,)
        The powers of two.
    tensor, tensor of float64 (rows,)
        The largest absolute values of the 16-bit floats, and the sums of their squares: infinite for such
        a row.
    """
    rows, columns = values.shape
    device = values.device
    out = torch.empty(rows, columns, dtype=torch.float16, device=device)
    unit, largest = torch.empty(rows, device=device), torch.empty(rows, device=device)
    squares = torch.empty(rows, dtype=torch.float64, device=device)
    grid, given = (block_count(_ROWS, rows),), (values, out, unit, largest, squares, rows, columns)
    _keep_kernel[grid](*given, *values.stride(), height=_ROWS, width=_WIDTH)
    return out, unit, largest, squares


def summarize(
    slope_squares: Tensor,
    slope_unit: Tensor,
    slope_largest: Tensor,
    input_squares: Tensor,
    input_unit: Tensor,
    *,
    step: float,
    most: float,
) -> Tensor:
    """Return four numbers for each example, in doubles: (4, examples).

    They are the product of the norms of slopes and inputs; its square; `step` times the norm of the inputs'
    integers; and `most` over the largest absolute value of slopes, times the units of slopes and inputs.
    """
    examples = len(slope_unit)
    out = torch.empty(4, examples, dtype=torch.float64, device=slope_unit.device)
    given = (slope_squares, slope_unit, slope_largest, input_squares, input_unit)
    _summary_kernel[(block_count(_EXAMPLES, examples),)](*given, out, examples, step, most, width=_EXAMPLES)
    return out


@triton.jit
def _power(largest, places: tl.constexpr):
    """Return 2^k and 2^-k for the k with 2^(k + places - 1) <= largest < 2^(k + places), within bounds."""
    exponent = (largest.to(tl.int32, bitcast=True) >> 23) - 126
    exponent = tl.minimum(tl.maximum(exponent, -100), 100) - places
    power = ((exponent + 127) << 23).to(tl.float32, bitcast=True)
    inverse = ((127 - exponent) << 23).to(tl.float32, bitcast=True)
    return power, inverse


@triton.jit
def _larger(most, value):
    """Return the larger absolute value; infinite if one of them is not a number."""
    size = tl.abs(value)
    return tl.where(size < _INFINITE, tl.maximum(most, size), _INFINITE)


@triton.jit
def _rounded(value, inverse):
    """Return the integers up to 127 nearest to a power of two times values."""
    whole = (value * inverse + _TO_INTEGER_32) - _TO_INTEGER_32
    return tl.minimum(tl.maximum(whole, -127.0), 127.0).to(tl.int32)


@triton.jit
def _sizes(values, row, inside, columns, by_row, by_column, height: tl.constexpr, width: tl.constexpr):
    """Return the largest absolute value of each row."""
    most = tl.zeros((height, width), tl.float32)
    for start in range(0, columns, width):
        column = start + tl.arange(0, width)
        place = values + row[:, None] * by_row + column.to(tl.int64)[None, :] * by_column
        value = tl.load(place, mask=inside[:, None] & (column < columns)[None, :], other=0.0)
        most = _larger(most, value.to(tl.float32))
    return tl.max(most, 1)


@launched_quickly
@triton.jit
def _unit_kernel(
    values, unit, squares, rows, columns, by_row, by_column, height: tl.constexpr, width: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    inside = row < rows
    largest = _sizes(values, row, inside, columns, by_row, by_column, height, width)
    power, _ = _power(largest, 7)
    tl.store(unit + row, tl.where(largest < _TOO_LARGE, power, _INFINITE), mask=inside)
    tl.store(squares + row, tl.zeros((height,), tl.int32), mask=inside)


@launched_quickly
@triton.jit
def _input_kernel(
    values,
    unit,
    squares,
    out,
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
    power = tl.load(unit + row, mask=row < rows, other=1.0)
    known = power < _INFINITE
    inverse = (0x7F000000 - power.to(tl.int32, bitcast=True)).to(tl.float32, bitcast=True)  # of 2^k: 2^-k
    inside = (known & (row < rows))[:, None] & (column < columns)[None, :]
    place = values + row.to(tl.int64)[:, None] * by_row + column.to(tl.int64)[None, :] * by_column
    value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    kept = _rounded(value, tl.where(known, inverse, 0.0)[:, None])
    tl.atomic_add(squares + row, tl.sum(kept * kept, 1), mask=row < rows)
    target = out + column.to(tl.int64)[:, None] * places + row.to(tl.int64)[None, :]
    tl.store(target, tl.trans(kept.to(tl.int8)), mask=(column < columns)[:, None] & (row < places)[None, :])


@launched_quickly
@triton.jit
def _keep_kernel(
    values,
    out,
    unit,
    largest,
    squares,
    rows,
    columns,
    by_row,
    by_column,
    height: tl.constexpr,
    width: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * height + tl.arange(0, height)
    inside_row = row < rows
    size = _sizes(values, row, inside_row, columns, by_row, by_column, height, width)
    known = size < _TOO_LARGE
    power, inverse = _power(size, 15)
    most = tl.zeros((height, width), tl.float32)
    total = tl.zeros((height, width), tl.float64)
    for start in range(0, columns, width):
        column = start + tl.arange(0, width)
        place = values + row[:, None] * by_row + column.to(tl.int64)[None, :] * by_column
        inside = inside_row[:, None] & (column < columns)[None, :]
        value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
        kept = tl.where(known[:, None], value * inverse[:, None], 0.0).to(tl.float16)
        tl.store(out + row[:, None] * columns + column[None, :], kept, mask=inside)
        exact = kept.to(tl.float32)
        most = tl.maximum(most, tl.abs(exact))
        total += exact.to(tl.float64) * exact.to(tl.float64)
    tl.store(unit + row, tl.where(known, power, 1.0), mask=inside_row)
    tl.store(largest + row, tl.where(known, tl.max(most, 1), _INFINITE), mask=inside_row)
    tl.store(squares + row, tl.where(known, tl.sum(total, 1), _INFINITE), mask=inside_row)


@launched_quickly
@triton.jit
def _summary_kernel(
    slope_squares,
    slope_unit,
    slope_largest,
    input_squares,
    input_unit,
    out,
    examples,
    step,
    most,
    width: tl.constexpr,
):
    place = tl.program_id(0) * width + tl.arange(0, width)
    inside = place < examples
    unit = tl.load(slope_unit + place, mask=inside, other=0.0).to(tl.float64)
    unit *= tl.load(input_unit + place, mask=inside, other=0.0).to(tl.float64)
    length = tl.sqrt(tl.load(input_squares + place, mask=inside, other=0).to(tl.float64))
    norm = tl.sqrt(tl.load(slope_squares + place, mask=inside, other=0.0)) * length * unit
    largest = tl.load(slope_largest + place, mask=inside, other=0.0).to(tl.float64) * unit
    largest = tl.where(largest < _INFINITE, tl.maximum(largest, _SMALLEST), _INFINITE)
    tl.store(out + place, norm, mask=inside)
    tl.store(out + examples + place, norm * norm, mask=inside)
    tl.store(out + 2 * examples + place, length * step, mask=inside)
    tl.store(out + 3 * examples + place, most / largest, mask=inside)
