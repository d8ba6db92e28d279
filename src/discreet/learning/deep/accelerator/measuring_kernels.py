"""Kernels of an accelerator that round slopes and inputs to short numbers, and measure their products.

Matrices of 8-bit integers are written with examples along the contiguous axis, as the accelerator's products
of such matrices need them.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["gram_products", "keep_slopes", "round_inputs", "summarize"]

_TO_INTEGER_32 = tl.constexpr(1.5 * 2.0**23)  # added and taken away, it rounds floats below 2^22 to integers
_TOO_LARGE = tl.constexpr(2.0**100)
_INFINITE = tl.constexpr(float("inf"))
_SMALLEST = tl.constexpr(2.0**-100)  # of what is divided by
# Shapes of tiles, and how many threads share one, by time measured.
_TILE, _DEPTH, _WIDTH = 64, 128, 1024
_ROWS = 2  # that a program reads, each by threads that run together
_GRAM_TILE, _GRAM_DEPTH, _GRAM_WARPS = 64, 128, 4


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
    places = triton.cdiv(rows, 16) * 16
    out = torch.empty(columns, places, dtype=torch.int8, device=values.device)
    unit = torch.empty(rows, dtype=torch.float32, device=values.device)
    squares = torch.empty(rows, dtype=torch.int32, device=values.device)
    given = (values, unit, squares, rows, columns, *values.stride())
    _unit_kernel[(triton.cdiv(rows, _ROWS),)](*given, height=_ROWS, width=_WIDTH)
    grid = (triton.cdiv(places, _TILE), triton.cdiv(columns, _DEPTH))
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
    grid, given = (triton.cdiv(rows, _ROWS),), (values, out, unit, largest, squares, rows, columns)
    _keep_kernel[grid](*given, *values.stride(), height=_ROWS, width=_WIDTH)
    return out, unit, largest, squares


def summarize(
    slope_squares: Tensor,
    slope_unit: Tensor,
    slope_largest: Tensor,
    input_squares: Tensor,
    input_unit: Tensor,
    examples: int,
    *,
    share: float,
    step: float,
    most: float,
) -> Tensor:
    """Return four numbers for each example, in doubles: (4, examples).

    They are the mass, which is the sum over positions of the products of the norms of slopes and inputs;
    `share` times its square; `step` times the sum of the norms of the inputs' integers; and `most` over the
    largest absolute value of slopes, times the units of slopes and inputs.
    """
    out = torch.empty(4, examples, dtype=torch.float64, device=slope_unit.device)
    positions = len(slope_unit) // examples
    given = (slope_squares, slope_unit, slope_largest, input_squares, input_unit)
    _summary_kernel[(examples,)](*given, out, positions, share, step, most, width=128)
    return out


def gram_products(
    slopes: Tensor, slope_unit: Tensor, inputs: Tensor, input_unit: Tensor, examples: int
) -> Tensor:
    """Return parts of the squared norm of the sum over positions of slopes times inputs: (examples, parts).

    A part is the sum over some pairs of positions of two inner products, multiplied.

    Parameters
    ----------
    slopes : tensor of float16 (examples times positions, rows)
        Inner products are summed in blocks of 128, and then over blocks.
    inputs : tensor of int8 (columns, at least as many places)
        Inner products are exact.
    slope_unit, input_unit : tensors (examples times positions,)
        What they are multiplied by.
    examples : int
    """
    positions = len(slopes) // examples
    tiles = triton.cdiv(positions, _GRAM_TILE)
    pairs = tiles * (tiles + 1) // 2  # of which the second is not before the first
    out = torch.empty(examples, pairs, dtype=torch.float64, device=slopes.device)
    _gram_kernel[(examples, pairs)](
        slopes,
        slope_unit,
        inputs,
        input_unit,
        out,
        positions,
        slopes.shape[1],
        inputs.shape[0],
        inputs.shape[1],
        tile=_GRAM_TILE,
        depth=_GRAM_DEPTH,
        num_warps=_GRAM_WARPS,
    )
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


@triton.jit
def _summary_kernel(
    slope_squares,
    slope_unit,
    slope_largest,
    input_squares,
    input_unit,
    out,
    positions,
    share,
    step,
    most,
    width: tl.constexpr,
):
    example = tl.program_id(0)
    mass = tl.zeros((width,), tl.float64)
    reach = tl.zeros((width,), tl.float64)
    largest = tl.zeros((width,), tl.float64)
    for start in range(0, positions, width):
        position = start + tl.arange(0, width)
        inside = position < positions
        place = example.to(tl.int64) * positions + position
        unit = _both(slope_unit, input_unit, place, inside)
        length = tl.sqrt(tl.load(input_squares + place, mask=inside, other=0).to(tl.float64))
        mass += tl.sqrt(tl.load(slope_squares + place, mask=inside, other=0.0)) * length * unit
        reach += length
        size = tl.load(slope_largest + place, mask=inside, other=0.0).to(tl.float64) * unit
        largest = tl.where(size < _INFINITE, tl.maximum(largest, size), _INFINITE)
    total = tl.sum(mass)
    tl.store(out + example, total)
    tl.store(out + tl.num_programs(0) + example, total * total * share)
    tl.store(out + 2 * tl.num_programs(0) + example, tl.sum(reach) * step)
    tl.store(out + 3 * tl.num_programs(0) + example, most / tl.maximum(tl.max(largest), _SMALLEST))


@triton.jit
def _gram_kernel(
    slopes,
    slope_unit,
    inputs,
    input_unit,
    out,
    positions,
    rows,
    columns,
    places,
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
    found = tl.zeros((tile, tile), tl.float32)
    for start in range(0, rows, depth):
        column = start + tl.arange(0, depth)
        inside = column < rows
        left_place = slopes + here[:, None] * rows + column[None, :]
        right_place = slopes + there[:, None] * rows + column[None, :]
        left = tl.load(left_place, mask=has_one[:, None] & inside[None, :], other=0.0)
        right = tl.load(right_place, mask=has_other[:, None] & inside[None, :], other=0.0)
        # The compiler may not add to one long sum: the bound is for blocks (lemma 1).
        found += tl.dot(left, tl.trans(right), max_num_imprecise_acc=depth)
    scale_one = _both(slope_unit, input_unit, here, has_one)
    scale_other = _both(slope_unit, input_unit, there, has_other)
    products = exact.to(tl.float64) * found.to(tl.float64) * scale_one[:, None] * scale_other[None, :]
    total = tl.sum(tl.sum(products, 1), 0)
    place = out + example * tl.num_programs(1) + tl.program_id(1)
    tl.store(place, tl.where(first == second, total, 2 * total))


@triton.jit
def _both(slope_unit, input_unit, place, inside):
    unit = tl.load(slope_unit + place, mask=inside, other=0.0).to(tl.float64)
    return unit * tl.load(input_unit + place, mask=inside, other=0.0).to(tl.float64)
