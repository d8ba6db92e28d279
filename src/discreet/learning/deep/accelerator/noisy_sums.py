"""Sums of gradients on the grid of the noise, and what is released of them.

Long sums, integers of 64 bits, are added to noise that was drawn before them, in its place. Sums of 32 bits
become a release where they are (`DeviceNoise.add_to`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["LARGEST", "NOT_DRAWN", "in_steps", "release_sums", "released"]

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


@triton.jit
def released(steps, noise, scale):
    """Return steps with noise, and the half of its law, in units of the gradient: the bits of a float."""
    return ((noise + steps).to(tl.float32) * scale + 0.5 * scale).to(tl.int32, bitcast=True)


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
    drawn = tl.load(noise + place, mask=inside, other=0)
    value = released((read + (1 << (shift - 1))) >> shift, drawn, scale)
    tl.store(noise + place, tl.where(drawn == _NOT_DRAWN, 0, value), mask=inside)
