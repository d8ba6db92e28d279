"""The noises with which keys are counted: symmetric, on the integers, with tails that are known exactly.

Each law is log-concave: P(N = k)^2 >= P(N = k - 1) P(N = k + 1). So is then P(N < k), as a function of k,
which is what the proof for persons of several rows rests on (proof: counted_keys, lemma 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.tails import TAIL_BITS, gaussian_tail, laplace_tail, rounded_tail
from discreet.noise import Source, sample_gaussian, sample_laplace, sample_rounded_gaussian
from discreet.noise.enclosure import Enclosure, exponential
from discreet.noise.levels import Levels, sample_levels
from discreet.records import Record, dataclass

__all__ = ["CountingGaussian", "CountingLaplace", "CountingNoise", "CountingRounded", "CountingTruncated"]

MOST_REACH = 1 << 16
"""The farthest that truncated noise may reach: its table is made and checked in a fraction of a second."""

_GUARD_BITS = 128
_LEEWAY = Fraction(1, 1 << 40)
"""By how much of itself the loss of a step is lowered, so that rounding a table cannot raise it above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingNoise(ABC):
    """A symmetric law on the integers."""

    @property
    @abstractmethod
    def variance_of_noise(self) -> float:
        """Its variance."""

    @abstractmethod
    def tail(self, least: int, bits: int = TAIL_BITS) -> Enclosure:
        """Enclose P(N >= least) at `TAIL_BITS` bits, as narrowly as so many do."""

    @abstractmethod
    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return P(N >= least) for many, each within a billionth of itself; what is tiny may be 0."""

    @abstractmethod
    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingLaplace(CountingNoise):
    """Discrete Laplace noise: P(k) ∝ exp(-abs(k) / scale)."""

    scale: Fraction

    @property
    def variance_of_noise(self) -> float:
        """2 r / (1 - r)^2, r = exp(-1 / scale)."""
        ratio, gap = exp(-1 / self.scale), -expm1(-1 / self.scale)
        return 2 * ratio / gap**2

    def tail(self, least: int, bits: int = TAIL_BITS) -> Enclosure:
        """r^m / (1 + r) for m >= 1."""
        return laplace_tail(self.scale, least, bits)

    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same in floats."""
        scale = float(self.scale)
        beyond = np.exp(-np.where(least >= 1, least, 1 - least) / scale) / (1 + exp(-1 / scale))
        return np.where(least >= 1, beyond, 1 - beyond)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Draw."""
        return sample_laplace(self.scale, size, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingGaussian(CountingNoise):
    """Discrete Gaussian noise: P(k) ∝ exp(-k^2 / (2 variance))."""

    variance: Fraction

    @property
    def variance_of_noise(self) -> float:
        """At most the parameter."""
        return float(self.variance)

    def tail(self, least: int, bits: int = TAIL_BITS) -> Enclosure:
        """A quotient of sums."""
        return gaussian_tail(self.variance, least, bits)

    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same in floats, where terms below 1e-300 count as nothing."""
        sums = _gaussian_sums(self.variance)
        places = np.minimum(np.where(least >= 1, least, 1 - least), len(sums) - 1)
        beyond = sums[places] / (sums[0] + sums[1])
        return np.asarray(np.where(least >= 1, beyond, 1 - beyond), np.float64)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Draw."""
        return sample_gaussian(self.variance, size, source)


@lru_cache(maxsize=8)
def _gaussian_sums(variance: Fraction) -> NDArray[np.float64]:
    """Return the sums of exp(-k^2 / (2 variance)) over k >= m, for m = 0, 1, …, the last one 0."""
    steps = np.arange(int(38 * sqrt(variance)) + 3, dtype=np.float64)
    terms = np.exp(-(steps**2) / (2 * float(variance)))
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingRounded(CountingNoise):
    """Normal noise, rounded to the nearest integer."""

    variance: Fraction

    @property
    def variance_of_noise(self) -> float:
        """At most that of the normal law and 1/4; about 1/12 more than the former."""
        return float(self.variance) + 1 / 12

    def tail(self, least: int, bits: int = TAIL_BITS) -> Enclosure:
        """The normal tail from least - 1/2."""
        return rounded_tail(self.variance, least, bits)

    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same in floats."""
        from scipy.special import ndtr

        return np.asarray(ndtr((0.5 - least) / sqrt(self.variance)), np.float64)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Draw."""
        return sample_rounded_gaussian(self.variance, size, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingTruncated(Record, CountingNoise):
    """Discrete Laplace noise on -reach, …, reach: P(k) ∝ about exp(-abs(k) / scale).

    Guarantee
    ---------
    The masses are multiples of 2^-bits, and of two neighboring ones neither is more than exp(1 / scale)
    times the other: checked in integers when the table is made (proof: counted_keys, lemma 4).
    """

    scale: Fraction
    reach: int
    _levels: Levels = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.reach <= MOST_REACH:
            raise ParameterError("reach", "is out of range", f"at least 1 and at most {MOST_REACH}")
        self._amend(_levels=_table(self.scale, self.reach))

    @property
    def variance_of_noise(self) -> float:
        """By the table."""
        steps = np.arange(-self.reach, self.reach + 1, dtype=np.float64)
        return float((steps**2 * self._masses).sum())

    @property
    def _masses(self) -> NDArray[np.float64]:
        levels = self._levels
        return np.array([(b - a) / (1 << levels.bits) for a, b in pairwise((0, *levels.numerators))])

    def exceeding(self, shift: int) -> Fraction:
        """Return P(N > reach - shift): what no noise on the other side of a shift can give."""
        levels = self._levels
        place = min(shift, len(levels.numerators))
        return Fraction(levels.numerators[place - 1], 1 << levels.bits)

    def tail(self, least: int, bits: int = TAIL_BITS) -> Enclosure:
        """By the table: exact, but for the last bit."""
        del bits
        if least > self.reach:
            return 0, 0
        if least <= -self.reach:
            return 1 << TAIL_BITS, 1 << TAIL_BITS
        chance = self.exceeding(self.reach - least + 1) * (1 << TAIL_BITS)
        return chance.__floor__(), chance.__ceil__()

    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same in floats."""
        masses = np.append(self._masses[::-1].cumsum()[::-1], 0.0)
        return np.asarray(masses[np.clip(least + self.reach, 0, len(masses) - 1)], np.float64)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """Draw by inversion, in as many comparisons for one number as for another."""
        return self.reach + 1 - sample_levels(self._levels, size, source)


@lru_cache(maxsize=32)
def _table(scale: Fraction, reach: int) -> Levels:
    """Return the law of reach + 1 - N, as cumulative multiples of 2^-bits, once it was checked.

    The masses are proportional to exp(-abs(k) / s) for an s slightly above the scale; the cumulative ones are
    rounded down.
    """
    step = (1 - _LEEWAY) / scale
    bits = _GUARD_BITS + (step * (reach + 1) * 3 / 2).__ceil__() + reach.bit_length()
    ratio, weights = exponential(step, 2 * bits)[0], [1 << (2 * bits)]
    for _ in range(reach):
        weights.append(weights[-1] * ratio >> 2 * bits)
    sums = list(accumulate([*weights[:0:-1], *weights]))
    numerators = [(one << bits) // sums[-1] for one in sums]
    masses = [b - a for a, b in pairwise((0, *numerators))]
    fall = exponential(1 / scale, bits)[1]  # at least exp(-1 / scale) 2^bits
    if not all((a * fall) >> bits < b and (b * fall) >> bits < a for a, b in pairwise(masses)):
        raise ParameterError(
            "scale", "is so large or so small that no table is exact enough", "a moderate one"
        )
    return Levels(numerators, max(bits, 64))
