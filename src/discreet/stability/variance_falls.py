"""The largest fall of the variance where a person's values join near the mean.

What goes of x, and what joins of it, is next to one another; all additions are at the bounds, and other
values that join are at one integer. Where V(y) is largest for each number of low additions is found by
bisection; what cannot exceed the best there is left out (proof: docs/proofs/variance.md).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.stability.sorted_sums import (
    ExactIntegers,
    SortedSums,
    VarianceSteps,
    largest_variance_change,
    listed,
)

__all__ = ["largest_fall"]

_MOST_AT_ONCE = 2**12
_ROUNDING = 2.0**-44


def largest_fall(up: SortedSums, down: SortedSums, steps: VarianceSteps, best: Fraction) -> Fraction:
    """Return the largest V(y) - V(y') of all steps, or `best` if that is more; `down` is mirrored."""
    for data, apart in ((up, False), (up, True), (down, True)):
        some = _worth_a_look(up, steps, best)
        if apart:
            some &= (steps.own == steps.joined == 2) & (steps.removed > 0)
        if some.any():
            best = _largest(_Blocks.of(data, steps.at(some)), best, apart=apart)
    return best


def _worth_a_look(data: SortedSums, steps: VarianceSteps, best: Fraction) -> NDArray[np.bool_]:
    """Return which steps may fall by more than the best: N V(y) is at most the squares about the middle."""
    squares = 4 * (int(data.squares[-1]) - data.bound * int(data.sums[-1])) + data.count * data.bound**2
    most = (squares + steps.added.astype(np.float64) * float(data.bound) ** 2) * (1 + _ROUNDING) / 4
    after = (steps.size + steps.joined).astype(np.float64)
    found: NDArray[np.bool_] = (steps.size > 1) & (
        steps.joined * most * (1 + _ROUNDING) > float(best) * np.maximum(steps.size, 1) * after
    )
    return found


def _largest(blocks: _Blocks, best: Fraction, *, apart: bool) -> Fraction:
    """Return the largest fall, trying the most promising numbers of high additions first."""
    peak = blocks.peak()
    off = blocks.off()
    bound = blocks.bound(peak, off)
    for index in np.argsort(-bound).tolist():
        if float(bound[index]) <= best:
            break
        one = blocks.at(index)
        if apart:
            best = max(best, one.largest_apart())
        else:
            best = max(best, one.largest(int(peak[index]), off[index : index + 1], best))
    return best


class _Blocks:
    """Data y that lack a block of x and have additions at the bounds: one for each number of high ones."""

    def __init__(self, data: SortedSums, steps: VarianceSteps, high: ExactIntegers) -> None:
        self.data, self.steps, self.high = data, steps, high
        self.length = steps.removed + steps.own
        self.end = np.where(self.length > 0, data.count - self.length, 0)

    @classmethod
    def of(cls, data: SortedSums, steps: VarianceSteps) -> _Blocks:
        """Return all numbers of high additions of all steps."""
        which, high = listed(steps.added)
        return cls(data, steps.at(which), data.fitting(high))

    def at(self, index: int) -> _Blocks:
        """Return those with one number of high additions."""
        place = np.array([index])
        return _Blocks(self.data, self.steps.at(place), self.high[place])

    def total(self, place: NDArray[np.int64]) -> ExactIntegers:
        """Return the sums of y where the block begins at these places."""
        sums = self.data.sums
        found: ExactIntegers = (
            sums[-1] - sums[place + self.length] + sums[place] + self.high * self.data.bound
        )
        return found

    def spread(self, place: NDArray[np.int64]) -> ExactIntegers:
        """Return N^2 V(y)."""
        squares = self.data.squares
        here = squares[-1] - squares[place + self.length] + squares[place] + self.high * self.data.bound**2
        found: ExactIntegers = self.steps.size * here - self.total(place) ** 2
        return found

    def peak(self) -> NDArray[np.int64]:
        """Return where the variance is largest: it rises with the place, and then falls."""
        first, last = np.zeros(len(self.high), np.int64), self.end.copy()
        while (first < last).any():
            middle = (first + last) // 2
            inner = np.minimum(middle, np.maximum(self.end - 1, 0))
            after = np.minimum(inner + 1, self.end)
            ends = (
                self.data.values[inner]
                + self.data.values[np.minimum(inner + self.length, self.data.count - 1)]
            )
            down = self.steps.size * ends >= self.total(inner) + self.total(after)
            active = first < last
            last = np.where(active & down, middle, last)
            first = np.where(active & ~down, middle + 1, first)
        return first

    def off(self) -> NDArray[np.float64]:
        """Return what is lost, because what joins is not at the mean of y, at least and rounded down."""
        steps, size = self.steps, self.steps.size.astype(np.float64)
        least, most = self.total(self.end), self.total(np.zeros_like(self.end))
        lost = np.zeros(len(size))
        for many, own in ((steps.free, False), (steps.own, True)):
            if many:
                lost += many * _off(self.data, steps.size, least, most, own=own).astype(np.float64) ** 2
        found: NDArray[np.float64] = lost / (size * (size + steps.joined) ** 2) * (1 - _ROUNDING)
        return found

    def bound(self, place: NDArray[np.int64], off: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what no fall of these places exceeds."""
        size, many = self.steps.size.astype(np.float64), self.steps.joined
        most = many * self.spread(place).astype(np.float64) / ((size + many) * size**2)
        found: NDArray[np.float64] = most * (1 + _ROUNDING) - off * (1 - _ROUNDING)
        return found

    def largest(self, peak: int, off: NDArray[np.float64], best: Fraction) -> Fraction:
        """Return the largest fall of all places of one block that may exceed the best."""
        width, end = 16, int(self.end[0])
        while True:
            first, last = max(peak - width, 0), min(peak + width, end)
            bounds = self.bound(np.array([first, last]), off).tolist()
            if all(
                place in (0, end) or bound <= best for place, bound in zip((first, last), bounds, strict=True)
            ):
                break
            width *= 8
        place = np.arange(first, last + 1)
        if len(self.data.values):
            # A block that begins one place later is the same where it gains what it loses.
            length = int(self.length[0])
            before = self.data.values[np.maximum(place - 1, 0)]
            gained = self.data.values[np.maximum(place - 1 + length, 0)]
            place = place[(place == first) | (before != gained)]
        starts = range(0, len(place), _MOST_AT_ONCE)
        return max(self._at_places(place[start : start + _MOST_AT_ONCE]) for start in starts)

    def _at_places(self, place: NDArray[np.int64]) -> Fraction:
        """Return the largest fall of some places, wherever in the block that is which joins."""
        own, free = self.steps.own, self.steps.free
        many = int(self.steps.removed[0]) + 1 if own else 1
        here = place[:, None] + np.arange(many)
        joined, squares = (each[here + own] - each[here] for each in (self.data.sums, self.data.squares))
        total, spread = self.total(place)[:, None], self.spread(place)[:, None]
        if not free:
            return self._fall(total, spread, joined, squares)
        below = (total + joined) // (self.steps.size + own)
        return max(
            self._fall(total, spread, joined + free * each, squares + free * each * each)
            for each in (below, np.minimum(below + 1, self.data.bound))
        )

    def _fall(
        self, total: ExactIntegers, spread: ExactIntegers, joined: ExactIntegers, squares: ExactIntegers
    ) -> Fraction:
        many = self.steps.joined
        parts = (spread, many * squares - joined * joined, many * total - self.steps.size * joined)
        return largest_variance_change(self.steps.size, many, parts, -1)

    def largest_apart(self) -> Fraction:
        """Return the largest fall where two values of x join above what goes, with values of y between.

        They are where x passes the mean of y.
        """
        data, size, removed = self.data, self.steps.size, int(self.steps.removed[0])
        place = np.arange(data.count - removed - 1)
        place = place[(place == 0) | (data.values[place - 1] != data.values[place - 1 + removed])]
        ends = self.high[0] * data.bound
        rest = data.sums[-1] - data.sums[place + removed] + data.sums[place] + ends
        first, last = place + removed, np.full(len(place), data.count - 2)
        while (first < last).any():
            middle = (first + last) // 2
            pair = data.sums[middle + 2] - data.sums[middle]
            beyond = size * data.values[middle] > rest - pair
            last = np.where(beyond, middle, last)
            first = np.where(beyond, first, np.minimum(middle + 1, last))
        pair, pair_squares = (each[first + 2] - each[first] for each in (data.sums, data.squares))
        squares = data.squares[-1] - data.squares[place + removed] + data.squares[place] + ends * data.bound
        total = rest - pair
        return self._fall(total, size * (squares - pair_squares) - total * total, pair, pair_squares)


def _off(
    data: SortedSums, size: NDArray[np.int64], least: ExactIntegers, most: ExactIntegers, *, own: bool
) -> ExactIntegers:
    """Return by how much at least a sum from `least` to `most` differs from `size` times what may join."""
    above, below = -(-least // size), least // size
    if own:
        place = np.searchsorted(data.values, above)
        below = data.values[np.maximum(np.searchsorted(data.values, below, side="right") - 1, 0)]
        above = data.values[np.minimum(place, data.count - 1)]
    gap = np.minimum(abs(above * size - most), abs(least - below * size))
    inside = (least <= above * size) & (above * size <= most)
    found: ExactIntegers = np.where(inside, 0, gap)
    return found
