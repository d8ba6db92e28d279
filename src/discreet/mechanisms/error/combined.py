"""The error of a whole-numbered combination of independent noises, such as a difference of two counts."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.error.base import ErrorLaw
from discreet.mechanisms.error.weighted import NoiseError
from discreet.privacy.rational import Number, confidence_level
from discreet.records import dataclass

__all__ = ["CombinedError"]

_BINS = 64
"""Noises are rounded to a 64th of the largest deviation, or not at all where that is below one step. Margins
are wider by half of it for each noise."""
_LEFT = 1e-16
_ROUNDING = 1e-11
"""More than the relative error of convolving some twenty tables of some thousand positive numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedError(ErrorLaw):
    """A bound on the magnitude of c1 N1 + c2 N2 + … for independent symmetric noises of integers.

    Each c N is rounded to the nearest multiple of a whole width h, and the laws of the multiples are
    convolved. With k noises, abs(sum) <= abs(sum of multiples) + k h / 2, and with h = 1 both are the same;
    what lies beyond the last multiple is counted as beyond any threshold. Proof: windows, lemma 7.

    Attributes
    ----------
    laws : tuple of error laws
        Of each noise, in steps.
    coefficients : tuple of int
        At least 1; the sign does not matter, noises being symmetric.
    """

    laws: tuple[NoiseError, ...]
    coefficients: tuple[int, ...]

    exact: ClassVar[bool] = False

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        pairs = zip(self.laws, self.coefficients, strict=True)
        return sum(float(times) ** 2 * law.variance for law, times in pairs)

    def tail_in_steps(self, steps: int) -> float:
        """Bound P(abs(sum) > steps)."""
        width, beyond, left = _convolved(self.laws, self.coefficients)
        # In half steps: P(abs(sum of multiples) > steps - k h / 2), where the multiples are of h.
        inside = 2 * steps - (len(self.laws) * width if width > 1 else 0)
        if inside < 0:
            return 1.0
        place = min(inside // (2 * width), len(beyond) - 1)
        return min(1.0, float(beyond[place]) * (1 + _ROUNDING) + left)

    def quantile(self, confidence: Number) -> float:
        """Return the smallest t for which the bound on P(error > t) is at most 1 - confidence."""
        return _quantile(self, confidence_level(confidence))


@lru_cache(maxsize=1024)
def _quantile(law: CombinedError, confidence: Number) -> float:
    return ErrorLaw.quantile(law, confidence)


@lru_cache(maxsize=64)
def _convolved(
    laws: tuple[NoiseError, ...], coefficients: tuple[int, ...]
) -> tuple[int, NDArray[np.float64], float]:
    """Return a width, P(abs(sum of multiples) > j widths) for each j, and what lies beyond all of them."""
    pairs = list(zip(laws, coefficients, strict=True))
    width = max(1, int(max(times * sqrt(law.variance) for law, times in pairs)) // _BINS)
    whole, left = np.ones(1), 0.0
    for law, times in pairs:
        masses, beyond = _binned(law, times, width)
        left += beyond
        side = masses[1:] / 2
        whole = np.convolve(whole, np.concatenate([side[::-1], masses[:1], side]))
    middle = len(whole) // 2
    folded = np.concatenate([whole[middle : middle + 1], 2 * whole[middle + 1 :]])
    summed = folded[::-1].cumsum()[::-1]
    return width, np.append(summed[1:], 0.0), left


@lru_cache(maxsize=64)
def _binned(law: NoiseError, times: int, width: int) -> tuple[NDArray[np.float64], float]:
    """Return the masses of abs(c N) rounded to 0, 1, 2, … widths, halves downward, and what is left out."""
    beyond = 1.0
    masses: list[float] = []
    while beyond > _LEFT:
        edge = (2 * len(masses) + 1) * width // (2 * times)
        further = min(law.tail_in_steps(edge), beyond)
        masses.append(beyond - further)
        beyond = further
    return np.array(masses), beyond
