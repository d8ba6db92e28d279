"""Sums of consecutive ranks, exact for values of 54 bits and any number of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.stability.order_statistics.ordered import OrderedValues

__all__ = ["MOST_BEYOND", "Blocks", "blocks"]

_HALF = 27
_MASK = 2**_HALF - 1
MOST_BEYOND = 2**21
"""How far beyond twice the size of the data a rank may be: more than any step that is tried in full adds."""
_PADDING = 1 + Fraction(1, 2**50)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Blocks:
    """Ordered values with their prefix sums, above the lower bound and in two halves of 27 bits. Private."""

    data: OrderedValues
    halves: tuple[NDArray[np.int64], NDArray[np.int64]]
    """The upper and lower halves of the points less the lower bound."""
    sums: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Their sums over all ranks up to the last of each point but the upper bound."""

    def total(self, first: int, last: int) -> int:
        """Return X(first) + … + X(last) for ranks within 1..n."""
        ends = np.array([first - 1, last], dtype=np.int64)
        high, low = (int(np.diff(self._to(index, ends))[0]) for index in (0, 1))
        return (high << _HALF) + low + (last - first + 1) * self.data.at(0)

    def rise(self, starts: NDArray[np.int64], ends: NDArray[np.int64], length: int) -> Fraction:
        """Return the largest X(e) less the mean of `length` ranks from s <= e on, rounded up by 2^-50."""
        high, low = (self._excess(index, starts, ends, length) for index in (0, 1))
        high, low = high + (low >> _HALF), low & _MASK
        # The excess is not negative, so that neither half is: its float is right to the last bit but one.
        best = int(np.argmax(high.astype(np.float64) * 2.0**_HALF + low))
        return Fraction((int(high[best]) << _HALF) + int(low[best]), length) * _PADDING

    def above(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return X of these ranks, less the lower bound."""
        found: NDArray[np.int64] = self.data.points[self.data.places(ranks)] - self.data.points[0]
        return found

    def totals(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Return the sums of `above` over all ranks up to these: integers of 64 bits, or Python's.

        Ranks beyond n are at the upper bound; none is beyond 2 n + `MOST_BEYOND`.
        """
        high, low = self._to(0, ranks), self._to(1, ranks)
        if (2 * self.data.size + MOST_BEYOND) * self.data.spread < 2**62:
            total: NDArray[Any] = (high << _HALF) + low
        else:
            total = high.astype(object) * 2**_HALF + low.astype(object)
        return total

    def _excess(
        self, index: int, starts: NDArray[np.int64], ends: NDArray[np.int64], length: int
    ) -> NDArray[np.int64]:
        tops = length * self.halves[index][self.data.places(ends)]
        return tops - (self._to(index, starts + length - 1) - self._to(index, starts - 1))

    def _to(self, index: int, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of a half over the ranks up to these; ranks below 1 have none."""
        size, half = self.data.size, self.halves[index]
        beyond: NDArray[np.int64] = np.maximum(ranks - size, 0) * half[-1]
        return self.data.sum_to(np.minimum(np.maximum(ranks, 0), size), half, self.sums[index]) + beyond


def blocks(data: OrderedValues) -> Blocks:
    """Prepare the sums of ordered values."""
    above = data.points - data.points[0]
    halves = above >> _HALF, above & _MASK
    return Blocks(data=data, halves=halves, sums=(data.cumulative(halves[0]), data.cumulative(halves[1])))
