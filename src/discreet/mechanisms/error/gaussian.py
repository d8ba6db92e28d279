"""The error of discrete Gaussian noise, for one value and for norms of vectors.

P(N = k) is proportional to exp(-k^2 / (2 v)), with k and v in steps. Up to a standard
deviation of 4096 steps, sums over the law are taken term by term. Beyond, the Euler–Maclaurin formula with
one correction term replaces them; what it leaves out is below 1e-10 of the sum for all
deviations up to 39 standard deviations.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from math import exp, log, pi, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.error.base import ErrorLaw, any_of
from discreet.mechanisms.error.magnitude_sums import DiscreteMagnitude
from discreet.records import dataclass

__all__ = [
    "GaussianError",
    "GaussianL1",
    "GaussianL2",
    "GaussianMaximum",
    "NormalError",
    "NormalNoise",
    "probability_above",
    "tail_error",
]

_LARGEST_SUMMED = 4096
_DEVIATIONS = 39  # exp(-39^2 / 2) is less than the smallest float


@lru_cache(maxsize=16)
def _law(variance: Fraction) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(N = k) and P(N > k) for k = 0, 1, …, out to where both vanish."""
    magnitudes = np.arange(int(_DEVIATIONS * sqrt(variance)) + 3, dtype=np.float64)
    weights = np.exp(-(magnitudes**2) / (2 * float(variance)))
    beyond = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0)  # small terms are added first
    total = 1.0 + 2 * beyond[0]
    return weights / total, beyond / total


def probability_above(variance: Fraction, steps: int) -> float:
    """Return P(N > steps), for any integer."""
    if steps < 0:
        return 1.0 - probability_above(variance, -steps - 1)
    if variance <= _LARGEST_SUMMED**2:
        beyond = _law(variance)[1]
        return float(beyond[steps]) if steps < len(beyond) else 0.0
    from scipy.special import erfcx

    spread = float(variance)
    edge = (steps + 0.5) / sqrt(spread)
    correction = edge / (24 * spread * sqrt(2 * pi))
    return exp(-edge * edge / 2) * (float(erfcx(edge / sqrt(2))) / 2 - correction)


def tail_error(variance: Fraction, steps: int) -> float:
    """Bound the relative error of `probability_above` beyond the summed range.

    Rounding of the exponent z^2 / 2, where z = steps / sigma, a few further roundings, and the
    next term of the Euler–Maclaurin formula, 7 / 5760 of the third derivative, against the tail.
    """
    square = float(steps * steps / variance)
    return 4e-16 * (square + 10) + 0.002 * (square + 3) ** 2 / float(variance) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalNoise(ErrorLaw):
    """What all laws of normal noise share: the parameter sigma^2, in data units squared."""

    squared_sigma: Fraction

    @property
    def _spread(self) -> Fraction:
        """The parameter in steps squared."""
        return self.squared_sigma / self.step**2


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianL2(NormalNoise):
    """A bound on the law of the L2 norm: Chernoff's for chi-square.

    E exp(x N) <= exp(x^2 v / 2) for the discrete law, as for the continuous one, so
    E exp(x ||N||^2) <= (1 - 2 x v)^(-d / 2) and P(||N||^2 > T v) <= exp(-(T - d - d log(T / d)) / 2).
    """

    exact: ClassVar[bool] = False

    def tail_in_steps(self, steps: int) -> float:
        """Return Chernoff's bound."""
        ratio = float(steps) ** 2 / float(self._spread) / self.size
        return 1.0 if ratio <= 1 else exp(-(ratio - 1 - log(ratio)) * self.size / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianL1(NormalNoise):
    """The law of |N_1| + … + |N_d|: exact."""

    def tail_in_steps(self, steps: int) -> float:
        """Return the probability that the sum of the magnitudes exceeds m."""
        if self.size == 1:
            return 2 * probability_above(self._spread, steps)
        return DiscreteMagnitude(sqrt(self._spread)).sum_tail(self.size, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalError(NormalNoise):
    """The law of |N| for a noise with E exp(x N) <= exp(x^2 w / 2) for all x, which bounds the L2 norm."""

    @property
    @abstractmethod
    def _bounding_square(self) -> Fraction:
        """A w for which the inequality holds, in data units squared."""

    @property
    @abstractmethod
    def l1(self) -> NormalNoise:
        """The law of the sum of all absolute errors."""

    @property
    @abstractmethod
    def maximum(self) -> NormalNoise:
        """The law of the largest absolute error."""

    @property
    def l2(self) -> GaussianL2:
        """A bound on the law of the root of the sum of all squared errors."""
        rounding = self.size * self.rounding
        return GaussianL2(
            squared_sigma=self._bounding_square, step=self.step, rounding=rounding, size=self.size
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianMaximum(NormalNoise):
    """The law of the largest |N_i|: exact, 1 - (1 - P(|N| > m))^d."""

    def tail_in_steps(self, steps: int) -> float:
        """Return the probability that any of them exceeds m."""
        return any_of(self.size, 2 * probability_above(self._spread, steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianError(NormalError):
    """The law of |N|, the error of each value: exact.

    `l1`, `l2` and `maximum` are the laws of the norms of all `size` errors together.
    """

    @property
    def variance(self) -> float:
        """Var N, at most sigma^2 and equal to it in double precision above a few steps."""
        if self._spread > _LARGEST_SUMMED**2:
            return float(self.squared_sigma)
        probabilities = _law(self._spread)[0]
        magnitudes = np.arange(len(probabilities), dtype=np.float64)
        return float(2 * (magnitudes**2 @ probabilities)) * float(self.step) ** 2

    @property
    def sub_gaussian(self) -> float:
        """A w with E exp(x N) <= exp(x^2 w / 2) for all x: sigma^2, in data units squared."""
        return float(self.squared_sigma)

    @property
    def mean_absolute(self) -> float:
        """E|N|, close to sigma sqrt(2 / pi), in data units."""
        if self._spread > _LARGEST_SUMMED**2:
            spread = float(self._spread)
            return 2 * (spread - 1 / 12) / sqrt(2 * pi * spread) * float(self.step)
        probabilities = _law(self._spread)[0]
        magnitudes = np.arange(len(probabilities), dtype=np.float64)
        return float(2 * (magnitudes @ probabilities)) * float(self.step)

    def tail_in_steps(self, steps: int) -> float:
        """P(|N| > m) = 2 P(N > m)."""
        return 2 * probability_above(self._spread, steps)

    @property
    def _bounding_square(self) -> Fraction:
        return self.squared_sigma

    @property
    def l1(self) -> GaussianL1:
        """The law of the sum of all absolute errors."""
        return GaussianL1(
            squared_sigma=self.squared_sigma,
            step=self.step,
            rounding=self.size * self.rounding,
            size=self.size,
        )

    @property
    def maximum(self) -> GaussianMaximum:
        """The law of the largest absolute error."""
        return GaussianMaximum(
            squared_sigma=self.squared_sigma, step=self.step, rounding=self.rounding, size=self.size
        )
