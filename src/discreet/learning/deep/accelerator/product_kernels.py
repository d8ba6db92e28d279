"""Kernels of an accelerator that round slopes to integers, and multiply them with inputs exactly."""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["LARGEST", "add_product", "round_slopes"]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)  # added and taken away, it rounds doubles below 2^51 to integers
# Shapes of tiles, and how many threads share one, by time measured.
_TILE, _DEPTH = 128, 16
_PRODUCT_ROWS, _PRODUCT_COLUMNS, _PRODUCT_DEPTH, _PRODUCT_WARPS = 64, 128, 128, 8
_TOGETHER = 8
LARGEST = 2**30
"""Grid steps are cut off here, so that they fit into 32 bits with their noise."""


def round_slopes(
    slopes: Tensor, slope_unit: Tensor, input_unit: Tensor, coefficients: Tensor, places: int, shift: int
) -> Tensor:
    """Return coefficient times slopes times both units over 2^shift as integers of 24 bits, in three parts.

    The parts, (3 columns, places), count 2^16, 2^8 and 1; the last two are from -128 to 127. Products are in
    doubles, and at most 8,300,000. A row whose coefficient is 0 becomes zeros, whatever it holds.
    """
    rows, columns = slopes.shape
    out = torch.empty(3 * columns, places, dtype=torch.int8, device=slopes.device)
    grid = (triton.cdiv(columns, _DEPTH), triton.cdiv(places, _TILE))
    _slope_kernel[grid](
        slopes,
        slope_unit,
        input_unit,
        coefficients,
        out,
        rows,
        columns,
        places,
        rows // len(coefficients),
        2.0**-shift,
        tile=_TILE,
        depth=_DEPTH,
    )
    return out


def add_product(total: Tensor, parts: Tensor, inputs: Tensor, shift: int, grid_shift: int) -> None:
    """Multiply three parts of slopes with inputs, exactly, and add 2^shift times the result to a total.

    Parameters
    ----------
    total : tensor of int64 or int32, as many as the product has
        Of 32 bits: what it held is overwritten by the product in steps of 2^grid_shift, rounded, and cut off
        where sums in grid steps are.
    parts, inputs : tensors of int8 (3 rows, places) and (columns, places)
        At most 2^16 places, so that sums fit into 32 bits; along their last axis contiguous.
    shift, grid_shift : int
    """
    rows, columns = parts.shape[0] // 3, inputs.shape[0]
    tiles = triton.cdiv(rows, _PRODUCT_ROWS) * triton.cdiv(columns, _PRODUCT_COLUMNS)
    _product_kernel[(tiles,)](
        parts,
        inputs,
        total,
        rows,
        columns,
        parts.shape[1],
        parts.stride(0),
        inputs.stride(0),
        shift,
        grid_shift,
        largest=LARGEST,
        tile_rows=_PRODUCT_ROWS,
        tile_columns=_PRODUCT_COLUMNS,
        depth=_PRODUCT_DEPTH,
        together=_TOGETHER,
        num_warps=_PRODUCT_WARPS,
    )


@triton.jit
def _slope_kernel(
    slopes,
    slope_unit,
    input_unit,
    coefficients,
    out,
    rows,
    columns,
    places,
    positions,
    scale,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    row = tl.program_id(1) * tile + tl.arange(0, tile)
    column = tl.program_id(0) * depth + tl.arange(0, depth)
    coefficient = tl.load(coefficients + row // positions, mask=row < rows, other=0.0)
    factor = _both(slope_unit, input_unit, row, row < rows) * coefficient * scale
    factor = tl.where(coefficient == 0, 0.0, factor)
    counts = (row < rows) & (coefficient != 0)
    inside = counts[:, None] & (column < columns)[None, :]
    place = slopes + row.to(tl.int64)[:, None] * columns + column[None, :]
    exact = tl.load(place, mask=inside, other=0.0).to(tl.float64) * factor[:, None]
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
def _both(slope_unit, input_unit, place, inside):
    unit = tl.load(slope_unit + place, mask=inside, other=0.0).to(tl.float64)
    return unit * tl.load(input_unit + place, mask=inside, other=0.0).to(tl.float64)


@triton.jit
def _product_kernel(
    parts,
    inputs,
    total,
    rows,
    columns,
    places,
    by_part_row,
    by_column,
    shift,
    grid_shift,
    largest: tl.constexpr,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
    depth: tl.constexpr,
    together: tl.constexpr,
):
    # Programs that run at the same time share rows and columns, which stay in the cache.
    across = tl.cdiv(columns, tile_columns)
    block = tl.program_id(0) // (together * across)
    inside_block = tl.program_id(0) % (together * across)
    high_rows = tl.minimum(tl.cdiv(rows, tile_rows) - block * together, together)
    row = (block * together + inside_block % high_rows) * tile_rows + tl.arange(0, tile_rows)
    column = (inside_block // high_rows) * tile_columns + tl.arange(0, tile_columns)
    position = tl.arange(0, depth)
    held_row, held_column = tl.where(row < rows, row, 0), tl.where(column < columns, column, 0)
    left = parts + held_row.to(tl.int64)[:, None] * by_part_row + position[None, :]
    right = inputs + held_column.to(tl.int64)[None, :] * by_column + position[:, None]
    jump = tl.full((), 1, tl.int64) * rows * by_part_row
    high = tl.zeros((tile_rows, tile_columns), tl.int32)
    middle = tl.zeros((tile_rows, tile_columns), tl.int32)
    low = tl.zeros((tile_rows, tile_columns), tl.int32)
    for start in range(0, places, depth):
        there = start + position < places
        read = tl.load(right + start, mask=there[:, None], other=0)
        slope = tl.load(left + start, mask=there[None, :], other=0)
        high = tl.dot(slope, read, high, out_dtype=tl.int32)
        slope = tl.load(left + jump + start, mask=there[None, :], other=0)
        middle = tl.dot(slope, read, middle, out_dtype=tl.int32)
        slope = tl.load(left + 2 * jump + start, mask=there[None, :], other=0)
        low = tl.dot(slope, read, low, out_dtype=tl.int32)
    found = ((high.to(tl.int64) << 16) + (middle.to(tl.int64) << 8) + low.to(tl.int64)) << shift
    target = total + row.to(tl.int64)[:, None] * columns + column[None, :]
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    if total.dtype.element_ty == tl.int64:
        tl.store(target, tl.load(target, mask=inside, other=0) + found, mask=inside)
    else:
        found = (found + (1 << (grid_shift - 1))) >> grid_shift
        tl.store(target, tl.minimum(tl.maximum(found, -largest), largest).to(tl.int32), mask=inside)
