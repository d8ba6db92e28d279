"""Levels: the first n with U < p_n, for rational probabilities p_1 <= p_2 <= … <= p_N = 1, exactly."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = ["Levels", "sample_levels"]

_WORD = 64
_LAST_WORD = (1 << _WORD) - 1


class Levels:
    """The decision "the first n with U < p_n", n = 1, …, N: the inversion of a rational law.

    The p_n are multiples of 2^-bits. A word is compared with the floors of p_n 2^64, always with the
    same number of comparisons, and decides unless it equals one of them. Then `bits` further bits of the
    same uniform number are drawn, whose comparison with the p_n is exact.

    Parameters
    ----------
    numerators : sequence of int
        p_n 2^bits for n = 1, …, N, not decreasing; the last one is 2^bits.
    bits : int
        At least 64.
    """

    blocks = 1

    def __init__(self, numerators: Sequence[int], bits: int) -> None:
        ordered = all(a <= b for a, b in pairwise(numerators))
        if bits < _WORD or not ordered or not numerators or numerators[0] < 0 or numerators[-1] != 1 << bits:
            raise ParameterError(
                "numerators", "are not a cumulative law", "integers from 0 to 2^bits that do not decrease"
            )
        self.numerators = tuple(numerators)
        self.bits = bits
        self._last = len(numerators) - 1
        self._rounds = self._last.bit_length()
        # Whatever the padding says, the last level is certain.
        floors = [numerator >> (bits - _WORD) for numerator in numerators[:-1]]
        floors = [min(floor, _LAST_WORD) for floor in floors]
        self._floors = np.array(floors + [_LAST_WORD] * ((1 << self._rounds) - len(floors)), np.uint64)

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        below = np.zeros(len(words), np.int64)  # how many floors a word reaches
        for turn in range(self._rounds - 1, -1, -1):
            reached = self._floors.take(below + ((1 << turn) - 1)) <= words
            below += reached.astype(np.int64) << turn
        undecided = (self._floors.take(np.maximum(below - 1, 0)) == words) & (below > 0)
        levels = np.minimum(below, self._last) + 1
        if undecided.any():
            for position in np.flatnonzero(undecided):
                levels[position] = self._settle(int(words[position]), source)
        return levels

    def _settle(self, word: int, source: Source) -> int:
        """Decide with as many bits as the probabilities have: U < p exactly if floor(2^bits U) < 2^bits p."""
        more = -(-(self.bits - _WORD) // _WORD) * _WORD
        uniform = (word << more) | (source.bits(more) if more else 0)
        return bisect_right(self.numerators, uniform >> (_WORD + more - self.bits)) + 1


def sample_levels(levels: Levels, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` levels: n with probability p_n - p_(n - 1), exactly."""
    return source.decide(levels, check_size(size))
