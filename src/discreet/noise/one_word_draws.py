"""Long vectors of the noise of one word (`one_word_gaussian`), drawn on the processor.

A word of 64 bits is two draws, each with a cell and an offset: the half above becomes the block of its cell,
in place. One cell in ninety has none; these draws are of the rest, whose values are drawn by trials
beforehand. Every decision of a trial is exact, so that the law is D, but for what is beyond the tables
(proof: docs/proofs/one_word_gaussian.md, lemma 5).

Far values come from the rest alone, so the work of a single draw would tell of its size. So this is for
vectors, as `layered_gaussian` is: how many trials are made depends on their length, except with a
probability below 2^-40.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.alias import AliasTable
from discreet.noise.enclosure import exponential, quotient
from discreet.noise.entropy import KeyedSource
from discreet.noise.gaussian import BAND, falling_exponential
from discreet.noise.one_word_gaussian import (
    BLOCKS,
    CELLS,
    cells_of_blocks,
    in_cells,
    noise_tables,
    rest_masses,
)
from discreet.noise.parameters import check_draws
from discreet.noise.uniform import UniformBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.array_types import Integers
    from discreet.noise.enclosure import Enclosure
    from discreet.noise.entropy import Source

__all__ = ["MOST_AT_ONCE", "OneWordDraws", "TrialAcceptance", "one_word_parts"]

MOST_AT_ONCE = 1 << 16
"""How many numbers are drawn at once: they stay in the processor's cache."""

_OFFSET_BITS = 16
_SPREAD = 1 << 46
_LEAST_PART, _MOST_PART = 1 << 16, 1 << 20  # less would not be worth a thread
_ABOVE = 1 if sys.byteorder == "little" else 0  # where the half above of 32 bits is
_NO_BLOCK = -(1 << 15)
_GUARD_BITS = 64
_SPARE = 8  # deviations by which trials are more than are needed on average


