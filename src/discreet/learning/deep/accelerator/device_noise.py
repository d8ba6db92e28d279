"""Noise on an accelerator: integers in memory, to which sums of gradients are added where they are.

Random words are those of ChaCha20 under a key of 256 bits that is drawn from secure entropy for every step,
so that no word is ever used twice. A word makes one draw, or says that it is one of the rest of the law
(`noise.one_word_gaussian`), which a second program draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.chacha import chacha
from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.noise_trials import draw_rest
from discreet.learning.deep.accelerator.noisy_sums import NOT_DRAWN
from discreet.learning.deep.accelerator.quick_launches import launched_quickly
from discreet.noise import Source
from discreet.noise.one_word_gaussian import noise_tables

__all__ = ["DeviceNoise", "blocks_for"]

_LANES = 128  # blocks of the cipher in one program, each for sixteen draws; by time measured
_DRAWS = 16
_NOT_DRAWN = tl.constexpr(NOT_DRAWN)
_MOST_REST = 128
"""Of the 2048 draws of a program: more are of the rest with a probability below 2^-160 (lemma 2)."""


def blocks_for(count: int) -> int:
    """Return how many blocks of the cipher so many draws take."""
    return block_count(_DRAWS * _LANES, count) * _LANES


class DeviceNoise:
    """Draws noise, to which sums are added.

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
        if count == 0:
            return out
        blocks = blocks_for(count)
        if self._first + blocks > 2**32:
            raise OverflowError("more noise than one key is for")
        programs = (blocks // _LANES,)
        listed = torch.empty(*programs, _MOST_REST, dtype=torch.int16, device=out.device)
        counts = torch.empty(programs, dtype=torch.int32, device=out.device)
        given = (out, self._key, self._first, listed, counts)
        sizes = {"lanes": _LANES, "most": _MOST_REST}
        _draw_kernel[programs](*given, self._blocks, count, limit=self._limit, **sizes, num_warps=2)
        tables = (self._others, self._cuts, self._shares, self._powers)
        draw_rest[programs](*given, *tables, count, **sizes, num_warps=1, maxnreg=64)
        self._first += blocks
        return out

    def forget(self) -> None:
        """Overwrite the key; the next noise begins with the first block of the cipher."""
        self._key.zero_()
        self._first = 0


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
    program = tl.program_id(0)
    lane = tl.arange(0, lanes)
    start = program.to(tl.int64) * (16 * lanes)
    left = tl.minimum(count - start, 16 * lanes).to(tl.int32)
    words = chacha(key, first.to(tl.uint32) + (program * lanes + lane).to(tl.uint32), 0, 0)
    many = lane * 0
    for j in tl.static_range(16):
        block = tl.load(blocks + (words[j] >> 16)).to(tl.int32)
        noise = (block << 16) | (words[j] & 0xFFFF).to(tl.int32)
        place = lane + j * lanes
        is_drawn = words[j] < limit
        tl.store(out + start + place, tl.where(is_drawn, noise, _NOT_DRAWN), mask=place < left)
        many += 1 - is_drawn.to(tl.int32)
    rank = tl.cumsum(many, 0) - many
    listed += program.to(tl.int64) * most
    for j in tl.static_range(16):
        is_rest = words[j] >= limit
        tl.store(listed + rank, (lane + j * lanes).to(tl.int16), mask=is_rest & (rank < most))
        rank += is_rest.to(tl.int32)
    tl.store(counts + program, tl.sum(many))
