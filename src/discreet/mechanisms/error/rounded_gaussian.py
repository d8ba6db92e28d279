"""The error of rounded Gaussian noise, for one value and for norms of vectors.

N = round(sigma Z), so P(|N| > m) = 2 Q((m + 1/2) / sigma), with sigma in steps. By Poisson's summation N
has the variance and the moments of sigma Z plus a uniform number of one step, except for terms that fall as
exp(-2 pi^2 sigma^2): docs/proofs/gaussian.md, proposition 8.
"""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, pi, sqrt

from discreet.mechanisms.error.base import any_of
from discreet.mechanisms.error.gaussian import NormalError, NormalNoise
from discreet.mechanisms.error.magnitude_sums import RoundedMagnitude
from discreet.records import dataclass

__all__ = [
    "RoundedGaussianError",
    "RoundedGaussianL1",
    "RoundedGaussianMaximum",
    "rounded_variance",
    "sub_gaussian_variance",
]

_LEAST_CLOSED = 1.0
"""From this variance on, in steps, the series in n is short; below, the sum over tails is."""
_LARGEST_SUMMED = 64.0
_NEGLIGIBLE = 1e-20


def _upper_tail(sigma: float, edge: float) -> float:
    return erfc(edge / (sigma * sqrt(2))) / 2


def rounded_variance(variance: float) -> float:
    """Return E round(X)^2 for a normal X of this variance, both in squared steps.

    v + 1/12 + 4 times the sum over n >= 1 of (-1)^n exp(-2 pi^2 n^2 v) (v + 1 / (4 pi^2 n^2)), or the sum
    over k >= 0 of (2 k + 1) P(|N| > k), whose terms are positive.
    """
    if variance >= _LEAST_CLOSED:
        return variance + 1 / 12 + 4 * sum((-1) ** n * _ripple(variance, n) for n in (1, 2))
    total, k = 0.0, 0
    while (term := 2 * (2 * k + 1) * _upper_tail(sqrt(variance), k + 0.5)) > _NEGLIGIBLE * total:
        total, k = total + term, k + 1
    return total


def sub_gaussian_variance(variance: float) -> float:
    """Return a w with E exp(x round(X)) <= exp(x^2 w / 2) for all x: the series with all signs positive."""
    total, n = variance + 1 / 12, 1
    while (term := 4 * _ripple(variance, n)) > _NEGLIGIBLE and n < 1000:
        total, n = total + term, n + 1
    # What is left out is at most the tail of the sum of 1 / (pi n)^2 and, where it was cut off, of 4 v.
    return total + (0.0 if n < 1000 else 1 / (pi * pi * n) + 4 * variance)


def _ripple(variance: float, n: int) -> float:
    return exp(-2 * (pi * n) ** 2 * variance) * (variance + 1 / (2 * pi * n) ** 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedGaussianL1(NormalNoise):
    """The law of |N_1| + … + |N_d|: exact."""

    def tail_in_steps(self, steps: int) -> float:
        """Return the probability that the sum of the magnitudes exceeds m."""
        sigma = sqrt(self._spread)
        if self.size == 1:
            return 2 * _upper_tail(sigma, steps + 0.5)
        return RoundedMagnitude(sigma).sum_tail(self.size, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedGaussianMaximum(NormalNoise):
    """The law of the largest |N_i|: exact, 1 - (1 - P(|N| > m))^d."""

    def tail_in_steps(self, steps: int) -> float:
        """Return the probability that any of them exceeds m."""
        return any_of(self.size, 2 * _upper_tail(sqrt(self._spread), steps + 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedGaussianError(NormalError):
    """The law of |N|, the error of each value: exact.

    `l1`, `l2` and `maximum` are the laws of the norms of all `size` errors together.
    """

    @property
    def variance(self) -> float:
        """Var N: sigma^2 + step^2 / 12, in double precision above a few steps."""
        return rounded_variance(float(self._spread)) * float(self.step) ** 2

    @property
    def sub_gaussian(self) -> float:
        """A w with E exp(x N) <= exp(x^2 w / 2) for all x, in data units squared."""
        return sub_gaussian_variance(float(self._spread)) * float(self.step) ** 2

    @property
    def mean_absolute(self) -> float:
        """E|N|, the sum of P(|N| > k); above 64 steps by Euler and Maclaurin, to a part of 1e-12."""
        sigma = sqrt(self._spread)
        if sigma > _LARGEST_SUMMED:
            steps = sigma * sqrt(2 / pi) - (1 / (12 * sigma) + 7 / (2880 * sigma**3)) / sqrt(2 * pi)
        else:
            steps = sum(2 * _upper_tail(sigma, k + 0.5) for k in range(int(39 * sigma) + 2))
        return steps * float(self.step)

    def tail_in_steps(self, steps: int) -> float:
        """P(|N| > m) = 2 Q((m + 1/2) / sigma)."""
        return 2 * _upper_tail(sqrt(self._spread), steps + 0.5)

    @property
    def _bounding_square(self) -> Fraction:
        return Fraction(sub_gaussian_variance(float(self._spread))) * self.step**2

    @property
    def l1(self) -> RoundedGaussianL1:
        """The law of the sum of all absolute errors."""
        return RoundedGaussianL1(
            squared_sigma=self.squared_sigma,
            step=self.step,
            rounding=self.size * self.rounding,
            size=self.size,
        )

    @property
    def maximum(self) -> RoundedGaussianMaximum:
        """The law of the largest absolute error."""
        return RoundedGaussianMaximum(
            squared_sigma=self.squared_sigma, step=self.step, rounding=self.rounding, size=self.size
        )
