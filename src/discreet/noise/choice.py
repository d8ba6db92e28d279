"""Choosing one of n candidates with probability proportional to exp(-k rate), exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.parameters import check_exponents, check_rate
from discreet.noise.powers import RELATIVE_ERROR, Powers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = ["ExponentialWeightsDecision", "choose"]

_WEIGHT_BITS = 60
_HALF_BITS = 30


class ExponentialWeightsDecision:
    """The decision "the first i with U S <= C_i": inversion of the cumulative weights C_0 <= … <= S.

    The weights are floats of proven accuracy, truncated to 60 bits and summed as integers in
    two halves, so every cumulative sum is known to within `_slack`. The search makes the same
    number of comparisons for every outcome. When U falls within the slack of a
    boundary, enclosures of all weights decide, at the precision that is needed.
    """

    blocks = 1

    def __init__(self, exponents: NDArray[np.int64], rate: Fraction) -> None:
        self._exponents = exponents
        self._powers = Powers(rate)
        weights = np.ldexp(self._powers.approximate(exponents), _WEIGHT_BITS).astype(np.int64)
        self._high = np.cumsum(weights >> _HALF_BITS)
        self._low = np.cumsum(weights & ((1 << _HALF_BITS) - 1))
        self._total = self._cumulative(len(exponents) - 1)
        relative = int(1 / RELATIVE_ERROR)
        self._slack = 2 * self._total // relative + len(exponents) + 1

    def _cumulative(self, index: int) -> int:
        return (int(self._high[index]) << _HALF_BITS) + int(self._low[index])

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        return np.array([self._one(int(word), source) for word in words], np.int64)

    def _one(self, word: int, source: Source) -> int:
        least = (word * (self._total - self._slack)) >> 64
        most = ((word + 1) * (self._total + self._slack) >> 64) + 1
        first, last = 0, len(self._exponents) - 1
        for _ in range(last.bit_length()):
            middle = (first + last) // 2
            if self._cumulative(middle) > least:
                last = middle
            else:
                first = min(middle + 1, last)
        below = self._cumulative(last - 1) + self._slack if last else -1
        above = self._cumulative(last) - self._slack
        if below < least and (most < above or last == len(self._exponents) - 1):
            return last
        return self._settle(word, source)

    def _settle(self, word: int, source: Source) -> int:
        """Decide with enclosures of every weight, narrower and narrower."""
        known = 64
        while True:
            bits = known + 64
            lows, highs = [], []
            low = high = 0
            enclosed = {
                int(exponent): self._powers.enclose(int(exponent), bits)
                for exponent in np.unique(self._exponents)
            }
            for exponent in self._exponents:
                weight = enclosed[int(exponent)]
                low, high = low + weight[0], high + weight[1]
                lows.append(low)
                highs.append(high)
            least, most = word * low, (word + 1) * high
            for index in range(len(lows)):
                boundary_low, boundary_high = lows[index] << known, highs[index] << known
                if most <= boundary_low or index == len(lows) - 1:
                    return index
                if least < boundary_high:
                    break
            word, known = (word << 64) | source.bits(64), known + 64


def choose(exponents: NDArray[np.int64], rate: Fraction, source: Source) -> int:
    """Return an index i with probability proportional to exp(-exponents[i] rate), exactly.

    Parameters
    ----------
    exponents : array of int64
        Non-negative integers, at least one of them zero.
    rate : Fraction
        Positive.
    source : Source
        Where the words come from.
    """
    rate, exponents = check_rate(rate), check_exponents(exponents)
    if exponents.size == 0:
        raise ParameterError("exponents", "are empty", "at least one integer")
    if int(exponents.min()) != 0:
        raise ParameterError("exponents", "do not start at zero", "non-negative integers with least 0")
    return int(source.decide(ExponentialWeightsDecision(exponents, rate), 1)[0])
