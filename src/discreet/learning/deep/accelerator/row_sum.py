"""Norms of rows, and sums over examples of rows that are rounded to integers: each is read once for it.

Doubles between 2^52 and 2^53 are integers, so that adding 1.5 * 2^52 to a product rounds it to the nearest
integer k, and the bits of the sum, read as an integer, are those of 1.5 * 2^52, plus k. They are added up as
they are, in 64 bits, and the constant is taken away: nothing is converted to an integer.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count, next_power
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["add_rounded_look_ups", "add_rounded_rows", "squares_of_rows"]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)
_BITS = 0x4338 << 48
"""Of 1.5 * 2^52 as a double."""
_TILE, _TAP_TILE = (8, 256, 2048), (16, 1024, 1024)
"""Rows and columns that a program reads at once, and how many programs keep an accelerator busy: of few
columns, several share each, with some examples. By time measured; of convolutions columns are many."""
_WARPS = 4
_PART = 2048  # numbers of a row whose squares a program adds up


def squares_of_rows(rows: Tensor) -> Tensor:
    """Return doubles that add up to the squared norms of rows: (examples, parts)."""
    examples, columns = rows.shape
    parts = block_count(_PART, columns)
    out = torch.empty(examples, parts, dtype=torch.float64, device=rows.device)
    grid = (examples * parts,)  # of its other axes an accelerator takes 65,535 programs at most
    _square_kernel[grid](rows, out, columns, parts, *rows.stride(), part=_PART, width=_PART // 2)
    return out


def add_rounded_look_ups(
    table: Tensor, index: Tensor, slopes: Tensor, coefficients: Tensor, unit: int
) -> None:
    """Add the integers nearest to coefficient times slope over 2^unit to the rows that positions have read.

    Parameters
    ----------
    table : tensor of int64 or int32 (rows, columns)
        Of 64 bits, integers are multiplied by 2^unit; of 32, the last bits of sums are right.
    index : tensor (examples, positions)
    slopes : tensor (examples, positions, columns)
        Products are below 2^51. Those of an example whose coefficient is 0 are not read.
    coefficients : tensor of doubles (examples,)
    unit : int
    """
    examples, positions, columns = slopes.shape
    if not slopes.numel():
        return
    slopes, index = slopes.contiguous(), index.contiguous()
    width = min(_PART // 2, next_power(columns))
    grid = (examples * positions, block_count(width, columns))
    given = (slopes, index, coefficients, table, positions, columns, unit, 2.0**-unit)
    _look_up_kernel[grid](*given, bits=_BITS, width=width)


def add_rounded_rows(total: Tensor, rows: Tensor, coefficients: Tensor) -> None:
    """Add the integers nearest to coefficient times row to a total, over all examples.

    A row whose coefficient is 0 adds nothing, whatever it holds; it is not read.

    Parameters
    ----------
    total : tensor of int64, of one axis or of three
    rows : tensor (examples, …)
        With the axes of the total after the first; if those are three, contiguous. Products are below 2^51.
    coefficients : tensor of doubles (examples,)
    """
    height, width, programs = _TAP_TILE if total.dim() == 3 else _TILE
    width = min(width, next_power(total.numel()))
    share = programs * width // total.numel()
    add_by_tiles(total, rows, coefficients, height=height, width=width, warps=_WARPS, share=share)


def add_by_tiles(
    total: Tensor, rows: Tensor, coefficients: Tensor, *, height: int, width: int, warps: int, share: int
) -> None:
    """The same in tiles of one's own, with the examples of a column shared by about so many programs."""
    examples, flat = len(rows), rows.flatten(1)
    sizes, steps = (total.shape, total.stride()) if total.dim() == 3 else ((1, 1, len(total)), (0, 0, 1))
    each = block_count(height, block_count(max(1, share), examples)) * height
    grid = (block_count(width, total.numel()), block_count(each, examples))
    _add_kernel[grid](
        flat,
        coefficients,
        total,
        examples,
        total.numel(),
        *flat.stride(),
        *sizes[1:],
        *steps,
        each,
        is_alone=grid[1] == 1,
        extra=_signed(height * _BITS),
        height=height,
        width=width,
        num_warps=warps,
    )


def _signed(value: int) -> int:
    """Return the integer of 64 bits that has the same last bits."""
    return (value + 2**63) % 2**64 - 2**63


@launched_quickly
@triton.jit
def _square_kernel(rows, out, columns, parts, by_row, by_column, part: tl.constexpr, width: tl.constexpr):
    example, place = (tl.program_id(0) // parts).to(tl.int64), tl.program_id(0) % parts
    total = tl.zeros((width,), tl.float64)
    for start in range(0, part, width):
        column = place * part + start + tl.arange(0, width)
        read = rows + example * by_row + column.to(tl.int64) * by_column
        value = tl.load(read, mask=column < columns, other=0.0).to(tl.float64)
        total += value * value
    tl.store(out + tl.program_id(0), tl.sum(total))


@launched_quickly
@triton.jit
def _look_up_kernel(
    slopes,
    index,
    coefficients,
    table,
    positions,
    columns,
    unit,
    scale,
    bits: tl.constexpr,
    width: tl.constexpr,
):
    position = tl.program_id(0).to(tl.int64)
    factor = tl.load(coefficients + position // positions) * scale
    if factor != 0:
        column = tl.program_id(1) * width + tl.arange(0, width)
        inside = column < columns
        value = tl.load(slopes + position * columns + column, mask=inside, other=0.0).to(tl.float64)
        near = tl.fma(value, tl.zeros_like(value) + factor, tl.zeros_like(value) + _TO_INTEGER)
        row = tl.load(index + position).to(tl.int64)
        whole = near.to(tl.int64, bitcast=True) - bits
        if table.dtype.element_ty == tl.int64:
            tl.atomic_add(table + row * columns + column, whole << unit, mask=inside)
        else:
            tl.atomic_add(table + row * columns + column, whole.to(tl.int32), mask=inside)


@launched_quickly
@triton.jit
def _add_kernel(
    rows,
    coefficients,
    total,
    examples,
    columns,
    by_row,
    by_column,
    middle,
    inner,
    by_outer,
    by_middle,
    by_inner,
    each,
    is_alone: tl.constexpr,
    extra: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
):
    column = tl.program_id(0) * width + tl.arange(0, width)
    inside = column < columns
    place = rows + column.to(tl.int64)[None, :] * by_column
    found = tl.zeros((width,), tl.int64)
    first = tl.program_id(1) * each
    last = tl.minimum(first + each, examples)
    for start in range(first, last, height):
        row = start + tl.arange(0, height)
        factor = tl.load(coefficients + row, mask=row < last, other=0.0)
        known = (factor != 0)[:, None] & inside[None, :]
        value = tl.load(place + row.to(tl.int64)[:, None] * by_row, mask=known, other=0.0)
        near = tl.fma(value.to(tl.float64), factor[:, None], _TO_INTEGER)
        found += tl.sum(near.to(tl.int64, bitcast=True), 0) - extra
    target = total + (column // (middle * inner)).to(tl.int64) * by_outer
    target += (column // inner % middle).to(tl.int64) * by_middle + (column % inner).to(tl.int64) * by_inner
    if is_alone:
        tl.store(target, tl.load(target, mask=inside, other=0) + found, mask=inside)
    else:
        tl.atomic_add(target, found, mask=inside)
