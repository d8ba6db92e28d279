"""Norms of examples from parts of their squares, and the coefficients that make examples short enough."""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["bounded_norms", "coefficients_for"]

_UP = tl.constexpr(1 + 2.0**-24)
_LEAST_NORM = tl.constexpr(2.0**-28)
"""Added to norms, so that coefficients are at most 2^58 (lemma 2)."""
_UP_AS_FLOAT = 1 + 2.0**-20
"""A number that a kernel is given becomes a float: it may not become smaller."""
_INFINITE = tl.constexpr(float("inf"))
_TOO_LARGE = tl.constexpr(2.0**200)
"""Squares from here on stand for infinite ones: products of 16-bit floats might overflow (lemma 1)."""
_EXAMPLES, _PARTS = 32, 64  # that a program reads at once


def bounded_norms(squares: Tensor) -> Tensor:
    """Return the norms of examples from above, infinite where a sum of squares is not finite or too large.

    Parameters
    ----------
    squares : tensor of doubles (examples, parts)
        What adds up to the square of each norm, or more. A sum below 0 stands for 0.
    """
    examples, parts = squares.shape
    norms = torch.empty(examples, dtype=torch.float64, device=squares.device)
    grid = (block_count(_EXAMPLES, examples),)
    _norm_kernel[grid](squares, norms, examples, parts, height=_EXAMPLES, width=_PARTS)
    return norms


def coefficients_for(
    factors: Tensor,
    norms: Tensor,
    weights: Tensor,
    *,
    longest: int,
    roundings: list[Tensor],
    rounding: float,
    limits: list[Tensor],
) -> tuple[Tensor, Tensor]:
    """Return the coefficients of examples, 0 for padding and where a norm is not finite, and which count.

    Padding counts, as there is nobody whose gradient it leaves out.

    Parameters
    ----------
    factors : tensor of doubles (examples,)
        By which gradients become at most as long as one.
    norms : tensor of doubles (examples,)
        The largest of each example.
    weights : tensor of doubles (examples,)
    longest : int
        How long an example of weight 1 may be.
    roundings : list of tensors of doubles (examples,)
        How far rounding may move an example, in orthogonal directions.
    rounding : float
        The square of how far it may move all examples besides.
    limits : list of tensors of doubles (examples,)
        What no coefficient may exceed.
    """
    reach = torch.stack(roundings) if roundings else factors
    limit = torch.stack(limits) if limits else factors
    found, counted = torch.empty_like(factors), torch.empty_like(factors, dtype=torch.bool)
    sizes = (len(factors), len(roundings), len(limits))
    given = (factors, norms, weights, reach, limit, found, counted, *sizes)
    grid = (block_count(_EXAMPLES, len(factors)),)
    _coefficient_kernel[grid](*given, longest, rounding * _UP_AS_FLOAT, width=_EXAMPLES)
    return found, counted


@launched_quickly
@triton.jit
def _norm_kernel(squares, norms, examples, parts, height: tl.constexpr, width: tl.constexpr):
    example = tl.program_id(0) * height + tl.arange(0, height)
    inside = example < examples
    total = tl.zeros((height, width), tl.float64)
    for start in range(0, parts, width):
        part = start + tl.arange(0, width)
        place = squares + example.to(tl.int64)[:, None] * parts + part[None, :]
        total += tl.load(place, mask=inside[:, None] & (part < parts)[None, :], other=0.0)
    square = tl.sum(total, 1)
    # An overflow may have either sign, and may not pass for a short gradient.
    is_finite = tl.abs(square) < _TOO_LARGE
    norm = tl.sqrt(tl.where(is_finite & (square > 0), square, 0.0)) * _UP + _LEAST_NORM
    tl.store(norms + example, tl.where(is_finite, norm, _INFINITE), mask=inside)


@launched_quickly
@triton.jit(do_not_specialize=["longest", "rounding"])
def _coefficient_kernel(
    factors,
    norms,
    weights,
    roundings,
    limits,
    out,
    counted,
    examples,
    many_roundings,
    many_limits,
    longest,
    rounding,
    width: tl.constexpr,
):
    example = tl.program_id(0) * width + tl.arange(0, width)
    inside = example < examples
    weight = tl.load(weights + example, mask=inside, other=0.0)
    reach = tl.zeros((width,), tl.float64) + rounding
    for place in range(many_roundings):
        one = tl.load(roundings + place * examples + example, mask=inside, other=0.0)
        reach += one * one
    room = weight * longest - tl.sqrt(reach)
    found = tl.load(factors + example, mask=inside, other=0.0) * tl.where(room > 0, room, 0.0)
    for place in range(many_limits):
        limit = tl.load(limits + place * examples + example, mask=inside, other=0.0)
        found = tl.where(found < limit, found, limit)
    is_finite = tl.load(norms + example, mask=inside, other=0.0) < _INFINITE
    tl.store(out + example, tl.where((weight > 0) & is_finite, found, 0.0), mask=inside)
    tl.store(counted + example, (weight <= 0) | is_finite, mask=inside)
