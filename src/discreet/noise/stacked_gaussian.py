"""Normal noise from two look-ups in one table: what accelerators draw.

The table holds the magnitudes of a discrete Gaussian of standard deviation 4096. With independent draws A and
B from it, signs included, X = A + 2048 B is a discrete Gaussian of variance 4096^2 (1 + 2048^2), up to a
factor of 1 +- 2^-108 at every integer, and within 2^-83 a rounded Gaussian (proof:
docs/proofs/stacked_gaussian.md). Every draw costs two words of 32 bits and two look-ups, whatever its result.

A word has a cell of 16 bits, then 15 bits that are compared with the cell's cut point, then a sign. Where the
15 bits are those of the cut point, further words of 32 bits decide, up to 143 bits in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.alias import AliasTable
from discreet.noise.enclosure import quotient
from discreet.noise.gaussian import weight_series

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.array_types import Integers
    from discreet.noise.enclosure import Enclosure

__all__ = ["CELLS", "EXTRA_WORDS", "FACTOR", "VARIANCE", "LookUpTable", "look_up_table"]

_DEVIATION = 4096
FACTOR = 2048
"""What the second draw is multiplied by: half the table's standard deviation (lemma 2)."""
VARIANCE = _DEVIATION**2 * Fraction(1 + FACTOR**2) - Fraction(1, 12)
"""Of the ideal normal number whose rounding the stack is: that of the draws, less 1/12 (lemma 3)."""
CELLS = 1 << 16
"""Magnitudes in the table: up to 16 standard deviations."""
EXTRA_WORDS = 4
"""Words of 32 bits that settle a look-up whose first 15 bits are those of its cut point."""

_CUT_BITS = 15
_GUARD_BITS = 32


@dataclass(frozen=True, eq=False)
class LookUpTable:
    """The table of magnitudes, as words.

    Attributes
    ----------
    entries : array of uint32
        Of each cell: the first 15 bits of its cut point, then the 16 bits of the other magnitude.
    digits : array of uint32, (cells, 4)
        The 128 bits of the cut point that follow.
    """

    entries: NDArray[np.uint32]
    digits: NDArray[np.uint32]

    def draw(self, words: NDArray[np.uint32], more: Callable[[Integers], NDArray[np.uint32]]) -> Integers:
        """Turn words into integers; `more(places)` returns the next word for those that need one.

        This is the definition that kernels on accelerators are compared with.
        """
        cells = (words >> np.uint32(16)).astype(np.int64)
        position = (words >> np.uint32(1)) & np.uint32((1 << _CUT_BITS) - 1)
        cut = self.entries[cells] >> np.uint32(16)
        is_below, open_places = position < cut, np.flatnonzero(position == cut)
        for place in range(EXTRA_WORDS):
            if not len(open_places):
                break
            digit, word = self.digits[cells[open_places], place], more(open_places)
            is_below[open_places] = word < digit
            open_places = open_places[word == digit]
        other = (self.entries[cells] & np.uint32(CELLS - 1)).astype(np.int64)
        magnitude = np.where(is_below, cells, other)
        return np.where(words & np.uint32(1), -magnitude, magnitude)


@lru_cache(maxsize=1)
def look_up_table() -> LookUpTable:
    """Return the certified table. The mass beyond it, below 2^-184, is added to the largest magnitude."""
    table = AliasTable(range(CELLS), _masses)
    positions = table.cut_positions(_CUT_BITS + 32 * EXTRA_WORDS)
    first = np.array([one >> (32 * EXTRA_WORDS) for one in positions], np.uint32)
    other = np.array([table.alias(cell) for cell in range(CELLS)], np.uint32)
    digits = [
        [one >> (32 * place) & 0xFFFFFFFF for one in positions] for place in reversed(range(EXTRA_WORDS))
    ]
    return LookUpTable(first << np.uint32(16) | other, np.ascontiguousarray(np.array(digits, np.uint32).T))


def _masses(bits: int) -> list[Enclosure]:
    """Enclose the probabilities of the magnitudes 0, 1, …, the last with all that follow."""
    working = bits + _GUARD_BITS
    kept, rest = weight_series(Fraction(1, 2 * _DEVIATION**2), CELLS, working)
    weights = [kept[0], *((2 * low, 2 * high) for low, high in kept[1:])]
    weights[-1] = (weights[-1][0] + 2 * rest[0], weights[-1][1] + 2 * rest[1])
    total = sum(low for low, _ in weights), sum(high for _, high in weights)
    scaled = (quotient(weight, total, working) for weight in weights)
    return [(low >> _GUARD_BITS, -(-high >> _GUARD_BITS)) for low, high in scaled]
