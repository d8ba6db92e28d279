"""What each position of a convolution's output reads, written out in 16 bits."""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.convolution_rows import Geometry
from discreet.learning.deep.accelerator.example_products import short_rows
from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["convolution_patches"]

_TILE, _TILE_OF_NEXT_CHANNELS = (64, 64), (16, 256)
"""Positions and columns that a program writes; the other where channels are next to each other in memory."""


def convolution_patches(
    given: Tensor, across: int, positions: int, geometry: Geometry, kind: torch.dtype
) -> Tensor:
    """Return patches (examples, positions, taps times channels), with zeros where they reach beyond an image.

    Channels are the last axis, as an accelerator writes them fastest.

    Parameters
    ----------
    given : tensor (examples, channels, height, width)
        In any layout.
    across, positions : int
        How many positions a row of the output has, and how many there are.
    geometry : Geometry
    kind : torch.dtype
        Of 16 bits, to which numbers are rounded.
    """
    examples, channels, height, width = given.shape
    columns = channels * geometry.kernel[0] * geometry.kernel[1]
    out = short_rows((examples, positions, columns), kind, given.device)
    high, wide = _TILE_OF_NEXT_CHANNELS if given.stride(1) == 1 else _TILE
    tiles = block_count(high, positions) * block_count(wide, columns)
    _patch_kernel[(examples * tiles,)](
        given,
        out,
        columns,
        positions,
        height,
        width,
        tiles,
        *given.stride(),
        out.stride(0),
        out.stride(1),
        across=across,
        kernel_width=geometry.kernel[1],
        channels=channels,
        step_down=geometry.stride[0],
        step_right=geometry.stride[1],
        top=geometry.padding[0],
        left=geometry.padding[1],
        spread_down=geometry.dilation[0],
        spread_right=geometry.dilation[1],
        tile_positions=high,
        tile_columns=wide,
    )
    return out


@launched_quickly
@triton.jit
def _patch_kernel(
    x,
    out,
    columns,
    positions,
    height,
    width,
    tiles,
    xb,
    xc,
    xh,
    xw,
    by_example,
    by_position,
    across: tl.constexpr,
    kernel_width: tl.constexpr,
    channels: tl.constexpr,
    step_down: tl.constexpr,
    step_right: tl.constexpr,
    top: tl.constexpr,
    left: tl.constexpr,
    spread_down: tl.constexpr,
    spread_right: tl.constexpr,
    tile_positions: tl.constexpr,
    tile_columns: tl.constexpr,
):
    example, tile = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(0) % tiles
    high = tl.cdiv(positions, tile_positions)
    position = tile % high * tile_positions + tl.arange(0, tile_positions)
    column = tile // high * tile_columns + tl.arange(0, tile_columns)
    channel, tap = column % channels, column // channels
    down, right = tap // kernel_width * spread_down, tap % kernel_width * spread_right
    y = ((position // across) * step_down - top)[:, None] + down[None, :]
    z = ((position % across) * step_right - left)[:, None] + right[None, :]
    is_written = (position < positions)[:, None] & (column < columns)[None, :]
    inside = is_written & (y >= 0) & (y < height) & (z >= 0) & (z < width)
    value = tl.load(x + example * xb + channel[None, :] * xc + y * xh + z * xw, mask=inside, other=0.0)
    place = out + example * by_example + position[:, None] * by_position + column[None, :]
    tl.store(place, value.to(out.dtype.element_ty), mask=is_written)
