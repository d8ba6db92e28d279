"""Normal noise of which nearly all is one word and one look-up: what gradients of deep learning get.

The law is D(k), proportional to exp(-(k + 1/2)^2 / (2 w)) with w = 2^46, which is within 2^-83 that of the
floor of a normal number of deviation 2^23. Integers come in blocks of 2^16, k = 2^16 b + offset, and a block
and its mirror image ~b weigh the same. Of 2^16 equally likely cells each block has as many as fit below its
least probability, so that a word of 32 bits has a cell and an offset. One cell in ninety has no block and
stands for the rest of the law. Its values are drawn by trials: a block by an alias table, a sign, an offset,
and U, which accepts them if s + (1 - s) U < exp(-t / 2^47), where t = offset (2 start + offset + 1) and s is
the share of the block's greatest probability that its cells have (proof: docs/proofs/one_word_gaussian.md).

Here are the tables, in the form that kernels read. On the processor `one_word_draws` draws the same law.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.alias import AliasTable
from discreet.noise.enclosure import exponential, product, quotient
from discreet.noise.normal_cells import root_of_two_pi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.enclosure import Enclosure

__all__ = [
    "BLOCKS",
    "CELLS",
    "CUT_BITS",
    "LIMB_BITS",
    "VARIANCE",
    "NoiseTables",
    "cells_of_blocks",
    "in_cells",
    "noise_tables",
    "rest_masses",
]

_SPREAD = 1 << 46
VARIANCE = _SPREAD - Fraction(1, 12)
"""Of the ideal normal number whose floor the draws are: theirs, less 1/12 (lemma 3)."""
CELLS = 1 << 16
BLOCKS = 1 << 11
"""On either side of 0: up to 16 standard deviations."""
CUT_BITS = 36
"""Bits of a cut point that a trial's words are compared with at first; 128 more decide where they tie."""
LIMB_BITS = 62
"""Shares and powers are two integers of so many bits."""

_OFFSET_BITS = 16
_FINE_STEPS = 21  # log2, of which 2^47 are 1: a power is coarse^i fine^j exp(-less than 2^21 steps)
_POWER_BITS = 12
_CERTIFIED_BITS = 256
_GUARD_BITS = 64


@dataclass(frozen=True, eq=False)
class NoiseTables:
    """What one draw looks up, and what the trials for the rest do.

    Attributes
    ----------
    blocks : array of int16
        The block b of each cell.
    decided : int
        How many cells have a block. They come first.
    others : array of int32
        The alias table of trials: the block that a cell gives what is above its cut to.
    cuts : array of uint64, (blocks, 3)
        The first 36 bits of the cut points, and twice the next 64.
    shares : array of uint64, (blocks, 2)
        The share s of each block, rounded down to 124 bits.
    powers : array of uint64, (2, 4096, 2)
        exp(-i 2^-14) and exp(-i 2^-26), rounded down to 124 bits.
    """

    blocks: NDArray[np.int16]
    decided: int
    others: NDArray[np.int32]
    cuts: NDArray[np.uint64]
    shares: NDArray[np.uint64]
    powers: NDArray[np.uint64]


@lru_cache(maxsize=1)
def noise_tables() -> NoiseTables:
    """Return the certified tables. What is beyond them, below 2^-184, is never drawn."""
    counts = cells_of_blocks()
    upwards = np.repeat(np.arange(BLOCKS, dtype=np.int16), counts)
    blocks = np.zeros(CELLS, np.int16)
    decided = 2 * len(upwards)
    blocks[:decided] = np.concatenate([upwards, ~upwards])
    starts = [in_cells(block, 0, _CERTIFIED_BITS) for block in range(BLOCKS)]
    alias = AliasTable(range(BLOCKS), rest_masses)
    return NoiseTables(
        blocks,
        decided,
        np.array([alias.alias(cell) for cell in range(BLOCKS)], np.int32),
        _split(alias.cut_positions(CUT_BITS + 128), 64, 3),
        _split([_share(*one) for one in zip(counts, starts, strict=True)], LIMB_BITS, 2),
        np.stack([_powers_of(_FINE_STEPS + _POWER_BITS), _powers_of(_FINE_STEPS)]),
    )


@lru_cache(maxsize=1)
def cells_of_blocks() -> tuple[int, ...]:
    """Return how many cells each block has, on either side."""
    last = (1 << _OFFSET_BITS) - 1
    return tuple(_floor(in_cells(block, last, _CERTIFIED_BITS), 0) for block in range(BLOCKS))


def in_cells(block: int, offset: int, bits: int) -> Enclosure:
    """Enclose the probability, in cells, that each integer of a block would need to have that of one."""
    odd = 2 * ((block << _OFFSET_BITS) + offset) + 1
    return product(_greatest(bits), exponential(Fraction(odd * odd, 8 * _SPREAD), bits), bits)


@lru_cache(maxsize=8)
def _greatest(bits: int) -> Enclosure:
    """Enclose 2^32 / sqrt(2 pi w)."""
    cells = CELLS << (_OFFSET_BITS + bits)
    return quotient((cells, cells), root_of_two_pi(Fraction(_SPREAD), bits), bits)


def rest_masses(bits: int) -> list[Enclosure]:
    """Enclose the probabilities of the blocks of trials."""
    working = bits + _GUARD_BITS
    weights = (in_cells(block, 0, working) for block in range(BLOCKS))
    masses = [
        (low - (count << working), high - (count << working))
        for (low, high), count in zip(weights, cells_of_blocks(), strict=True)
    ]
    total = sum(low for low, _ in masses), sum(high for _, high in masses)
    scaled = (quotient(mass, total, working) for mass in masses)
    return [(low >> _GUARD_BITS, -(-high >> _GUARD_BITS)) for low, high in scaled]


def _share(count: int, start: Enclosure) -> int:
    cells = count << _CERTIFIED_BITS
    return _floor(quotient((cells, cells), start, _CERTIFIED_BITS), 2 * LIMB_BITS)


def _powers_of(steps: int) -> NDArray[np.uint64]:
    """Return exp(-i 2^steps / 2^47) for i = 0, 1, …, 4095."""
    factor = exponential(Fraction(1 << steps, 2 * _SPREAD), _CERTIFIED_BITS)
    one = 1 << _CERTIFIED_BITS
    power, found = (one, one), list[int]()
    for _ in range(1 << _POWER_BITS):
        found.append(_floor(power, 2 * LIMB_BITS))
        power = product(power, factor, _CERTIFIED_BITS)
    return _split(found, LIMB_BITS, 2)


def _floor(number: Enclosure, bits: int) -> int:
    """Return the first bits of a number, which both of its ends share."""
    low, high = (end >> (_CERTIFIED_BITS - bits) for end in number)
    if low != high:
        raise ArithmeticError("a table of noise cannot be certified at this precision")
    return low


def _split(numbers: list[int], bits: int, count: int) -> NDArray[np.uint64]:
    """Return numbers in so many parts, of which all but the first have so many bits."""
    first, *others = (bits * place for place in reversed(range(count)))
    mask = (1 << bits) - 1
    return np.array(
        [[number >> first, *(number >> place & mask for place in others)] for number in numbers], np.uint64
    )
