"""Noise on an accelerator: drawn in registers, added to sums of gradients, never written out by itself.

Random words are those of ChaCha20 under a key of 256 bits that is drawn from secure entropy for every step,
so that no word is ever used twice. A word makes one draw, or says that it is one of the rest of the law
(`noise.one_word_gaussian`), which a second program draws.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.learning.deep.accelerator.chacha import chacha
from discreet.learning.deep.accelerator.noise_trials import draw_rest, put
from discreet.noise import Source
from discreet.noise.one_word_gaussian import noise_tables

__all__ = ["DeviceNoise", "blocks_for"]

_LANES = 128  # blocks of the cipher in one program, each for sixteen draws; by time measured
_DRAWS = 16
_MOST_REST = 128
"""Of the 2048 draws of a program: more are of the rest with a probability below 2^-160 (lemma 2)."""


def blocks_for(count: int) -> int:
    """Return how many blocks of the cipher so many draws take."""
    return triton.cdiv(count, _DRAWS * _LANES) * _LANES


class DeviceNoise:
    """Adds noise to sums where they are.

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

    def release(self, sums: Tensor, out: Tensor, shift: int, scale: float) -> Callable[[], None]:
        """Write scale times (the sums in grid steps, plus noise).

        Parameters
        ----------
        sums : tensor of int32 or int64
            Grid steps, at most 2^30; or integers of which 2^shift are one step, and which are rounded to the
            nearest one.
        out : tensor of float32
            As many numbers.
        shift : int
            At least 1: log2 of a grid step.
        scale : float
            What grid steps are multiplied by.

        Returns
        -------
        callable
            What is left to do: it writes the sums whose noise is of the rest, and holds what it reads.
        """
        count = sums.numel()
        if count == 0:
            return lambda: None
        blocks = blocks_for(count)
        if self._first + blocks > 2**32:
            raise OverflowError("more noise than one key is for")
        programs = (blocks // _LANES,)
        listed = torch.empty(*programs, _MOST_REST, dtype=torch.int16, device=sums.device)
        counts = torch.empty(programs, dtype=torch.int32, device=sums.device)
        given = (sums, out, self._key, self._first, listed, counts)
        limits = (shift, scale, count)
        sizes = {"lanes": _LANES, "most": _MOST_REST}
        _release_kernel[programs](*given, self._blocks, *limits, limit=self._limit, **sizes, num_warps=2)
        self._first += blocks
        tables = (self._others, self._cuts, self._shares, self._powers)
        return lambda: draw_rest[programs](*given, *tables, *limits, **sizes, num_warps=1, maxnreg=64)

    def forget(self) -> None:
        """Overwrite the key; the next noise begins with the first block of the cipher."""
        self._key.zero_()
        self._first = 0


@triton.jit(do_not_specialize=["first", "scale"])
def _release_kernel(
    sums,
    out,
    key,
    first,
    listed,
    counts,
    blocks,
    shift,
    scale,
    count,
    limit: tl.constexpr,
    lanes: tl.constexpr,
    most: tl.constexpr,
):
    """Write sums with noise, and list the draws whose word says that they are of the rest."""
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
        has_noise = words[j] < limit  # no sum is written without noise, not even to be overwritten
        put(sums + start, out + start, place, (place < left) & has_noise, noise, shift, scale)
        many += 1 - has_noise.to(tl.int32)
    rank = tl.cumsum(many, 0) - many
    listed += program.to(tl.int64) * most
    for j in tl.static_range(16):
        is_rest = words[j] >= limit
        tl.store(listed + rank, (lane + j * lanes).to(tl.int16), mask=is_rest & (rank < most))
        rank += is_rest.to(tl.int32)
    tl.store(counts + program, tl.sum(many))
