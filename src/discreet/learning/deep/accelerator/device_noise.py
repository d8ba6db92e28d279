"""Noise on an accelerator: drawn as integers, or added to sums of gradients where these are.

Random words are those of ChaCha20 under a key of 256 bits that is drawn from secure entropy for every step,
so that no word is ever used twice. A word makes one draw, or says that it is one of the rest of the law
(`noise.one_word_gaussian`), which a second program draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.chacha import chacha
from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.noise_trials import add_rest, draw_rest, trials_for
from discreet.learning.deep.accelerator.noisy_sums import NOT_DRAWN, released
from discreet.learning.deep.accelerator.quick_launches import launched_quickly
from discreet.noise import Source
from discreet.noise.one_word_gaussian import noise_tables

__all__ = ["DeviceNoise", "blocks_for"]

_LANES = 128  # blocks of the cipher in one program, each for sixteen draws; by time measured
_DRAWS = 16
_NOT_DRAWN = tl.constexpr(NOT_DRAWN)
_MOST_REST = 128
"""Of the 2048 draws of a program: more are of the rest with a probability below 2^-160 (lemma 2)."""
_WARPS = 4  # so that a thread has one lane, whose numbers stay with it
_FOR_TRIALS = {"num_warps": 1, "maxnreg": 96}  # by time measured


def blocks_for(count: int) -> int:
    """Return how many blocks of the cipher so many draws take."""
    return block_count(_DRAWS * _LANES, count) * _LANES


class DeviceNoise:
    """Draws noise for sums, or adds it to them.

    Parameters
    ----------
    device : torch.device
    """

    def __init__(self, device: torch.device) -> None:
        tables = noise_tables()
        self._limit = tables.decided << 16
        self._blocks = torch.from_numpy(tables.blocks).to(device)
        self._others = torch.from_numpy(tables.others).to(device)
        self._cuts = torch.from_numpy(tables.cuts.view("int64")).to(device)
        self._shares = torch.from_numpy(tables.shares.view("int64")).to(device)
        self._powers = torch.from_numpy(tables.powers.view("int64")).to(device)
        self._key = torch.zeros(8, dtype=torch.int32, device=device)
        self._first = 0

    def renew(self, source: Source) -> None:
        """Draw the key of one step."""
        words = torch.from_numpy(source.words(4).view("int32").copy())
        self._key.copy_(words.pin_memory() if self._key.is_cuda else words, non_blocking=True)

    def draw(self, count: int) -> Tensor:
        """Return so many draws of the noise's law, as integers of 32 bits."""
        out = torch.empty(count, dtype=torch.int32, device=self._key.device)
        if count:
            programs, given, tables, sizes = self._begun(out)
            _draw_kernel[programs](*given, self._blocks, count, **sizes, **self._for_words)
            draw_rest[trials_for(programs)](*given, *tables, count, *programs, **sizes, **_FOR_TRIALS)
        return out

    def add_to(self, steps: Tensor, scale: float) -> None:
        """Write scale times (steps plus draws of the noise's law) over the steps, as floats in the same bits.

        Where no noise is drawn, 0 is written.

        Parameters
        ----------
        steps : tensor of int32
            At most 2^30.
        scale : float
        """
        count = steps.numel()
        if count:
            programs, given, tables, sizes = self._begun(steps)
            _add_kernel[programs](
                *given, self._blocks, count, scale, limit=self._limit, **sizes, num_warps=_WARPS
            )
            add_rest[trials_for(programs)](*given, *tables, count, *programs, scale, **sizes, **_FOR_TRIALS)

    @property
    def _for_words(self) -> dict[str, int]:
        return {"limit": self._limit, "num_warps": _WARPS}

    def _begun(self, out: Tensor) -> tuple[Any, ...]:
        """Return how many programs draw some numbers, what they are given, tables for trials, and sizes."""
        blocks = blocks_for(out.numel())
        if self._first + blocks > 2**32:
            raise OverflowError("more noise than one key is for")
        programs = (blocks // _LANES,)
        listed = torch.empty(*programs, _MOST_REST, dtype=torch.int16, device=out.device)
        counts = torch.empty(programs, dtype=torch.int32, device=out.device)
        given = (out, self._key, self._first, listed, counts)
        self._first += blocks
        tables = (self._others, self._cuts, self._shares, self._powers)
        return programs, given, tables, {"lanes": _LANES, "most": _MOST_REST}

    def forget(self) -> None:
        """Overwrite the key; the next noise begins with the first block of the cipher."""
        self._key.zero_()
        self._first = 0


@triton.jit
def _words(key, first, lanes: tl.constexpr):
    """Return sixteen words for each lane of a program."""
    lane = tl.program_id(0) * lanes + tl.arange(0, lanes)
    return chacha(key, first.to(tl.uint32) + lane.to(tl.uint32), 0, 0)


@triton.jit
def _looked_up(word, blocks):
    """Return the draw that a word makes, if it is not of the rest."""
    return (tl.load(blocks + (word >> 16)).to(tl.int32) << 16) | (word & 0xFFFF).to(tl.int32)


@triton.jit
def _ones(bits):
    """Return how many of sixteen bits are 1."""
    bits = (bits & 0x5555) + ((bits >> 1) & 0x5555)
    bits = (bits & 0x3333) + ((bits >> 2) & 0x3333)
    bits = (bits & 0x0F0F) + ((bits >> 4) & 0x0F0F)
    return (bits & 0xFF) + (bits >> 8)


@triton.jit
def _list_lowest(bits, rank, listed, lanes: tl.constexpr, most: tl.constexpr):
    """List the first draw of each lane that has one, and return what is left."""
    draw = tl.arange(0, lanes) + _ones((bits & -bits) - 1) * lanes
    tl.store(listed + rank, draw.to(tl.int16), mask=(bits != 0) & (rank < most))
    return bits & (bits - 1), rank + 1


@triton.jit
def _list_rest(bits, listed, counts, lanes: tl.constexpr, most: tl.constexpr):
    """List the draws of a program that are of the rest, lane by lane, and return how many they are.

    Of each lane, bit j is 1 if draw j is of the rest.
    """
    many = _ones(bits)
    rank = tl.cumsum(many, 0) - many
    both = tl.sum(many + ((many > 2).to(tl.int32) << 16))
    tl.store(counts + tl.program_id(0), both & 0xFFFF)
    listed += tl.program_id(0).to(tl.int64) * most
    for _ in tl.static_range(2):
        bits, rank = _list_lowest(bits, rank, listed, lanes, most)
    if both > 0xFFFF:  # a lane has more than two of them
        for turn in range(14):  # noqa: B007 - Triton knows no name twice
            bits, rank = _list_lowest(bits, rank, listed, lanes, most)
    return both & 0xFFFF


@launched_quickly
@triton.jit(do_not_specialize=["first"])
def _draw_kernel(
    out,
    key,
    first,
    listed,
    counts,
    blocks,
    count,
    limit: tl.constexpr,
    lanes: tl.constexpr,
    most: tl.constexpr,
):
    """Write draws, and list those whose word says that they are of the rest, which are not drawn yet."""
    lane = tl.arange(0, lanes)
    start = tl.program_id(0).to(tl.int64) * (16 * lanes)
    left = tl.minimum(count - start, 16 * lanes).to(tl.int32)
    words = _words(key, first, lanes)
    bits = lane * 0
    for j in tl.static_range(16):
        is_drawn = words[j] < limit
        noise = tl.where(is_drawn, _looked_up(words[j], blocks), _NOT_DRAWN)
        tl.store(out + start + lane + j * lanes, noise, mask=lane + j * lanes < left)
        bits |= tl.where(is_drawn, 0, 1 << j)
    _list_rest(bits, listed, counts, lanes, most)


@triton.jit
def _add_looked_up(
    here, words, blocks, scale, left, limit: tl.constexpr, lanes: tl.constexpr, is_whole: tl.constexpr
):
    """Release sums with the draws of words, and return the bits of those that are of the rest."""
    lane = tl.arange(0, lanes)
    bits = lane * 0
    for j in tl.static_range(16):
        is_drawn = words[j] < limit
        if is_whole:
            inside = is_drawn
            sums = tl.load(here + j * lanes)
        else:
            inside = is_drawn & (lane + j * lanes < left)
            sums = tl.load(here + j * lanes, mask=inside, other=0)
        tl.store(here + j * lanes, released(sums, _looked_up(words[j], blocks), scale), mask=inside)
        bits |= tl.where(is_drawn, 0, 1 << j)
    return bits


@launched_quickly
@triton.jit(do_not_specialize=["first", "scale"])
def _add_kernel(
    steps,
    key,
    first,
    listed,
    counts,
    blocks,
    count,
    scale,
    limit: tl.constexpr,
    lanes: tl.constexpr,
    most: tl.constexpr,
):
    """Release sums with draws, and list those whose draw is of the rest, which stay as they are until then.

    Those that the list has no room for become 0.
    """
    lane = tl.arange(0, lanes)
    start = tl.program_id(0).to(tl.int64) * (16 * lanes)
    left = tl.minimum(count - start, 16 * lanes).to(tl.int32)
    words = _words(key, first, lanes)
    here = steps + start + lane
    if left == 16 * lanes:
        bits = _add_looked_up(here, words, blocks, scale, left, limit, lanes, True)
    else:
        bits = _add_looked_up(here, words, blocks, scale, left, limit, lanes, False)
    if _list_rest(bits, listed, counts, lanes, most) > most:
        many = _ones(bits)
        rank = tl.cumsum(many, 0) - many
        for j in tl.static_range(16):
            is_rest = ((bits >> j) & 1) == 1
            tl.store(here + j * lanes, lane * 0, mask=is_rest & (rank >= most) & (lane + j * lanes < left))
            rank += is_rest.to(tl.int32)
