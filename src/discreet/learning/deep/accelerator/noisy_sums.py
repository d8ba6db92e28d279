"""Sums of gradients on the grid of the noise, added to noise that was drawn before them.

A release begins as noise, integers of 32 bits, and a sum is added in its place: no sum is ever written
without noise.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["LARGEST", "NOT_DRAWN", "add_sum_to_noise", "in_steps", "release_noisy_steps", "release_sums"]

LARGEST = 2**30
"""Grid steps are cut off here, so that they fit into 32 bits with their noise."""
NOT_DRAWN = -(2**31)
"""In the place of noise that was not drawn: what is released there is 0, without a sum."""
_LARGEST, _NOT_DRAWN = tl.constexpr(LARGEST), tl.constexpr(NOT_DRAWN)
_WIDTH = 1024  # numbers of one program


def release_sums(noise: Tensor, sums: Tensor, shift: int, scale: float) -> None:
    """Write scale times (the sums in grid steps, plus noise) over the noise, as floats in the same bits.

    Parameters
    ----------
    noise : tensor of int32
    sums : tensor of int64
        Integers of which 2^shift are one step: they are rounded to the nearest.
    shift : int
        At least 1.
    scale : float
    """
    count = sums.numel()
    if count:
        _sum_kernel[(block_count(_WIDTH, count),)](noise, sums, count, shift, scale, width=_WIDTH)


def release_noisy_steps(steps: Tensor, scale: float) -> None:
    """Write scale times grid steps over them, as floats in the same bits.

    Parameters
    ----------
    steps : tensor of int32
        Noise, below 2^27, to which at most 2^29 was added. Of what is 2^30 or more noise was not drawn.
    scale : float
    """
    count = steps.numel()
    _step_kernel[(block_count(_WIDTH, count),)](steps, count, scale, width=_WIDTH)


@triton.jit
def add_sum_to_noise(place, inside, steps, scale):
    """Write steps with the noise in their place, and the half of its law, in units of the gradient."""
    noise = tl.load(place, mask=inside, other=0)
    value = (noise + steps).to(tl.float32) * scale + 0.5 * scale
    value = tl.where(noise == _NOT_DRAWN, 0.0, value)
    tl.store(place, value.to(tl.int32, bitcast=True), mask=inside)


@triton.jit
def in_steps(sums, unit, shift):
    """Return integers of 32 bits that count 2^unit in steps of 2^shift, rounded and cut off."""
    more = tl.maximum(unit - shift, 0)
    less = tl.maximum(shift - unit, 0)
    steps = (sums >> less) + ((sums >> tl.maximum(less - 1, 0)) & tl.minimum(less, 1))
    most = _LARGEST >> more
    return tl.minimum(tl.maximum(steps, -most), most) << more


@launched_quickly
@triton.jit(do_not_specialize=["scale"])
def _sum_kernel(noise, sums, count, shift, scale, width: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, width)
    inside = place < count
    read = tl.load(sums + place, mask=inside, other=0)
    add_sum_to_noise(noise + place, inside, (read + (1 << (shift - 1))) >> shift, scale)


@launched_quickly
@triton.jit(do_not_specialize=["scale"])
def _step_kernel(steps, count, scale, width: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, width)
    inside = place < count
    found = tl.load(steps + place, mask=inside, other=0)
    is_drawn = (found < _LARGEST) & (found > -_LARGEST)
    value = tl.where(is_drawn, found.to(tl.float32) * scale + 0.5 * scale, 0.0)
    tl.store(steps + place, value.to(tl.int32, bitcast=True), mask=inside)
