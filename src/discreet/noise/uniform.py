"""Uniform integers, exact for every bound: no modulo bias and no rejection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import check_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = ["UniformBelow", "UniformBits", "uniform_below"]

_MOST = 1 << 62
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class UniformBelow:
    """The decision floor(bound U).

    With the first 64 bits of U read as the integer u, U lies in [u, u + 1) / 2^64 and
    bound U in [bound u, bound u + bound) / 2^64: the floor is known unless that interval
    crosses an integer, which happens to fewer than `bound` of the 2^64 words.
    """

    blocks = 1

    def __init__(self, bound: int) -> None:
        self._bound = bound

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        bound = np.uint64(self._bound)
        high, low = bound >> _HALF, bound & _LOW
        word_high, word_low = words >> _HALF, words & _LOW
        crossed = word_high * low
        other = word_low * high
        carry = ((word_low * low) >> _HALF) + (crossed & _LOW) + (other & _LOW)
        drawn = word_high * high + (crossed >> _HALF) + (other >> _HALF) + (carry >> _HALF)
        with np.errstate(over="ignore"):
            fraction = words * bound
            undecided = fraction > np.uint64(0) - bound
        if undecided.any():
            for position in np.flatnonzero(undecided):
                drawn[position] = self._settle(int(words[position]), source)
        integers: NDArray[np.int64] = drawn.view(np.int64)
        return integers

    def _settle(self, word: int, source: Source) -> int:
        known = 64
        while True:
            low, high = word * self._bound, (word + 1) * self._bound - 1
            if low >> known == high >> known:
                return low >> known
            word = (word << 64) | source.bits(64)
            known += 64


class UniformBits:
    """The decision floor(2^count U): the first bits of the word."""

    blocks = 1

    def __init__(self, count: int) -> None:
        self._shift = np.uint64(64 - count)

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane, source
        return (words >> self._shift).view(np.int64)


def uniform_below(bound: int, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` integers, uniform on 0, 1, …, bound - 1, exactly."""
    if isinstance(bound, bool) or not isinstance(bound, int | np.integer) or not 1 <= bound <= _MOST:
        raise ParameterError("bound", "is out of range", "an integer from 1 to 2^62")
    return source.decide(UniformBelow(int(bound)), check_draws(size))
