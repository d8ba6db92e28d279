"""Kernels of an accelerator that add up rows of numbers as integers.

All rounding is done example by example; what follows are sums of integers.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["sum_rounded_rows"]

_TO_INTEGER = tl.constexpr(1.5 * 2.0**52)  # added and taken away, it rounds doubles below 2^51 to integers
_WIDTH = 256


def sum_rounded_rows(rows: Tensor, coefficients: Tensor) -> Tensor:
    """Return the sum over examples of the integers nearest to coefficient times row.

    A row whose coefficient is 0 adds nothing, whatever it holds.
    """
    examples, columns = rows.shape
    out = torch.zeros(columns, dtype=torch.int64, device=rows.device)
    # Of few columns, several programs share each, with some of the examples.
    parts = max(1, min(examples, 1024, 512 * _WIDTH // max(columns, 1)))
    each = triton.cdiv(examples, parts)
    grid = (triton.cdiv(columns, _WIDTH), triton.cdiv(examples, each))
    _sum_kernel[grid](rows, coefficients, out, examples, columns, *rows.stride(), each, width=_WIDTH)
    return out


@triton.jit
def _sum_kernel(rows, coefficients, out, examples, columns, by_row, by_column, each, width: tl.constexpr):
    column = tl.program_id(0).to(tl.int64) * width + tl.arange(0, width)
    inside = column < columns
    total = tl.zeros((width,), tl.int64)
    first = tl.program_id(1) * each
    place = rows + first.to(tl.int64) * by_row + column * by_column
    for example in range(first, tl.minimum(first + each, examples)):
        factor = tl.load(coefficients + example)
        value = tl.load(place, mask=inside, other=0.0)
        exact = tl.where(factor == 0, 0.0, value.to(tl.float64) * factor)
        total += ((exact + _TO_INTEGER) - _TO_INTEGER).to(tl.int64)
        place += by_row
    tl.atomic_add(out + column, total, mask=inside)
