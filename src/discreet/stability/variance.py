"""The variance of bounded values: exact sensitivities up to a public distance, then a smooth bound."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.privacy.rational import Number
from discreet.stability.entries import clamped_integers
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.profile import Profile, check_step, last_distance
from discreet.stability.sorted_sums import SortedSums
from discreet.stability.variance_rises import most_gained
from discreet.stability.variance_steps import exact_change, within_choices

__all__ = ["variance"]


def variance(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the variance of integers within bounds (the mean squared deviation), with its profile.

    Parameters
    ----------
    values : integers
        Clipped to the bounds. The variance of none, or of one, is 0.
    lower, upper : int
        Public bounds.
    relation : Neighbors
        What one step changes.
    rows : int
        How many values one person has at most; under add/remove of persons only.
    step : number, optional
        For real values: the public grid. They are rounded to its multiples, of which the bounds must be two;
        what is not a number counts as the lower bound.

    Returns
    -------
    Profile
        Under replace exact; the values that are replaced are the smallest, or the largest. Under add/remove
        exact up to a distance that depends on `rows` alone: 160 where a person has one value, 46 for two, 10
        for four, 1 for eight, and 0 up to 362 (`variance_steps`). Beyond, a smooth upper bound: with
        T = (k + 1) rows values gone and T others new, the mean is as far out as it can be (proof:
        docs/proofs/variance.md).

    Examples
    --------
    >>> from discreet.stability.variance import variance
    >>> variance([1, 2, 3], lower=0, upper=10).value
    Fraction(2, 3)
    """
    if step is not None:
        return on_grid(partial(variance, relation=relation, rows=rows), values, lower, upper, step, power=2)
    each = check_step(relation, rows)
    padded = ordered(clamped_integers(values, "values"), lower=lower, upper=upper).padded
    low, high = int(padded[0]), int(padded[-1])
    up = _Side(padded[1:-1] - low, high - low)
    down = _Side(high - padded[-2:0:-1], high - low)
    count = up.count
    deviations = up.squares - Fraction(up.total**2, max(count, 1))

    def replaced(distance: int) -> Fraction:
        return max(up.replaced(distance), down.replaced(distance)) if count > 1 else Fraction(0)

    one = SortedSums(padded[1:-1] - low, high - low, each)
    other = one.mirrored()

    @cache
    def changed(distance: int) -> Fraction:
        if within_choices(each, distance):
            return exact_change(one, other, each, distance)
        return _changed(up, down, each, distance)

    replace = relation.change is Change.REPLACE
    # With no one left, one value must come before another changes the variance most.
    reach = count if replace else -(-count // each) + 1
    return Profile(
        value=deviations / max(count, 1),
        reach=reach,
        sensitivity=replaced if replace else changed,
        relation=relation,
        rows=each,
        exact_to=None if replace else last_distance(partial(within_choices, each), reach),
    )


class _Side:
    """Sorted values in [0, R], of which the smallest can be made R. The mirror image is the other side."""

    def __init__(self, held: NDArray[np.int64], bound: int) -> None:
        self.bound = bound
        self.count = len(held)
        # Sums and squares beyond 64 bits are kept as Python's integers.
        wide = max(self.count, 1) * max(bound, 1) ** 2 >= 2**62
        kept = held.astype(object) if wide else held
        self.values = kept
        self._sums = np.concatenate([np.zeros(1, kept.dtype), np.cumsum(kept)])
        self.total = int(self._sums[-1])
        self.squares = int(np.dot(kept, kept)) if self.count else 0

    def smallest(self, number: int) -> int:
        """Return the sum of this many smallest values."""
        return int(self._sums[min(number, self.count)])

    def largest_mean(self, number: int) -> Fraction:
        """Return the mean once this many smallest values are R instead."""
        moved = min(number, self.count)
        return Fraction(self.total - self.smallest(moved) + moved * self.bound, self.count)

    def replaced(self, distance: int) -> Fraction:
        """Return the largest change of the variance by one value, where `distance` others may be raised to R.

        With the others' sum C, the variance is a constant plus ((n - 1) v - C)^2 / (n^2 (n - 1)) in
        the value v that changes. Where others are raised, what is farthest from their mean is 0; the mirror
        image sees to R.
        """
        others = self.count - 1
        moved = min(distance, others)
        best = self._from_some(self.total - self.smallest(moved + 1) + moved * self.bound, moved + 1)
        if distance:  # the value that changes is itself one of the replaced
            free = min(distance, self.count)
            best = max(best, self._from_any(self.total - self.smallest(free) + (free - 1) * self.bound))
        if moved + 1 < self.count:
            best = max(
                best, self._from_kept(self.total - self.smallest(moved) + moved * self.bound, moved + 1)
            )
        return Fraction(best, self.count**2 * others)

    def _nearest(self, others_sum: int) -> int:
        """Return the least squared distance of (n - 1) t to the others' sum over grid points t."""
        floor = others_sum // (self.count - 1)
        return min(self._squared(floor, others_sum), self._squared(min(floor + 1, self.bound), others_sum))

    def _squared(self, value: int, others_sum: int) -> int:
        return ((self.count - 1) * value - others_sum) ** 2

    def _from_any(self, others_sum: int) -> int:
        """Both the old and the new value are free."""
        return self._squared(0, others_sum) - self._nearest(others_sum)

    def _from_some(self, others_sum: int, stop: int) -> int:
        """The old value is one of the smallest; whichever it is, the rest of them are raised."""
        center = Fraction(others_sum, self.count - 1)
        ends = max(self._squared(int(self.values[i]), others_sum) for i in (0, stop - 1))
        inner = min(self._squared(value, others_sum) for value in self._around(center, 0, stop))
        return max(ends - self._nearest(others_sum), self._squared(0, others_sum) - inner)

    def _from_kept(self, with_it: int, start: int) -> int:
        """The old value v is one that is not raised; the others' sum is `with_it` - v."""
        best = 0
        for index in (start, self.count - 1):
            value = int(self.values[index])
            best = max(best, self._squared(value, with_it - value) - self._nearest(with_it - value))
        # Down to 0 the change is concave in v, with its vertex at with_it / (n + 1).
        for value in self._around(Fraction(with_it, self.count + 1), start, self.count):
            rest = with_it - value
            best = max(best, self._squared(0, rest) - self._squared(value, rest))
        return best

    def _around(self, center: Fraction, start: int, stop: int) -> Iterator[int]:
        """Yield the values next to a point, on both sides, among a range of ranks."""
        found = bisect_left(self.values, center, start, stop)
        for index in {max(found - 1, start), min(found, stop - 1)}:
            yield int(self.values[index])


def _changed(up: _Side, down: _Side, step: int, distance: int) -> Fraction:
    """Bound the change by a person who comes or goes, where T values are gone and T others new."""
    most = Fraction(up.bound**2, 4)
    touched = (distance + 1) * step
    left = up.count - touched
    if left < step:
        return most
    means = (up.largest_mean(touched), up.bound - down.largest_mean(touched))
    peak = max(most_gained(left, step, mean, up.bound) for mean in means)
    return min(most, peak * Fraction(step, (left + step) ** 2))
