"""Powers exp(-k rate) of many integers k at once, in floats with a proven error."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.enclosure import Enclosure, exponential

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RELATIVE_ERROR", "Powers"]

RELATIVE_ERROR = 2.0**-48
"""Bound on the relative error of `Powers.approximate` where the power exceeds 2^-900."""

_DIGIT_BITS = 8
_DIGITS = 8


class Powers:
    """The function k -> exp(-k rate) on integers 0 <= k < 2^63, for a rational rate > 0.

    k is written in base 256 and the power is the product of at most eight table entries,
    each the float nearest to an enclosed real number (relative error at most 2^-53).
    Seven multiplications add at most 2^-53 each. Fifteen such factors stay within
    2^-49 of one, and `RELATIVE_ERROR` doubles that. Only IEEE multiplication is used: no
    library function has to be trusted.
    """

    def __init__(self, rate: Fraction) -> None:
        self.rate = rate
        self._tables = _digit_tables(rate)

    def approximate(self, exponents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return exp(-k rate) for every k, to within `RELATIVE_ERROR` (and 2^-900)."""
        digits = exponents.view(np.uint64)
        powers = self._tables[0].take((digits & np.uint64(255)).view(np.int64))
        with np.errstate(all="ignore"):  # powers may vanish, whatever the caller's settings
            for place in range(1, _DIGITS):
                shifted = digits >> np.uint64(_DIGIT_BITS * place)
                powers *= self._tables[place].take((shifted & np.uint64(255)).view(np.int64))
        return powers

    def enclose(self, exponent: int, bits: int) -> Enclosure:
        """Enclose exp(-k rate) for one k."""
        return exponential(exponent * self.rate, bits)


@lru_cache(maxsize=64)
def _digit_tables(rate: Fraction) -> tuple[NDArray[np.float64], ...]:
    return tuple(
        np.array([_nearest_float(digit * (1 << (_DIGIT_BITS * place)) * rate) for digit in range(256)])
        for place in range(_DIGITS)
    )


def _nearest_float(x: Fraction) -> float:
    """Return exp(-x) to within half a unit in the last place, or 0 below 2^-1000."""
    if x > 700:
        return 0.0
    bits = 128 + int(x * 3 / 2)
    low, high = exponential(x, bits)
    # Python divides integers with correct rounding; the enclosure is 2^60 times finer.
    return (low + high) / (1 << (bits + 1))
