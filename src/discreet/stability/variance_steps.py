"""The exact local sensitivity of the variance where one value comes or goes at a time.

With y of N values of mean m, and y' one value t more, V(y') - V(y) = N (m - t)^2 / N'^2 - V(y) / N'. Either
y or y' is x with a values added and b removed (proof: docs/proofs/variance.md).

- *Rises.* t is a bound, or the largest or smallest value of x. What stays of x for y is next to one another,
  and all additions are at one integer, found in closed form.
- *Falls.* t is the integer next to m, or the value next to m of what goes. What goes is next to one another,
  and all additions are at the bounds. Where V(y) is largest for each number of low additions is found by
  bisection; what cannot exceed the best there is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.stability.order_statistics.splits import splits

__all__ = ["MOST_DISTANCE", "Sorted", "exact_change"]

MOST_DISTANCE = 127
"""Up to which distance everything is tried: below a second."""

_ROUNDING = 2.0**-44
"""Of the sizes of all terms: what floats may be wrong by. Each is rounded fewer than 100 times."""

_Integers: TypeAlias = NDArray[Any]


class Sorted:
    """Sorted values in [0, bound] with the sums of the smallest, and of their squares: exact integers."""

    def __init__(self, values: NDArray[np.int64], bound: int) -> None:
        self.bound, self.count = bound, len(values)
        # Products of a sum and a count must fit, or Python's integers are used.
        wide = (self.count + 2 * MOST_DISTANCE + 4) ** 2 * max(bound, 1) ** 2 >= 2**60
        self.values: _Integers = values.astype(object) if wide else values
        none = np.zeros(1, dtype=self.values.dtype)
        self.sums = np.concatenate([none, np.cumsum(self.values)])
        self.squares = np.concatenate([none, np.cumsum(self.values * self.values)])

    def mirrored(self) -> Sorted:
        """Return the values mirrored within the bounds."""
        return Sorted((self.bound - self.values[::-1]).astype(np.int64), self.bound)


def exact_change(up: Sorted, down: Sorted, distance: int) -> Fraction:
    """Return the largest change of the variance by one value within a distance; `down` is mirrored."""
    best = Fraction(0)
    near = splits(up.count, 1, distance).listed()
    for size, added, removed in near:
        for data in (up, down):
            # No value is farther from a mean than the bounds are apart.
            if size and size * data.bound**2 > best * (size + 1) ** 2:
                best = max(best, _rise(data, data.bound, size, (added, removed), data.count))
            if size > 1 and removed < data.count and (size - 1) * data.bound**2 > best * size**2:
                top = int(data.values[-1])
                best = max(best, _rise(data, top, size - 1, (added, removed), data.count - 1))
    for size, added, removed in near:
        if size > 1:
            best = _fall(up, size, (added, removed), best, own=False)
        if size > 2 and removed < up.count:
            best = _fall(up, size - 1, (added, removed + 1), best, own=True)
    return best


def _rise(data: Sorted, new: int, size: int, moves: tuple[int, int], among: int) -> Fraction:
    """Return the largest V(y + new) - V(y) over y of `size` values, from the smallest `among` of x."""
    added, removed = moves
    first = np.arange(removed + 1)
    last = first + among - removed
    total, squares = data.sums[last] - data.sums[first], data.squares[last] - data.squares[first]
    best = None
    for each in _centers(data, new, size, added, total):
        sums, all_squares = total + added * each, squares + added * each * each
        found = _largest((size, (sums - size * new) ** 2), (-size - 1, size * all_squares - sums * sums))
        best = found if best is None else max(best, found)
    return Fraction(best or 0, (size * (size + 1)) ** 2)


def _centers(data: Sorted, new: int, size: int, added: int, total: _Integers) -> Iterator[_Integers | int]:
    """Yield where the additions may be: the rise is a parabola in it, largest at a bound or at its vertex."""
    yield 0
    if not added:
        return
    yield data.bound
    curve = size * (size + 1) - added * (2 * size + 1)
    if curve > 0:
        vertex = (size * (total - size * new) + (size + 1) * total) // curve
        for each in (vertex, vertex + 1):
            yield np.minimum(np.maximum(each, 0), data.bound)


def _fall(data: Sorted, size: int, moves: tuple[int, int], best: Fraction, *, own: bool) -> Fraction:
    """Return the largest V(y) - V(y + t) over y of `size` values, or `best` if that is more.

    With `own`, t is one of the values that y lacks, and any integer otherwise.
    """
    if Fraction(data.bound**2, 4 * (size + 1)) <= best:
        return best
    added, removed = moves
    high = (added - np.arange(added + 1)).astype(data.values.dtype)
    block = _Block(data, size, high, removed)
    peak = block.peak()
    least, most = block.total(np.full(len(high), block.end)), block.total(np.zeros(len(high), np.int64))
    off = _off(data, size, least, most, own)
    bound = (size + 1) * block.spread(peak).astype(object) - size * off.astype(object) ** 2
    whole = (size * (size + 1)) ** 2
    for index in np.argsort(-bound.astype(np.float64)).tolist():
        if bound[index] > best * whole:
            found = block.at(index).largest(int(peak[index]), int(off[index]), best * whole, own)
            best = max(best, Fraction(found, whole))
    return best


class _Block:
    """Data y that lack a block of x and have additions at the bounds: one y for each number of high ones."""

    def __init__(self, data: Sorted, size: int, high: _Integers, removed: int) -> None:
        self.data, self.size, self.high, self.removed = data, size, high, removed
        self.end = data.count - removed if removed else 0

    def at(self, index: int) -> _Block:
        """Return those with one number of high additions."""
        return _Block(self.data, self.size, self.high[index : index + 1], self.removed)

    def total(self, place: NDArray[np.int64]) -> _Integers:
        """Return the sums of y where the block begins at these places."""
        sums = self.data.sums
        found: _Integers = sums[-1] - sums[place + self.removed] + sums[place] + self.high * self.data.bound
        return found

    def spread(self, place: NDArray[np.int64]) -> _Integers:
        """Return N^2 V(y)."""
        squares = self.data.squares
        here = squares[-1] - squares[place + self.removed] + squares[place] + self.high * self.data.bound**2
        found: _Integers = self.size * here - self.total(place) ** 2
        return found

    def peak(self) -> NDArray[np.int64]:
        """Return where the variance is largest: it rises with the place, and then falls."""
        first, last = np.zeros(len(self.high), np.int64), np.full(len(self.high), self.end)
        while (first < last).any():
            middle = (first + last) // 2
            inner = np.minimum(middle, max(self.end - 1, 0))
            ends = self.data.values[inner] + self.data.values[inner + self.removed]
            down = self.size * ends >= self.total(inner) + self.total(inner + 1)
            active = first < last
            last = np.where(active & down, middle, last)
            first = np.where(active & ~down, middle + 1, first)
        return first

    def largest(self, peak: int, off: int, best: Fraction, own: bool) -> int:
        """Return the largest fall times the denominator of all places that may exceed the best."""
        width = 16
        while True:
            place = np.arange(max(peak - width, 0), min(peak + width, self.end) + 1)
            spread = self.spread(place)
            ends = (
                place[index] in (0, self.end)
                or (self.size + 1) * int(spread[index]) - self.size * off**2 <= best
                for index in (0, -1)
            )
            if all(ends):
                break
            width *= 8
        sums = self.total(place)
        if own:
            after = np.searchsorted(self.data.values, -(-sums // self.size))
            off_by = np.minimum(
                *(
                    abs(
                        sums
                        - self.size
                        * self.data.values[np.minimum(np.maximum(each, place), place + self.removed - 1)]
                    )
                    for each in (after, after - 1)
                )
            )
        else:
            off_by = np.minimum(sums % self.size, -sums % self.size)
        return _largest((self.size + 1, spread), (-self.size, off_by * off_by))


def _off(data: Sorted, size: int, least: _Integers, most: _Integers, own: bool) -> _Integers:
    """Return by how much at least a sum from `least` to `most` differs from `size` times what may join."""
    above, below = -(-least // size), least // size
    if own:
        place = np.searchsorted(data.values, above)
        below = data.values[np.maximum(np.searchsorted(data.values, below, side="right") - 1, 0)]
        above = data.values[np.minimum(place, data.count - 1)]
    gap = np.minimum(abs(above * size - most), abs(least - below * size))
    inside = (least <= above * size) & (above * size <= most)
    found: _Integers = np.where(inside, 0, gap)
    return found


def _largest(*terms: tuple[int, _Integers]) -> int:
    """Return the largest sum of integers, each a number times an array: floats choose, integers decide."""
    near = sum(factor * values.astype(np.float64) for factor, values in terms)
    error = sum(abs(factor) * np.abs(values.astype(np.float64)) for factor, values in terms) * _ROUNDING
    chosen = np.flatnonzero(near + error >= np.max(near - error))
    return int(np.max(sum(factor * values[chosen].astype(object) for factor, values in terms)))
