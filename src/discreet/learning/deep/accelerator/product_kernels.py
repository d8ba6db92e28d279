"""Slopes and inputs of one position for each example, as integers that are multiplied exactly.

Slopes times coefficients become integers of 16 bits, in two parts of 8 bits, and inputs are integers of 8
bits. So a sum over examples is two products of matrices of 8-bit integers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.noisy_sums import LARGEST
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["add_product", "round_slopes", "tile_of_program", "write_product"]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)  # added and taken away, it rounds doubles below 2^51 to integers
# Shapes of tiles, and how many threads share one, by time measured.
_TILE, _DEPTH = 128, 16
_PRODUCT_ROWS, _PRODUCT_COLUMNS, _PRODUCT_DEPTH, _PRODUCT_WARPS, _PRODUCT_STAGES = 64, 128, 128, 4, 2
_TOGETHER = 8


def round_slopes(
    slopes: Tensor, slope_unit: Tensor, input_unit: Tensor, coefficients: Tensor, places: int, shift: int
) -> Tensor:
    """Return coefficient times slopes times both units over 2^shift as integers of 16 bits, in two parts.

    The parts, (2 columns, places), count 2^8 and 1. Products are in doubles, and at most 32,600. A row whose
    coefficient is 0 becomes zeros, whatever it holds.
    """
    rows, columns = slopes.shape
    out = torch.empty(2 * columns, places, dtype=torch.int8, device=slopes.device)
    grid = (block_count(_DEPTH, columns), block_count(_TILE, places))
    _slope_kernel[grid](
        slopes,
        slope_unit,
        input_unit,
        coefficients,
        out,
        rows,
        columns,
        places,
        2.0**-shift,
        tile=_TILE,
        depth=_DEPTH,
    )
    return out


def add_product(total: Tensor, parts: Tensor, inputs: Tensor, shift: int) -> None:
    """Add 2^shift times the product of two parts of slopes with inputs, exactly.

    Parameters
    ----------
    total : tensor of int64, as many as the product has
    parts, inputs : tensors of int8 (2 rows, places) and (columns, places)
        At most 2^16 places, so that sums fit into 32 bits; along their last axis contiguous.
    shift : int
    """
    _multiply(total, parts, inputs, shift)


def write_product(steps: Tensor, parts: Tensor, inputs: Tensor, shift: int) -> None:
    """Write the product over 2^shift, rounded, and cut off where sums in grid steps are.

    Parameters
    ----------
    steps : tensor of int32, as many as the product has
    parts, inputs
        As for `add_product`.
    shift : int
        From -14 to 16.
    """
    if not -14 <= shift <= 16:
        raise ValueError(f"a grid step of 2^{shift}, which is not from 2^-14 to 2^16")
    _multiply(steps, parts, inputs, shift)


def _multiply(target: Tensor, parts: Tensor, inputs: Tensor, shift: int) -> None:
    rows, columns = parts.shape[0] // 2, inputs.shape[0]
    tiles = block_count(_PRODUCT_ROWS, rows) * block_count(_PRODUCT_COLUMNS, columns)
    _product_kernel[(tiles,)](
        TensorDescriptor.from_tensor(parts, [_PRODUCT_ROWS, _PRODUCT_DEPTH]),
        TensorDescriptor.from_tensor(inputs, [_PRODUCT_COLUMNS, _PRODUCT_DEPTH]),
        target,
        rows,
        columns,
        parts.shape[1],
        shift,
        largest=LARGEST,
        tile_rows=_PRODUCT_ROWS,
        tile_columns=_PRODUCT_COLUMNS,
        depth=_PRODUCT_DEPTH,
        together=_TOGETHER,
        num_warps=_PRODUCT_WARPS,
        num_stages=_PRODUCT_STAGES,
    )


@launched_quickly
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
    scale,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    row = tl.program_id(1) * tile + tl.arange(0, tile)
    column = tl.program_id(0) * depth + tl.arange(0, depth)
    coefficient = tl.load(coefficients + row, mask=row < rows, other=0.0)
    factor = _both(slope_unit, input_unit, row, row < rows) * coefficient * scale
    factor = tl.where(coefficient == 0, 0.0, factor)
    counts = (row < rows) & (coefficient != 0)
    inside = counts[:, None] & (column < columns)[None, :]
    place = slopes + row.to(tl.int64)[:, None] * columns + column[None, :]
    exact = tl.load(place, mask=inside, other=0.0).to(tl.float64) * factor[:, None]
    whole = tl.trans(((exact + _TO_INTEGER) - _TO_INTEGER).to(tl.int32))
    high = (whole + 128) >> 8
    start = column.to(tl.int64)
    place = out + row.to(tl.int64)[None, :]
    inside_target = (column < columns)[:, None] & (row < places)[None, :]
    tl.store(place + start[:, None] * places, high.to(tl.int8), mask=inside_target)
    start += columns
    tl.store(place + start[:, None] * places, (whole - (high << 8)).to(tl.int8), mask=inside_target)


@triton.jit
def _both(slope_unit, input_unit, place, inside):
    unit = tl.load(slope_unit + place, mask=inside, other=0.0).to(tl.float64)
    return unit * tl.load(input_unit + place, mask=inside, other=0.0).to(tl.float64)


@triton.jit
def tile_of_program(
    rows, columns, tile_rows: tl.constexpr, tile_columns: tl.constexpr, together: tl.constexpr
):
    """Return where the tile of a program begins.

    Programs that run at the same time share rows and columns, which stay in the cache.
    """
    across = tl.cdiv(columns, tile_columns)
    block = tl.program_id(0) // (together * across)
    inside_block = tl.program_id(0) % (together * across)
    high_rows = tl.minimum(tl.cdiv(rows, tile_rows) - block * together, together)
    first_row = (block * together + inside_block % high_rows) * tile_rows
    return first_row, (inside_block // high_rows) * tile_columns


@launched_quickly
@triton.jit
def _product_kernel(
    parts,
    inputs,
    target,
    rows,
    columns,
    places,
    shift,
    largest: tl.constexpr,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
    depth: tl.constexpr,
    together: tl.constexpr,
):
    first_row, first_column = tile_of_program(rows, columns, tile_rows, tile_columns, together)
    high = tl.zeros((tile_rows, tile_columns), tl.int32)
    low = tl.zeros((tile_rows, tile_columns), tl.int32)
    for start in range(0, places, depth):  # what is read beyond the places is 0
        read = inputs.load([first_column, start]).T
        high = tl.dot(parts.load([first_row, start]), read, high, out_dtype=tl.int32)
        low = tl.dot(parts.load([rows + first_row, start]), read, low, out_dtype=tl.int32)
    row = first_row + tl.arange(0, tile_rows)
    column = first_column + tl.arange(0, tile_columns)
    place = target + row.to(tl.int64)[:, None] * columns + column[None, :]
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    if target.dtype.element_ty == tl.int64:
        found = ((high.to(tl.int64) << 8) + low.to(tl.int64)) << shift
        tl.store(place, tl.load(place, mask=inside, other=0) + found, mask=inside)
    else:
        tl.store(place, _grid_steps(high, low, shift, largest), mask=inside)


@triton.jit
def _grid_steps(high, low, shift, largest: tl.constexpr):
    """Return high 2^8 + low over 2^shift, rounded and cut off, in 32 bits all the way.

    Carries leave 8 bits below the high part, of which `shift` are dropped.
    """
    dropped = tl.maximum(shift, 0)
    low += (1 << dropped) >> 1
    high += low >> 8
    rest = (low & 255) >> dropped << (dropped - shift)
    more = tl.maximum(8 - shift, 0)
    most = largest >> more
    steps = (tl.minimum(tl.maximum(high, -most), most) << more >> tl.maximum(shift - 8, 0)) + rest
    return tl.where(high < -most, -largest, tl.minimum(steps, largest))
