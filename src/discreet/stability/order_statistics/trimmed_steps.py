"""The exact local sensitivity of the trimmed mean where persons come and go.

Among data y of N values near x the mean rises most by p values at the upper bound, or without its p smallest.
The rise is a sum of ranks of y with weights that change their sign once, at a rank Q: for a values added
and b removed it is largest for i additions at the lower bound, the others at the upper one, and b removals
next to one another, that is for Y(r) = X(r - i) up to Q and X(r - i + b) beyond (proof:
docs/proofs/profiles.md). Most N and i are ruled out at once: for i from f to l no rise exceeds what
X(r - l) up to Q and X(r - f + b) beyond would give.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records import dataclass
from discreet.stability.order_statistics.blocks import Blocks
from discreet.stability.order_statistics.splits import Splits, splits
from discreet.stability.order_statistics.trimming import Trimming

__all__ = ["MOST_CELLS", "MOST_ROWS", "trimmed_sensitivity", "within_cells"]

MOST_CELLS = 2**22
"""How many pairs of a size and a number of low additions there are at a distance, at most; few are tried."""

MOST_ROWS = 64
"""How many values of a person are tried one by one."""

_ROUNDING = 2.0**-48
"""What two quotients and their difference may be wrong by, of their sizes: a few roundings of 2^-53."""


def within_cells(rows: int, distance: int) -> bool:
    """Return whether the distance is short enough to try everything: a rule of public numbers alone."""
    return rows <= MOST_ROWS and rows * (distance * rows + 1) ** 2 <= MOST_CELLS


def trimmed_sensitivity(data: Blocks, mirrored: Blocks, rule: Trimming, rows: int, distance: int) -> Fraction:
    """Return the local sensitivity of the trimmed mean at a distance, for persons of up to `rows` values."""
    if distance * rows >= data.data.size:
        return Fraction(data.data.spread)
    near = splits(data.data.size, rows, distance)
    best = _emptied(data, rule, near.at(near.sizes <= rows))
    for values in range(rows, 0, -1):
        for step in _steps(near, rule, values):
            for one in (data, mirrored):
                best = step.largest(one, best)
    return best


def _emptied(data: Blocks, rule: Trimming, near: Splits) -> Fraction:
    """Return how far the mean may be above the lower bound, which it is when all values go at once."""
    best = Fraction(0)
    for size, removed in zip(near.sizes.tolist(), near.removed.tolist(), strict=True):
        cut = rule.cut(size)
        ends = data.totals(np.array([cut, size - cut]) + removed)
        best = max(best, Fraction(int(ends[1] - ends[0]), size - 2 * cut))
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One kind of step for every size of y: the mean of some ranks becomes that of others.

    The ranks first + 1 … last remain of y, and start + 1 … stop after the step, counted in y with the upper
    bound beyond its end. `turn` is Q.
    """

    near: Splits
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    turn: NDArray[np.int64]

    def largest(self, data: Blocks, least: Fraction) -> Fraction:
        """Return the largest rise, or `least` if none is larger.

        Ranges of low additions are halved as long as their bound is not below a rise that was found.
        """
        place = np.arange(len(self.first))
        first, last = np.zeros_like(self.near.added), self.near.added
        found, tried = _below(least), []
        while len(place):
            here = self._at(place)
            bound, error = here._rises(data, last, first)
            rise, off = here._rises(data, first, first)
            found = max(found, float(np.max(rise - off)))
            kept = (bound + error >= found) & (bound + error > _below(least))
            alone = kept & (first == last)
            tried.append((place[alone], first[alone], (bound + error)[alone]))
            kept &= first < last
            place, first, last = place[kept], first[kept], last[kept]
            middle = (first + last) // 2
            place = np.concatenate((place, place))
            first, last = np.concatenate((first, middle + 1)), np.concatenate((middle, last))
        chosen = [np.concatenate(each) for each in zip(*tried, strict=True)]
        best = chosen[2] >= found
        return self._at(chosen[0][best])._exact(data, chosen[1][best], least)

    def _at(self, places: NDArray[np.intp]) -> _Step:
        ranks = (self.first, self.last, self.start, self.stop, self.turn)
        return _Step(self.near.at(places), *(each[places] for each in ranks))

    def _exact(self, data: Blocks, low: NDArray[np.int64], least: Fraction) -> Fraction:
        """Return the largest of these rises by integers, or `least` if none is larger."""
        for one, first, other, second in zip(*self._sums(data, low, low), strict=True):
            rise = Fraction(int(other) * int(first) - int(one) * int(second), int(first) * int(second))
            least = max(least, rise)
        return least

    def _rises(
        self, data: Blocks, low: NDArray[np.int64], back: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rises and what they may be wrong by; bounds where i is from `back` to `low`."""
        one, first, other, second = self._sums(data, low, back)
        before, after = one.astype(np.float64) / first, other.astype(np.float64) / second
        return after - before, (np.abs(after) + np.abs(before)) * _ROUNDING

    def _sums(
        self, data: Blocks, low: NDArray[np.int64], back: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Return the sums, above a value in the middle, and numbers of what remains before and after.

        Of Y(r) = X(r - low) up to Q, and X(r - back + b) beyond.
        """
        ahead = self.near.removed - back
        passed = data.totals(self.turn - low) - data.totals(self.turn + ahead)

        def to(ranks: NDArray[np.int64]) -> NDArray[Any]:
            return np.where(
                ranks <= self.turn,
                data.totals(np.minimum(ranks, self.turn) - low),
                data.totals(np.maximum(ranks, self.turn) + ahead) + passed,
            )

        middle = int(data.above(np.array([(data.data.size + 1) // 2]))[0])
        kept, left = self.last - self.first, self.stop - self.start
        return (
            to(self.last) - to(self.first) - kept * middle,
            kept,
            to(self.stop) - to(self.start) - left * middle,
            left,
        )


def _below(least: Fraction) -> float:
    """Return a float that is at most this fraction, or 0."""
    return float(least) * (1 - _ROUNDING)


def _steps(near: Splits, rule: Trimming, values: int) -> Iterator[_Step]:
    """Yield the steps of this many values that raise the mean."""
    some = near.at(near.sizes > 0)
    sizes, cut, more = some.sizes, rule.cuts(some.sizes), rule.cuts(some.sizes + values)
    grows = values >= 2 * (more - cut)
    yield _Step(
        some,
        cut,
        sizes - cut,
        more,
        sizes + values - more,
        np.where(grows, sizes - cut, np.minimum(more, sizes)),
    )
    some = near.at(near.sizes > values)
    if len(some.sizes):
        sizes, cut, fewer = some.sizes, rule.cuts(some.sizes), rule.cuts(some.sizes - values)
        grows = values <= 2 * (cut - fewer)
        yield _Step(
            some,
            cut,
            sizes - cut,
            values + fewer,
            sizes - fewer,
            np.where(grows, sizes - cut, values + fewer),
        )
