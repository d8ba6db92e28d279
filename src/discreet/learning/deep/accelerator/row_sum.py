"""Sums over examples of rows that are rounded to integers: each row is read once, at the speed of memory.

Doubles between 2^52 and 2^53 are integers, so that adding 1.5 * 2^52 to a product rounds it to the nearest
integer k, and the bits of the sum, read as an integer, are those of 1.5 * 2^52, plus k. They are added up as
they are, in 64 bits, and the constant is taken away: nothing is converted to an integer.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

__all__ = ["add_rounded_rows"]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)
_BITS = 0x4338 << 48
"""Of 1.5 * 2^52 as a double."""
_HEIGHT, _WIDTH, _WARPS = (
    16,
    1024,
    4,
)  # rows and columns that a program reads at once, and its threads over 32
_PROGRAMS = 1024  # that keep an accelerator busy: of few columns, several share each, with some examples


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
    width = min(_WIDTH, triton.next_power_of_2(total.numel()))
    share = _PROGRAMS * width // total.numel()
    add_by_tiles(total, rows, coefficients, height=_HEIGHT, width=width, warps=_WARPS, share=share)


def add_by_tiles(
    total: Tensor, rows: Tensor, coefficients: Tensor, *, height: int, width: int, warps: int, share: int
) -> None:
    """The same in tiles of one's own, with the examples of a column shared by about so many programs."""
    examples, flat = len(rows), rows.flatten(1)
    sizes, steps = (total.shape, total.stride()) if total.dim() == 3 else ((1, 1, len(total)), (0, 0, 1))
    each = triton.cdiv(triton.cdiv(examples, max(1, share)), height) * height
    grid = (triton.cdiv(total.numel(), width), triton.cdiv(examples, each))
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