def one_word_parts(size: int, source: Source) -> list[tuple[int, OneWordDraws]]:
    """Cut a vector of noise into parts that threads may draw, and say where each starts.

    Parameters
    ----------
    size : int
        How many numbers the vector has.
    source : Source
        What the parts are keyed by. The numbers do not depend on the number of threads.
    """
    each = min(max(_LEAST_PART, -(-check_draws(size) // 2)), _MOST_PART)
    return [
        (start, OneWordDraws(min(each, size - start), KeyedSource(source)))
        for start in range(0, max(size, 1), each)
    ]


class OneWordDraws:
    """The numbers of one vector of noise, drawn some at a time: the vector need not be in memory at once.

    Parameters
    ----------
    size : int
        How many numbers the vector has.
    source : Source
        Where the words come from.
    """

    def __init__(self, size: int, source: Source) -> None:
        self._left, self._source = check_draws(size), source
        self._blocks = _blocks()
        self._trials = _trials(size)
        self._rest = _draw_rest(self._trials, source)
        self._found = np.empty(min(size, MOST_AT_ONCE), np.int16)

    def next(self, count: int) -> NDArray[np.int32]:
        """Return the next numbers, at most 2^16 of them."""
        if not 0 <= count <= min(self._left, MOST_AT_ONCE):
            raise ParameterError("count", "is out of range", "at most 2^16, and what is left of the vector")
        self._left -= count
        drawn = self._source.words(-(-count // 2)).view(np.int32)[:count]
        above, found = drawn.view(np.int16)[_ABOVE::2], self._found[:count]
        self._blocks.take(above.view(np.uint16), mode="clip", out=found)
        above[:] = found
        lanes = np.flatnonzero(found == _NO_BLOCK)
        drawn[lanes] = self._next_rest(len(lanes))
        return drawn

    def _next_rest(self, count: int) -> NDArray[np.int32]:
        while len(self._rest) < count:
            self._rest = np.concatenate([self._rest, _draw_rest(self._trials, self._source)])
        found, self._rest = self._rest[:count], self._rest[count:]
        return found


class TrialAcceptance:
    """The decisions s + (1 - s) U < exp(-t / 2^47), as 1 or 0.

    t = offset (2 start + offset + 1), and s is the share of the block's greatest probability that its cells
    have. t / 2^47 is below 1/7, so that `falling_exponential` is within 2^-32; floats of the two sides are
    believed where they differ by more than the band of 2^-31. Enclosures of both decide about the others.
    """

    blocks = 1

    def __init__(self, blocks: Integers, offsets: Integers) -> None:
        self._blocks, self._offsets = blocks, offsets

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …: 1 keeps the candidate."""
        lanes = slice(lane, lane + len(words))
        blocks, offsets = self._blocks[lanes], self._offsets[lanes]
        steps = ((blocks << (_OFFSET_BITS + 1)) + offsets + 1) * offsets
        cuts = falling_exponential(steps.astype(np.float64) * (0.5 / _SPREAD))
        shares = _shares().take(blocks)
        levels = words * 2.0**-64
        levels *= 1 - shares
        levels += shares
        kept = (levels < cuts).astype(np.int64)
        for position in np.flatnonzero(np.abs(cuts - levels) <= BAND):
            kept[position] = _settle(
                int(words[position]), int(blocks[position]), int(steps[position]), source
            )
        return kept


def _settle(word: int, block: int, steps: int, source: Source) -> int:
    """Decide it for the U that starts with the 64 bits of `word`."""
    known = 64
    while True:
        bits = known + 64
        low, high = exponential(Fraction(steps, 2 * _SPREAD), bits)
        share_low, share_high = _share(block, bits)
        least = (share_low << known) + ((1 << bits) - share_low) * word
        most = (share_high << known) + ((1 << bits) - share_high) * (word + 1)
        if most <= low << known:
            return 1
        if least >= high << known:
            return 0
        word = (word << 64) | source.bits(64)
        known += 64


def _share(block: int, bits: int) -> Enclosure:
    """Enclose how much of a block's greatest probability its cells have."""
    working = bits + _GUARD_BITS
    cells = cells_of_blocks()[block] << working
    low, high = quotient((cells, cells), in_cells(block, 0, working), working)
    return low >> _GUARD_BITS, min(-(-high >> _GUARD_BITS), 1 << bits)


@lru_cache(maxsize=1)
def _shares() -> NDArray[np.float64]:
    """Return the shares of all blocks, within 2^-50."""
    shares = noise_tables().shares
    return shares[:, 0] * 2.0**-62 + shares[:, 1] * 2.0**-124


@lru_cache(maxsize=1)
def _blocks() -> NDArray[np.int16]:
    """Return the block of each cell, or what says that it has none."""
    tables = noise_tables()
    found = tables.blocks.copy()
    found[tables.decided :] = _NO_BLOCK
    return found


@lru_cache(maxsize=1)
def _rest_table() -> AliasTable:
    """Return the law of a trial's block and sign: ~b stands for the mirror image of block b."""
    values = [value for block in range(BLOCKS) for value in (block, ~block)]
    return AliasTable(values, _signed_masses)


def _signed_masses(bits: int) -> list[Enclosure]:
    return [(low // 2, -(-high // 2)) for low, high in rest_masses(bits) for _ in "+-"]


@lru_cache(maxsize=1)
def _kept() -> float:
    """Return about how often a trial is accepted."""
    starts = sum(in_cells(block, 0, _GUARD_BITS)[0] for block in range(BLOCKS)) / (1 << _GUARD_BITS)
    return (CELLS - noise_tables().decided) / (2 * (starts - sum(cells_of_blocks())))


def _trials(size: int) -> int:
    """Return how many trials are made for a vector, so that they are enough but with 2^-40."""
    rest = 1 - noise_tables().decided / CELLS
    most = size * rest + _SPARE * sqrt(size * rest) + _SPARE**2
    return int((most + _SPARE * sqrt(most)) / _kept()) + 1


def _draw_rest(trials: int, source: Source) -> NDArray[np.int32]:
    """Make some trials, and return the values of those that are accepted."""
    signed = source.decide(_rest_table(), trials)
    offsets = source.decide(UniformBits(_OFFSET_BITS), trials)
    signs = signed >> 63
    blocks = signed ^ signs
    kept = source.decide(TrialAcceptance(blocks, offsets), trials)
    blocks <<= _OFFSET_BITS
    blocks |= offsets
    blocks ^= signs
    found: NDArray[np.int32] = blocks[kept == 1].astype(np.int32)
    return found
