"""Gradients of a convolution's matrix, example by example, written out without its patches.

The gradient of output p by input channel c at tap (i, j) is the sum over positions of the slope of p times
what the tap reads there. One program makes a tile of outputs and channels of one example, reads slopes and
inputs where they are, and stores what it found in 16 bits (bfloat16), together with a bound on the squares of
what it stored. No program sees two examples, and the order of its sums is that of shapes alone.

Of kernels of width 3, a program has three sums, one for each tap of a row of the kernel, so that slopes are
read once for three. Of others, and where there are few channels, taps and channels are one axis.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count, next_power
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["Geometry", "convolution_rows", "fits"]

_WIDEST_SUM = 384
"""Squares that are added up in floats at most, three taps of 128 channels: 383 u is less than 2^-15."""
_UP = tl.constexpr(1 + 2.0**-15)
_LOST_SQUARES = tl.constexpr(2.0**-100)  # of 2^16 squares below 2^-126, which may be 0
_FEW_CHANNELS = 7  # up to which taps and channels are one axis, whatever the kernel's width
_PRODUCTS = {torch.float32: tl.float32, torch.bfloat16: tl.bfloat16, torch.float16: tl.float16}


class Geometry(NamedTuple):
    """Where a convolution of images reads: pairs of down and right; padding is that at the top and left."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]


class Tiles(NamedTuple):
    """What one program makes, from how many positions at a time, and with how many threads."""

    outputs: int
    columns: int
    positions: int
    warps: int
    stages: int


def tiles_for(outputs: int, columns: int, *, in_three: bool, is_short: bool) -> Tiles:
    """Return the tiles that were found to be fast on an H200.

    Parameters
    ----------
    outputs, columns : int
        The matrix; columns are channels, or taps and channels if those are one axis.
    in_three : bool
        Whether a program has three taps.
    is_short : bool
        Whether products are of 16 bits.
    """
    high = min(128, max(16, next_power(outputs)))
    wide = min(64, max(16, next_power(columns)))
    long = 64 if not in_three or (is_short and high == 128) else 32
    # One stage: with more, Triton 3.6 lets a product read what the next stage has begun to write.
    return Tiles(high, wide, long, warps=8 if high == 128 else 4, stages=1)


def fits(given: Tensor, slopes: Tensor) -> bool:
    """Whether numbers are short enough, and places within an example countable in 32 bits."""
    kinds = given.dtype in _PRODUCTS and slopes.dtype in _PRODUCTS
    spans = [
        sum((size - 1) * abs(step) for size, step in zip(values.shape[1:], values.stride()[1:], strict=True))
        for values in (given, slopes)
    ]
    return kinds and max(spans) < 2**31


def convolution_rows(given: Tensor, slopes: Tensor, geometry: Geometry) -> tuple[Tensor, Tensor, Tensor]:
    """Return each example's gradient, parts of the square of its norm from above, and sums of its slopes.

    Parameters
    ----------
    given : tensor (examples, channels, height, width)
        In any layout.
    slopes : tensor (examples, outputs, height, width)
        The gradients of the convolution's output, in any layout.
    geometry : Geometry

    Returns
    -------
    rows : tensor of bfloat16 (examples, outputs, taps, channels)
    squares : tensor of doubles (examples, parts)
        Of the rows as they are stored; not finite if a number is not, or if squares are beyond floats.
    sums : tensor (examples, outputs)
    """
    in_three = geometry.kernel[1] == 3 and given.shape[1] > _FEW_CHANNELS
    product = _product(given, slopes)
    columns = given.shape[1] if in_three else given.shape[1] * geometry.kernel[0] * geometry.kernel[1]
    tiles = tiles_for(slopes.shape[1], columns, in_three=in_three, is_short=product != torch.float32)
    return rows_by_tiles(given, slopes, geometry, in_three=in_three, product=product, tiles=tiles)


