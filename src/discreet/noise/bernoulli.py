"""Coins with probability p, and with probability exp(-k rate), both exact."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.enclosure import exponential
from discreet.noise.parameters import check_draws, check_exponents, check_rate, check_rational
from discreet.noise.powers import RELATIVE_ERROR, Powers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.entropy import Source

__all__ = [
    "Coin",
    "ExponentialCoin",
    "ExponentialCoins",
    "bernoulli",
    "bernoulli_exponential",
    "settle_exponential",
]


class Coin:
    """The decision U < p for one rational p, as 1 or 0."""

    blocks = 1

    def __init__(self, probability: Fraction) -> None:
        self._probability = probability
        self._floor = (probability.numerator << 64) // probability.denominator

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        if self._floor >> 64:
            return np.ones(len(words), np.int64)
        cut = np.uint64(self._floor)
        heads = (words < cut).astype(np.int64)
        undecided = words == cut
        if undecided.any():
            for position in np.flatnonzero(undecided):
                heads[position] = self._settle(int(words[position]), source)
        return heads

    def _settle(self, word: int, source: Source) -> int:
        numerator, denominator = self._probability.numerator, self._probability.denominator
        known = 64
        while True:
            if (word + 1) * denominator <= numerator << known:
                return 1
            if word * denominator >= numerator << known:
                return 0
            word = (word << 64) | source.bits(64)
            known += 64


def settle_exponential(word: int, exponent: Fraction, source: Source) -> int:
    """Decide U < exp(-exponent), as 1 or 0, for the U that starts with the 64 bits of `word`."""
    known = 64
    while exponent > 0:
        low, high = exponential(exponent, known + 64)
        if (word + 1) << 64 <= low:
            return 1
        if word << 64 >= high:
            return 0
        word = (word << 64) | source.bits(64)
        known += 64
    return 1


class ExponentialCoin:
    """The decision U < exp(-exponent) for one rational exponent, by enclosures alone."""

    blocks = 1

    def __init__(self, exponent: Fraction) -> None:
        self._exponent = exponent

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        heads = [settle_exponential(int(word), self._exponent, source) for word in words]
        return np.array(heads, np.int64)


class ExponentialCoins:
    """The decisions U < exp(-k rate), one integer k >= 0 for each lane, as 1 or 0.

    The comparison is made in floats and believed only outside a band around the cut point
    that is wider than all rounding; inside it (probability below 2^-40) further bits are
    compared with an enclosure of the power.
    """

    blocks = 1

    def __init__(self, exponents: NDArray[np.int64], powers: Powers) -> None:
        self._exponents = exponents
        self._powers = powers

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …, one word each."""
        exponents = self._exponents[lane : lane + len(words)]
        cuts = self._powers.approximate(exponents) * 2.0**64
        uniforms = words.astype(np.float64)
        # Four times the error covers the power, the conversion of the word, and this line.
        band = cuts * (4 * RELATIVE_ERROR) + 4.0
        heads = (uniforms < cuts).astype(np.int64)
        undecided = np.abs(uniforms - cuts) <= band
        if undecided.any():
            for position in np.flatnonzero(undecided):
                exponent = int(exponents[position]) * self._powers.rate
                heads[position] = settle_exponential(int(words[position]), exponent, source)
        return heads


def bernoulli(probability: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` coins that show 1 with a rational probability, exactly."""
    probability = check_rational(probability, "probability")
    if not 0 <= probability <= 1:
        raise ParameterError("probability", "is out of range", "a rational from 0 to 1")
    return source.decide(Coin(probability), check_draws(size))


def bernoulli_exponential(exponents: NDArray[np.int64], rate: Fraction, source: Source) -> NDArray[np.int64]:
    """Draw one coin for each integer k >= 0 that shows 1 with probability exp(-k rate), exactly."""
    powers = Powers(check_rate(rate))
    return source.decide(ExponentialCoins(check_exponents(exponents), powers), len(exponents))
