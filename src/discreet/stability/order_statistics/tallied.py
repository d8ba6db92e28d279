"""Values in order of which it is only known how many there are of each: a histogram, never spelled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.stability.order_statistics.ordered import LARGEST_BOUND, OrderedValues

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["MOST_VALUES", "Tallied", "tallied"]

MOST_VALUES = 2**33
"""How many values there may be: sums of ranks and of halves of values then fit in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Tallied(OrderedValues):
    """Points that each fill as many ranks as there are values: the memory is that of the points.

    `last[j]` is the last rank of point j, 0 for the lower bound and n + 1 for the upper one. A point
    without values has the last rank of the point before.
    """

    points: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def size(self) -> int:
        """The number of values, n."""
        return int(self.last[-1]) - 1

    def at(self, rank: int) -> int:
        """Return X(rank)."""
        return int(self.points[np.searchsorted(self.last, min(max(rank, 0), self.size + 1))])

    def places(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first point whose last rank is no smaller."""
        return np.searchsorted(self.last, np.clip(ranks, 0, self.size + 1))

    def cumulative(self, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums of counts times numbers."""
        return np.cumsum(part[:-1] * np.diff(self.last[:-1], prepend=0))

    def sum_to(
        self, ranks: NDArray[np.int64], part: NDArray[np.int64], cumulative: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the sum up to the last rank of the point, less that of the ranks after this one."""
        places = self.places(ranks)
        return cumulative[places] - (self.last[places] - ranks) * part[places]

    def widest(self, first: int, last: int, length: int) -> int:
        """Return the widest gap of the windows [s, s + length] for the starts s from `first` to `last`.

        Unless s + length is the first rank of a point, the window one further left is as wide: only
        these and the first start matter.
        """
        begins = np.concatenate((self.last[:-1] + 1, [first + length]))
        starts = begins - length
        starts = starts[(first <= starts) & (starts <= last)]
        return int(self.gaps(starts, starts + length).max())

    def reflected(self) -> Tallied:
        """Return the values mirrored at zero: rank i becomes rank n + 1 - i."""
        before = np.concatenate((self.last[:-1], [self.size]))[::-1]
        last = np.concatenate((self.size - before[1:], [self.size + 1]))
        return Tallied(points=-self.points[::-1], last=last)

    __repr__ = OrderedValues.__repr__


def tallied(counts: ArrayLike, *, spacing: int) -> Tallied:
    """Return counts[0] values of 0, counts[1] of `spacing`, counts[2] of twice that, and so on, in order.

    The bounds are 0 and the last of these points. Counts below 0 are taken as 0, and those above the
    `MOST_VALUES`-th part of their number as that: each by itself, so that one value more or less stays
    one value more or less, or none.
    """
    held = np.asarray(counts)
    spacing = whole(spacing, "spacing", least=1, most=LARGEST_BOUND)
    if held.ndim != 1 or not held.size or held.dtype.kind not in "iu":
        raise ParameterError("counts", "is not a list of integers", "one dimension of a NumPy integer type")
    if (held.size - 1) * spacing > LARGEST_BOUND:
        raise ParameterError("spacing", "is too wide", "with all points up to 2^53")
    limited = np.clip(held, 0, MOST_VALUES // held.size).astype(np.int64)
    points = np.arange(held.size, dtype=np.int64) * spacing
    total = np.cumsum(limited)
    return Tallied(
        points=np.concatenate(([0], points, points[-1:])),
        last=np.concatenate(([0], total, [total[-1] + 1])),
    )