def rows_by_tiles(
    given: Tensor,
    slopes: Tensor,
    geometry: Geometry,
    *,
    in_three: bool,
    product: torch.dtype,
    tiles: Tiles,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same in tiles of one's own, and with numbers of this type in products (of 32 bits: TF32)."""
    (examples, channels, height, width), outputs = given.shape, slopes.shape[1]
    taps = geometry.kernel[0] * geometry.kernel[1]
    columns = channels if in_three else taps * channels
    assert tiles.columns * (3 if in_three else 1) <= _WIDEST_SUM  # noqa: S101 - of constants
    parts = block_count(tiles.outputs, outputs) * block_count(tiles.columns, columns)
    parts *= geometry.kernel[0] if in_three else 1
    rows = given.new_empty((examples, outputs, taps, channels), dtype=torch.bfloat16)
    squares = given.new_empty((examples, parts), dtype=torch.float64)
    sums = given.new_empty((examples, outputs), dtype=torch.float32)
    kernel: Any = _three_taps_kernel if in_three else _all_taps_kernel
    kernel[(examples * parts,)](
        given,
        slopes,
        rows,
        squares,
        sums,
        outputs,
        channels,
        height,
        width,
        slopes.shape[2] * slopes.shape[3],
        parts,
        *given.stride(),
        *slopes.stride(),
        across=slopes.shape[3],
        kernel_height=geometry.kernel[0],
        kernel_width=geometry.kernel[1],
        step_down=geometry.stride[0],
        step_right=geometry.stride[1],
        top=geometry.padding[0],
        left=geometry.padding[1],
        spread_down=geometry.dilation[0],
        spread_right=geometry.dilation[1],
        product=_PRODUCTS[product],
        operand=_PRODUCTS[product] if given.is_cuda else tl.float32,  # NumPy has no products of 16 bits
        tile_outputs=tiles.outputs,
        tile_columns=tiles.columns,
        tile_positions=tiles.positions,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
    return rows, squares, sums


def _product(given: Tensor, slopes: Tensor) -> torch.dtype:
    """Return the type of numbers in products: 16 bits if given so, or if channels are next to each other."""
    if given.dtype == slopes.dtype != torch.float32:
        return given.dtype
    is_last = given.stride(1) == 1 and given.shape[1] > 1
    return torch.bfloat16 if is_last or torch.bfloat16 in (given.dtype, slopes.dtype) else torch.float32


@triton.jit
def _slopes_at(g, output, has_output, position, positions, gp, gh, gw, across: tl.constexpr):
    """Load slopes (outputs, positions) of one example."""
    at = (position // across) * gh + (position % across) * gw
    inside = has_output[:, None] & (position < positions)[None, :]
    return tl.load(g + output[:, None] * gp + at[None, :], mask=inside, other=0.0)


@triton.jit
def _more(found, slope, value, product: tl.constexpr, operand: tl.constexpr):
    """Add a product of matrices to what was found."""
    left, right = slope.to(product).to(operand), value.to(product).to(operand)
    return tl.dot(left, right, found, input_precision="tf32")


@triton.jit
def _stored(place, found, inside):
    """Store numbers, and return the squares of what was stored: exact, if they are in range."""
    kept = found.to(tl.bfloat16)
    tl.store(place, kept, mask=inside)
    kept = kept.to(tl.float32)
    return kept * kept


@triton.jit
def _bound(squares):
    """Bound the sum of squares from above: along rows in floats, then in doubles."""
    return tl.sum(tl.sum(squares, 1).to(tl.float64), 0) * _UP + _LOST_SQUARES


@launched_quickly
@triton.jit
def _three_taps_kernel(
    x,
    g,
    rows,
    squares,
    sums,
    outputs,
    channels,
    height,
    width,
    positions,
    parts,
    xb,
    xc,
    xh,
    xw,
    gb,
    gp,
    gh,
    gw,
    across: tl.constexpr,
    kernel_height: tl.constexpr,
    kernel_width: tl.constexpr,
    step_down: tl.constexpr,
    step_right: tl.constexpr,
    top: tl.constexpr,
    left: tl.constexpr,
    spread_down: tl.constexpr,
    spread_right: tl.constexpr,
    product: tl.constexpr,
    operand: tl.constexpr,
    tile_outputs: tl.constexpr,
    tile_columns: tl.constexpr,
    tile_positions: tl.constexpr,
):
    example, part = (tl.program_id(0) // parts).to(tl.int64), tl.program_id(0) % parts
    tiles = tl.cdiv(outputs, tile_outputs)
    output = part % tiles * tile_outputs + tl.arange(0, tile_outputs)
    rest = part // tiles
    down = rest % kernel_height
    channel = rest // kernel_height * tile_columns + tl.arange(0, tile_columns)
    has_output, has_channel = output < outputs, channel < channels
    x += example * xb
    g += example * gb
    first = tl.zeros((tile_outputs, tile_columns), tl.float32)
    second = tl.zeros((tile_outputs, tile_columns), tl.float32)
    third = tl.zeros((tile_outputs, tile_columns), tl.float32)
    total = tl.zeros((tile_outputs,), tl.float32)
    for start in range(0, positions, tile_positions):
        position = start + tl.arange(0, tile_positions)
        slope = _slopes_at(g, output, has_output, position, positions, gp, gh, gw, across)
        if rest == 0:
            total += tl.sum(slope.to(tl.float32), 1)
        y = (position // across) * step_down + down * spread_down - top
        z = (position % across) * step_right - left
        is_row = (position < positions) & (y >= 0) & (y < height)
        at = x + channel[None, :] * xc + (y * xh + z * xw)[:, None]
        inside = (is_row & (z >= 0) & (z < width))[:, None] & has_channel[None, :]
        first = _more(first, slope, tl.load(at, mask=inside, other=0.0), product, operand)
        at += spread_right * xw
        z += spread_right
        inside = (is_row & (z >= 0) & (z < width))[:, None] & has_channel[None, :]
        second = _more(second, slope, tl.load(at, mask=inside, other=0.0), product, operand)
        at += spread_right * xw
        z += spread_right
        inside = (is_row & (z >= 0) & (z < width))[:, None] & has_channel[None, :]
        third = _more(third, slope, tl.load(at, mask=inside, other=0.0), product, operand)
    if rest == 0:
        tl.store(sums + example * outputs + output, total, mask=has_output)
    place = rows + (example * outputs + output[:, None]) * (kernel_height * 3 * channels)
    place += down * 3 * channels + channel[None, :]
    inside = has_output[:, None] & has_channel[None, :]
    found = _stored(place, first, inside)
    found += _stored(place + channels, second, inside)
    found += _stored(place + 2 * channels, third, inside)
    tl.store(squares + example * parts + part, _bound(found))


@launched_quickly
@triton.jit
def _all_taps_kernel(
    x,
    g,
    rows,
    squares,
    sums,
    outputs,
    channels,
    height,
    width,
    positions,
    parts,
    xb,
    xc,
    xh,
    xw,
    gb,
    gp,
    gh,
    gw,
    across: tl.constexpr,
    kernel_height: tl.constexpr,
    kernel_width: tl.constexpr,
    step_down: tl.constexpr,
    step_right: tl.constexpr,
    top: tl.constexpr,
    left: tl.constexpr,
    spread_down: tl.constexpr,
    spread_right: tl.constexpr,
    product: tl.constexpr,
    operand: tl.constexpr,
    tile_outputs: tl.constexpr,
    tile_columns: tl.constexpr,
    tile_positions: tl.constexpr,
):
    example, part = (tl.program_id(0) // parts).to(tl.int64), tl.program_id(0) % parts
    tiles = tl.cdiv(outputs, tile_outputs)
    output = part % tiles * tile_outputs + tl.arange(0, tile_outputs)
    rest = part // tiles
    column = rest * tile_columns + tl.arange(0, tile_columns)
    columns = kernel_height * kernel_width * channels
    has_output, has_column = output < outputs, column < columns
    tap = column // channels
    down, right = tap // kernel_width * spread_down, tap % kernel_width * spread_right
    x += example * xb
    g += example * gb
    found = tl.zeros((tile_outputs, tile_columns), tl.float32)
    total = tl.zeros((tile_outputs,), tl.float32)
    for start in range(0, positions, tile_positions):
        position = start + tl.arange(0, tile_positions)
        slope = _slopes_at(g, output, has_output, position, positions, gp, gh, gw, across)
        if rest == 0:
            total += tl.sum(slope.to(tl.float32), 1)
        y = ((position // across) * step_down - top)[:, None] + down[None, :]
        z = ((position % across) * step_right - left)[:, None] + right[None, :]
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width)
        inside &= (position < positions)[:, None] & has_column[None, :]
        value = tl.load(x + (column % channels)[None, :] * xc + y * xh + z * xw, mask=inside, other=0.0)
        found = _more(found, slope, value, product, operand)
    if rest == 0:
        tl.store(sums + example * outputs + output, total, mask=has_output)
    place = rows + (example * outputs + output[:, None]) * columns + column[None, :]
    inside = has_output[:, None] & has_column[None, :]
    tl.store(squares + example * parts + part, _bound(_stored(place, found, inside)))
