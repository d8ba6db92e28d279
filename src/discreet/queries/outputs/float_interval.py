"""Interval arithmetic on arrays: a value, and two floats that hold what it stands for between them.

Every operation widens its result by more than its roundings in double precision amount to.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import AnswerColumn
from discreet.privacy.rational import float_above, float_below
from discreet.records import dataclass

__all__ = ["FloatInterval", "mean_range", "product", "root", "square"]

_SLACK = 2.0**-50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FloatInterval:
    """Numbers `value` that are estimated, and ends that hold the true ones, array by array."""

    low: NDArray[np.float64]
    value: NDArray[np.float64]
    high: NDArray[np.float64]

    def widened(self, size: NDArray[np.float64] | float = 0.0) -> FloatInterval:
        """Return the range widened by a relative slack of the ends, and of numbers of a given size."""
        low, high = (np.abs(end) for end in (self.low, self.high))
        return FloatInterval(
            low=self.low - _SLACK * (low + size), value=self.value, high=self.high + _SLACK * (high + size)
        )

    def clipped(self, least: Fraction | int, most: Fraction | int) -> FloatInterval:
        """Return the range within what is possible."""
        low, high = float_below(Fraction(least)), float_above(Fraction(most))
        return FloatInterval(
            low=self.low.clip(low, high), value=self.value.clip(low, high), high=self.high.clip(low, high)
        )

    def plus(self, number: int) -> FloatInterval:
        """Return the sum with an integer of at most 53 bits."""
        moved = FloatInterval(low=self.low + number, value=self.value + number, high=self.high + number)
        return moved.widened(float(abs(number)))

    def minus(self, other: FloatInterval) -> FloatInterval:
        """Return the difference."""
        size = np.abs(self.low) + np.abs(self.high) + np.abs(other.low) + np.abs(other.high)
        found = FloatInterval(
            low=self.low - other.high, value=self.value - other.value, high=self.high - other.low
        )
        return found.widened(size)

    def scaled(self, factor: Fraction) -> FloatInterval:
        """Return the product with a positive number."""
        number = float(factor)
        return FloatInterval(
            low=self.low * number, value=self.value * number, high=self.high * number
        ).widened()

    def unknown(self, where: NDArray[np.bool_], least: Fraction | int, most: Fraction | int) -> FloatInterval:
        """Return all that is possible where nothing is known."""
        low, high = float_below(Fraction(least)), float_above(Fraction(most))
        return FloatInterval(
            low=np.where(where, low, self.low), value=self.value, high=np.where(where, high, self.high)
        )

    def column(self, name: str, unknown: NDArray[np.bool_]) -> AnswerColumn:
        """Return a column of an answer; an interval holds its value. In some places nothing is known."""
        return AnswerColumn(
            name=name,
            values=self.value,
            lower=np.minimum(self.low, self.value),
            upper=np.maximum(self.high, self.value),
            unknown=unknown,
        )


def mean_range(total: NDArray[np.int64], off: int, count: NDArray[np.int64], by: int) -> FloatInterval:
    """Return total / count, if the total is within `off` and the count, at least 1, within `by`."""
    least, most = np.maximum(count - by, 1), np.maximum(count + by, 1)
    down, up = total - off, total + off
    return FloatInterval(
        low=_quotient(down, np.where(down < 0, least, most)),
        value=_quotient(total, np.maximum(count, 1)),
        high=_quotient(up, np.where(up < 0, most, least)),
    ).widened()


def square(one: FloatInterval) -> FloatInterval:
    """Return the squares."""
    low, high = one.low**2, one.high**2
    inside = (one.low <= 0) & (one.high >= 0)
    return FloatInterval(
        low=np.where(inside, 0.0, np.minimum(low, high)), value=one.value**2, high=np.maximum(low, high)
    ).widened()


def product(one: FloatInterval, other: FloatInterval) -> FloatInterval:
    """Return the products."""
    corners = np.stack([a * b for a in (one.low, one.high) for b in (other.low, other.high)])
    return FloatInterval(
        low=corners.min(axis=0), value=one.value * other.value, high=corners.max(axis=0)
    ).widened()


def root(one: FloatInterval) -> FloatInterval:
    """Return the roots of numbers that are not negative."""
    low, value, high = (np.sqrt(np.maximum(end, 0.0)) for end in (one.low, one.value, one.high))
    return FloatInterval(low=low, value=value, high=high).widened()


def _quotient(total: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(total.astype(np.float64) / count.astype(np.float64))
