"""Integers on a grid as floats: the nearest one, and one on either side."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records import dataclass

__all__ = ["Enclosed", "enclosed"]

_EXACT = 1 << 53
_SLACK = 2.0**-50
"""More than three roundings to double precision and the one of adding the slack itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Enclosed:
    """Floats near some rational numbers: `below` <= number <= `above`, and `nearest` between."""

    below: NDArray[np.float64]
    nearest: NDArray[np.float64]
    above: NDArray[np.float64]


def enclosed(steps: NDArray[Any], step: Fraction) -> Enclosed:
    """Return step times some integers as floats.

    Where numerators fit into 53 bits the quotient is rounded once, correctly, and the sides are one float
    away (none for whole numbers). Else three roundings are covered by a relative slack of 2^-50.

    Parameters
    ----------
    steps : array of integers
        64-bit, or Python's own.
    step : Fraction
        The grid.
    """
    largest = max(int(steps.max()), -int(steps.min())) if steps.size else 0
    numerator, denominator = step.numerator, step.denominator
    if max(largest, 1) * numerator < _EXACT and denominator < _EXACT:
        numerators = steps * numerator
        nearest = numerators.astype(np.float64) / float(denominator)
        whole = numerators % denominator == 0
        below, above = (np.where(whole, nearest, np.nextafter(nearest, side)) for side in (-np.inf, np.inf))
        return Enclosed(below=below, nearest=nearest, above=above)
    nearest = steps.astype(np.float64) * float(step)
    slack = np.abs(nearest) * _SLACK
    return Enclosed(below=nearest - slack, nearest=nearest, above=nearest + slack)
