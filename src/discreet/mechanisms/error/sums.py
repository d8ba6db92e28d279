"""The error of a sum of independent noises of one law: what adding up many noisy numbers costs."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, inf, log, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.error.base import ErrorLaw
from discreet.mechanisms.error.gaussian import GaussianError
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.rounded_gaussian import RoundedGaussianError
from discreet.mechanisms.error.weighted import WeightedError
from discreet.privacy.rational import Number, confidence_level
from discreet.records import dataclass

__all__ = ["SumError"]

_BINS = 256
"""Noises are rounded to a 256th of their deviation, or to whole steps where these are wider."""
_MANTISSA = 5
"""Counts of noises are rounded up to so many binary digits, so that few laws have to be worked out."""
_ROUNDING_FAILURE = 1e-9
_DEVIATIONS = 9.0
"""How far out the law of a sum is tabulated; Chernoff's bound covers what lies beyond."""
_TRANSFORM = 1e-11
"""More than what a transform loses for each noise: docs/proofs/windows.md, lemma 1."""
_MOST_NOISES = 1 << 16
"""Beyond, the table would be long and its rounding large; Chernoff's bound is taken alone."""
_LEFT = 1e-16


@dataclass(frozen=True, slots=True, kw_only=True)
class SumError(ErrorLaw):
    """A bound on the magnitude of N_1 + … + N_m for independent noises of one law of integers.

    The least of three: Chernoff's bound; the law of the sum, worked out by a Fourier transform of the law of
    one noise rounded to a grid, with what rounding and the transform may add; and the union bound
    m P(abs(N) > t / m). Adding a noise never makes a sum of symmetric, unimodal ones smaller (Anderson), so
    the count is rounded up to five binary digits. Proof: windows, lemma 1.

    Attributes
    ----------
    law : ErrorLaw
        Of each noise, in steps.
    count : int
        How many there are.
    """

    law: ErrorLaw
    count: int

    exact: ClassVar[bool] = False

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        return self.count * _variance(self.law)

    def tail_in_steps(self, steps: int) -> float:
        """Bound P(abs(sum) > steps)."""
        united = min(1.0, self.count * self.law.tail(Fraction(steps, self.count)))
        known = isinstance(self.law, LaplaceError | GaussianError | RoundedGaussianError)
        if not known or self.count == 1 or self.law.step != 1 or self.law.rounding != 0:
            return united
        assert isinstance(self.law, LaplaceError | GaussianError | RoundedGaussianError)  # noqa: S101
        many = _rounded_up(self.count)
        found = min(united, _chernoff(self.law, many, steps))
        return min(found, _worked_out(self.law, many, steps)) if many <= _MOST_NOISES else found

    def quantile(self, confidence: Number) -> float:
        """Return the smallest t for which the bound on P(error > t) is at most 1 - confidence."""
        return _quantile(self, confidence_level(confidence))


@lru_cache(maxsize=4096)
def _quantile(law: SumError, confidence: Fraction) -> float:
    return ErrorLaw.quantile(law, confidence)


def _variance(law: ErrorLaw) -> float:
    assert isinstance(law, LaplaceError | GaussianError | RoundedGaussianError | WeightedError)  # noqa: S101
    return law.variance


def _rounded_up(count: int) -> int:
    spare = max(count.bit_length() - _MANTISSA, 0)
    return -(-count >> spare) << spare


def _chernoff(law: LaplaceError | GaussianError | RoundedGaussianError, count: int, steps: int) -> float:
    """Bound P(abs(sum) > steps) by 2 exp(-x steps) E exp(x N)^m, at any x."""
    beyond = float(steps + 1)
    if not isinstance(law, LaplaceError):
        return min(1.0, 2 * exp(-(beyond**2) / (2 * count * law.sub_gaussian)) * (1 + 1e-9))
    rate = float(1 / law.scale)
    best = inf
    for share in _SHARES:
        # log E exp(x N) = 2 log(1 - r) - log(1 - r e^x) - log(1 - r e^-x), with r = exp(-rate).
        x = share * rate
        moment = 2 * log(-expm1(-rate)) - log(-expm1(x - rate)) - log(-expm1(-x - rate))
        best = min(best, count * moment - x * beyond)
    return min(1.0, 2 * exp(min(best, 0.0)) * (1 + 1e-9))


_SHARES = tuple(1 - 2.0 ** (-place / 4) for place in range(4, 60)) + tuple(
    2.0 ** (-place / 4) for place in range(5, 80)
)
"""Shares of the largest x at which the bound is tried: near 1 for few noises, near 0 for many."""


def _worked_out(law: LaplaceError | GaussianError | RoundedGaussianError, count: int, steps: int) -> float:
    width, beyond = _law_of_sum(law, count)
    added = 0.0
    inside = float(steps)
    if width > 1:
        inside -= width * min(count / 2, sqrt(count * log(2 / _ROUNDING_FAILURE) / 2))
        added = _ROUNDING_FAILURE
    if inside < 0:
        return 1.0
    place = int(inside / width)
    if place >= len(beyond):
        return 1.0
    return min(1.0, float(beyond[place]) + added + _TRANSFORM * count)


@lru_cache(maxsize=256)
def _law_of_sum(
    law: LaplaceError | GaussianError | RoundedGaussianError, count: int
) -> tuple[int, NDArray[np.float64]]:
    """Return the width of the grid, and P(abs(sum of multiples) > j widths) for each j of a table."""
    width, masses = _binned(law)
    deviation = sqrt(count * law.variance) / width
    half = int(_DEVIATIONS * deviation) + 2 * len(masses) + 2
    size = 1 << (2 * half + 1).bit_length()
    around = np.zeros(size)
    around[: len(masses)] = masses
    around[size - len(masses) + 1 :] += masses[:0:-1]
    transform = np.fft.rfft(around).real
    summed = np.maximum(np.fft.irfft(transform**count, size), 0.0)
    folded = summed[: size // 2].copy()
    folded[1:] *= 2
    # What lies beyond the table wraps around into it; it is below Chernoff's bound, and is added.
    wrapped = _chernoff(law, count, (size // 2 - 1) * width - (0 if width == 1 else count * width))
    beyond = folded[::-1].cumsum()[::-1]
    return width, np.append(beyond[1:], 0.0) + wrapped


@lru_cache(maxsize=64)
def _binned(law: LaplaceError | GaussianError | RoundedGaussianError) -> tuple[int, NDArray[np.float64]]:
    """Return a width in steps, and P(N rounds to j widths) for j = 0, 1, … until less than 1e-16 is left.

    What is left is put into the last of them.
    """
    width = max(1, int(sqrt(law.variance)) // _BINS)
    masses: list[float] = []
    beyond = 1.0
    while beyond > _LEFT:
        edge = len(masses) * width + width // 2
        further = min(law.tail_in_steps(edge), beyond)
        masses.append(beyond - further)
        beyond = further
    masses[-1] += beyond
    listed = np.array(masses)
    listed[1:] /= 2
    return width, listed
