"""The error of a weighted sum of independent noises."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.error.base import SAFETY, ErrorLaw
from discreet.mechanisms.error.gaussian import GaussianError
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.rounded_gaussian import RoundedGaussianError
from discreet.records import dataclass

__all__ = ["WeightedError"]

_BINS = 256
_LEFT = 1e-16
_ROUNDING = 1e-12

NoiseError: TypeAlias = LaplaceError | GaussianError | RoundedGaussianError
"""The law of one noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedError(ErrorLaw):
    """A bound on the magnitude of w1 N1 + w2 N2 + … for independent symmetric noises of integers.

    Each w N is rounded to the nearest multiple of a width h, a 256th of the largest standard deviation, and
    the laws of the multiples are convolved. With k noises, abs(sum) <= abs(sum of multiples) + k h / 2; what
    lies beyond the last multiple is counted as beyond any threshold. All terms are positive, so rounding is
    covered by a relative 1e-12.

    Attributes
    ----------
    laws : tuple of error laws
        Of each noise, in steps.
    weights : tuple of Fraction
        Positive.
    """

    laws: tuple[NoiseError, ...]
    weights: tuple[Fraction, ...]

    exact: ClassVar[bool] = False

    @property
    def variance(self) -> float:
        """The variance of the sum; rounding adds at most its square."""
        spread = sum(float(w) ** 2 * law.variance for law, w in zip(self.laws, self.weights, strict=True))
        return spread + float(self.rounding) ** 2

    def tail_in_steps(self, steps: int) -> float:
        """Bound P(abs(sum) > steps)."""
        width, cumulated, left = _convolved(self.laws, self.weights)
        inside = steps - len(self.laws) * width / 2
        if inside < 0:
            return 1.0
        place = min(int(inside / width), len(cumulated) - 1)
        return min(1.0, float(cumulated[place]) * (1 + _ROUNDING) + left)


@lru_cache(maxsize=64)
def _convolved(
    laws: tuple[NoiseError, ...], weights: tuple[Fraction, ...]
) -> tuple[float, NDArray[np.float64], float]:
    """Return a width, P(abs(sum of multiples) > j widths) for each j, and what lies beyond all of them."""
    deviations = [float(w) * sqrt(law.variance) for law, w in zip(laws, weights, strict=True)]
    width = max(deviations) / _BINS
    whole, left = np.ones(1), 0.0
    for law, weight in zip(laws, weights, strict=True):
        masses = _binned(law, Fraction(width) / weight)
        left += masses.pop()
        side = np.array(masses[1:]) / 2
        whole = np.convolve(whole, np.concatenate([side[::-1], masses[:1], side]))
    middle = len(whole) // 2
    folded = np.concatenate([whole[middle : middle + 1], 2 * whole[middle + 1 :]])
    beyond = folded[::-1].cumsum()[::-1]
    return width, np.append(beyond[1:], 0.0), left * SAFETY


def _binned(law: ErrorLaw, width: Fraction) -> list[float]:
    """Return the masses of abs(N) rounded to 0, 1, 2, … widths, and at the end what is left out."""
    beyond = 1.0
    masses: list[float] = []
    while beyond > _LEFT:
        edge = (len(masses) + Fraction(1, 2)) * width
        further = min(law.tail_in_steps(int(edge)), beyond)
        masses.append(beyond - further)
        beyond = further
    return [*masses, beyond]
