"""Values in order between public bounds, and the widest gaps between them.

X(i) is the i-th smallest of n values; X(i) = lower for i < 1 and X(i) = upper for i > n. A *window*
[s, e] of ranks has the *gap* X(e) - X(s).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, whole
from discreet.records import dataclass
from discreet.stability.entries import clamped_integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Listed", "OrderedValues", "ordered"]

LARGEST_BOUND = 2**53
"""The largest size of a bound: every gap is then exact in 64 bits."""


class OrderedValues(ABC):
    """Values in order with one bound at either end. Private.

    They are held as *points* in order, the bounds first and last, each of which fills one or more ranks.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def points(self) -> NDArray[np.int64]:
        """The lower bound, points in order, the upper bound."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of values, n."""

    @abstractmethod
    def places(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which points have these ranks; ranks beyond 1 … n are those of the bounds."""

    @abstractmethod
    def cumulative(self, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each point but the last, the sum of `part` over all ranks from 1 to its last one.

        `part` has one number for each point.
        """

    @abstractmethod
    def sum_to(
        self, ranks: NDArray[np.int64], part: NDArray[np.int64], cumulative: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the sums of `part` over the ranks from 1 to each of these, which are from 0 to n."""

    @abstractmethod
    def widest(self, first: int, last: int, length: int) -> int:
        """Return the widest gap of the windows [s, s + length] for the starts s from `first` to `last`."""

    @abstractmethod
    def reflected(self) -> OrderedValues:
        """Return the values mirrored at zero: rank i becomes rank n + 1 - i."""

    @property
    def spread(self) -> int:
        """The distance between the bounds: no gap is larger."""
        return int(self.points[-1]) - int(self.points[0])

    @abstractmethod
    def at(self, rank: int) -> int:
        """Return X(rank)."""

    def gaps(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the gaps of many windows."""
        return self.points[self.places(ends)] - self.points[self.places(starts)]

    def __repr__(self) -> str:
        return "Ordered(private)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Listed(OrderedValues):
    """Values one by one: each fills one rank."""

    padded: NDArray[np.int64]
    """The lower bound, the n values in order, the upper bound."""

    @property
    def points(self) -> NDArray[np.int64]:
        """As they are held."""
        return self.padded

    @property
    def size(self) -> int:
        """The number of values, n."""
        return len(self.padded) - 2

    def at(self, rank: int) -> int:
        """Return X(rank)."""
        return int(self.padded[min(max(rank, 0), self.size + 1)])

    def places(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ranks themselves, cut at the bounds."""
        # Twice as fast as `np.clip` on the short arrays that there are many of.
        return np.minimum(np.maximum(ranks, 0), self.size + 1)

    def cumulative(self, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return plain sums; the lower bound is not a value."""
        return np.cumsum(np.concatenate(([0], part[1:-1])))

    def sum_to(
        self, ranks: NDArray[np.int64], part: NDArray[np.int64], cumulative: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Look them up."""
        return cumulative[ranks]

    def widest(self, first: int, last: int, length: int) -> int:
        """Return the widest gap of the windows [s, s + length] for the starts s from `first` to `last`.

        Where s < 0 the gap grows with s, and where s + length > n + 1 it falls, so
        that apart from the windows within 0..n+1 only the ends of those ranges matter.
        """
        end = self.size + 1
        corners = {first, last, min(max(0, first), last), min(max(end - length, first), last)}
        widest = max(self.at(start + length) - self.at(start) for start in corners)
        low, high = max(first, 0), min(last, end - length)
        if high > low:
            inner = self.padded[low + length : high + length + 1] - self.padded[low : high + 1]
            widest = max(widest, int(inner.max()))
        return widest

    def reflected(self) -> Listed:
        """Return the values mirrored at zero: rank i becomes rank n + 1 - i."""
        return Listed(padded=-self.padded[::-1])

    __repr__ = OrderedValues.__repr__


def ordered(values: ArrayLike, *, lower: Number, upper: Number) -> Listed:
    """Sort integers after clipping them to [lower, upper].

    Raises
    ------
    ParameterError
        If the bounds are not integers of at most 2^53 in size or out of order, or the values not a list of
        integers by their type. The values themselves are never a reason.
    """
    low = whole(lower, "lower", least=-LARGEST_BOUND, most=LARGEST_BOUND)
    high = whole(upper, "upper", least=-LARGEST_BOUND, most=LARGEST_BOUND)
    if low > high:
        raise ParameterError("lower", "is above upper", "a number that is at most upper")
    held = clamped_integers(values, "values")
    if held.ndim != 1:
        raise ParameterError("values", "is not a list of integers", "integers in one dimension")
    padded = np.empty(held.size + 2, dtype=np.int64)
    padded[0], padded[-1] = low, high
    padded[1:-1] = np.clip(held, low, high)
    padded[1:-1].sort()
    return Listed(padded=padded)
