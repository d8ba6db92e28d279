"""Gradients of the gains and biases of normalizing layers, example by example, in one pass.

Of inputs x that are normalized to y = (x - mean) / deviation, the gradient of a gain is the sum over
positions of slope times y, and that of a bias the sum of slopes. A program sees one example, and the order of
its sums is that of shapes alone.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.grid_sizes import block_count, next_power
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["WIDEST", "group_norm_rows", "layer_norm_rows"]

_TILE = 4096  # numbers that a program reads at once, by time measured
_POSITIONS = 16  # of an example that one program of a layer norm adds up
WIDEST = 2**13
"""Numbers that are normalized together at a position, or channels of a group, that a program can hold."""


def layer_norm_rows(given: Tensor, slopes: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return each example's gradients of gains and biases, where every position is normalized by itself.

    Parameters
    ----------
    given, slopes : tensors (examples, positions, columns)
    epsilon : float
        What is added to the variance.
    """
    given, slopes = given.contiguous(), slopes.contiguous()
    examples, positions, columns = given.shape
    parts = block_count(_POSITIONS, positions)
    found = given.new_empty((examples, parts, 2, columns), dtype=torch.float32)
    width = next_power(columns)
    height = max(1, min(_POSITIONS, _TILE // width))
    _layer_kernel[(examples, parts)](
        given,
        slopes,
        found,
        positions,
        columns,
        epsilon,
        each=_POSITIONS,
        height=height,
        width=width,
        num_warps=8 if width > 512 else 4,
    )
    gains, biases = found.sum(1).unbind(1)
    return gains, biases


def group_norm_rows(given: Tensor, slopes: Tensor, groups: int, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return each example's gradients of gains and biases, where channels are normalized in groups.

    Parameters
    ----------
    given, slopes : tensors (examples, channels, …)
    groups : int
        How many groups the channels are in.
    epsilon : float
        What is added to the variance.
    """
    given, slopes = given.contiguous(), slopes.contiguous()
    examples, channels = given.shape[:2]
    each, positions = channels // groups, given[0, 0].numel()
    height = next_power(each)
    width = max(16, min(next_power(positions), _TILE // height))
    gains, biases = (given.new_empty((examples, channels), dtype=torch.float32) for _ in range(2))
    _group_kernel[(examples, groups)](
        given, slopes, gains, biases, channels, each, positions, epsilon, height=height, width=width
    )
    return gains, biases


@launched_quickly
@triton.jit
def _layer_kernel(
    given,
    slopes,
    out,
    positions,
    columns,
    epsilon,
    each: tl.constexpr,
    height: tl.constexpr,
    width: tl.constexpr,
):
    example, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column = tl.arange(0, width)
    has_column = column < columns
    gain = tl.zeros((width,), tl.float32)
    bias = tl.zeros((width,), tl.float32)
    for start in range(0, each, height):
        position = part * each + start + tl.arange(0, height)
        inside = (position < positions)[:, None] & has_column[None, :]
        place = (example * positions + position)[:, None] * columns + column[None, :]
        value = tl.load(given + place, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(slopes + place, mask=inside, other=0.0).to(tl.float32)
        centred = tl.where(inside, value - (tl.sum(value, 1) / columns)[:, None], 0.0)
        scale = 1 / tl.sqrt(tl.sum(centred * centred, 1) / columns + epsilon)
        gain += tl.sum(tl.where(inside, slope * centred * scale[:, None], 0.0), 0)
        bias += tl.sum(slope, 0)
    target = out + (example * tl.num_programs(1) + part) * (2 * columns) + column
    tl.store(target, gain, mask=has_column)
    tl.store(target + columns, bias, mask=has_column)


@launched_quickly
@triton.jit
def _group_kernel(
    given,
    slopes,
    gains,
    biases,
    channels,
    each,
    positions,
    epsilon,
    height: tl.constexpr,
    width: tl.constexpr,
):
    example, group = tl.program_id(0).to(tl.int64), tl.program_id(1)
    channel = tl.arange(0, height)
    has_channel = channel < each
    row = (example * channels + group * each + channel) * positions
    total = tl.zeros((height, width), tl.float32)
    for start in range(0, positions, width):
        position = start + tl.arange(0, width)
        inside = has_channel[:, None] & (position < positions)[None, :]
        total += tl.load(given + row[:, None] + position[None, :], mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(tl.sum(total, 1), 0) / (each * positions)
    total = tl.zeros((height, width), tl.float32)
    gain = tl.zeros((height, width), tl.float32)
    bias = tl.zeros((height, width), tl.float32)
    for start in range(0, positions, width):
        position = start + tl.arange(0, width)
        inside = has_channel[:, None] & (position < positions)[None, :]
        place = row[:, None] + position[None, :]
        value = tl.load(given + place, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(slopes + place, mask=inside, other=0.0).to(tl.float32)
        centred = tl.where(inside, value - mean, 0.0)
        total += centred * centred
        gain += slope * centred
        bias += slope
    scale = 1 / tl.sqrt(tl.sum(tl.sum(total, 1), 0) / (each * positions) + epsilon)
    target = example * channels + group * each + channel
    tl.store(gains + target, tl.sum(gain, 1) * scale, mask=has_channel)
    tl.store(biases + target, tl.sum(bias, 1), mask=has_channel)
