"""The largest rise of the variance where a person's values join: what they may be, and what they join.

The values that join are at the bounds, or the lowest and the highest of x. What stays of x is next to one
another, and all additions are at one integer, found in closed form (proof: docs/proofs/variance.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from discreet.stability.sorted_sums import (
    ExactIntegers,
    SortedSums,
    VarianceSteps,
    largest_variance_change,
    listed,
)

__all__ = ["largest_rise", "most_gained"]

_Parts = tuple[VarianceSteps, ExactIntegers, ExactIntegers, ExactIntegers, ExactIntegers]
"""Steps, sums and squares of what stays of x in y, and of what joins."""


def most_gained(count: int, new: int, mean: Fraction, bound: int) -> Fraction:
    """Return the maximum over u in [0, R] of (n + r) u (R - u) + n (m - u)^2, for r new values of mean u."""
    slope = (count + new) * bound - 2 * count * mean
    at = min(max(slope / (2 * new), Fraction(0)), Fraction(bound))
    return count * mean**2 + slope * at - new * at**2


def largest_rise(up: SortedSums, down: SortedSums, steps: VarianceSteps) -> Fraction:
    """Return the largest V(y') - V(y) of all steps, at least 0; `down` is mirrored."""
    best = Fraction(0)
    for some, rise in ((steps.size == 0, _alone), (steps.size > 0, _rise)):
        if some.any():
            best = max(best, rise(up, _outer(up, steps.at(some))))
    inner = steps.at((steps.size > 0) & (steps.removed > 0))
    if steps.own and len(inner.size):
        best = max(best, *(_rise(data, _inner(data, inner)) for data in (up, down)))
    return best


def _outer(data: SortedSums, steps: VarianceSteps) -> _Parts:
    """Return all choices in which values of x join from the two ends, and what goes is next to them."""
    which, before = listed(steps.removed)
    low, high, _ = np.ogrid[: steps.own + 1, : steps.free + 1, :1]
    start = low + before
    stop = start + (steps.size - steps.added)[which]
    last = data.count - (steps.own - low)
    stays = [each[stop] - each[start] for each in (data.sums, data.squares)]
    joins = [
        each[low] + each[-1] - each[last] + data.fitting(high) * data.bound**power
        for each, power in ((data.sums, 1), (data.squares, 2))
    ]
    return steps.at(which), stays[0], stays[1], joins[0], joins[1]


def _inner(data: SortedSums, steps: VarianceSteps) -> _Parts:
    """Return all choices in which only high values go, and some that join are below these."""
    low, inner, high = np.ogrid[: steps.own + 1, 1 : steps.own + 1, : steps.free + 1]
    low, inner, high = (each.reshape(-1, 1) for each in np.broadcast_arrays(low, inner, high))
    some = (low + inner <= steps.own).ravel()
    low, inner, high = low[some], inner[some], high[some]
    stop = low + (steps.size - steps.added)
    last = data.count - (steps.own - low - inner)
    stays = [each[stop] - each[low] for each in (data.sums, data.squares)]
    joins = [
        each[low]
        + each[stop + inner]
        - each[stop]
        + each[-1]
        - each[last]
        + data.fitting(high) * data.bound**power
        for each, power in ((data.sums, 1), (data.squares, 2))
    ]
    return steps, stays[0], stays[1], joins[0], joins[1]


def _alone(data: SortedSums, parts: _Parts) -> Fraction:
    """Return the largest variance of what joins no values."""
    steps, _, _, total, squares = parts
    return Fraction(int(np.max(steps.joined * squares - total * total)), steps.joined**2)


def _rise(data: SortedSums, parts: _Parts) -> Fraction:
    """Return the largest rise of all choices, with the additions where they are best."""
    steps, total, squares, joined, joined_squares = parts
    many, best = steps.joined, Fraction(0)
    size, added = data.fitting(steps.size), data.fitting(steps.added)
    inner = many * joined_squares - joined * joined
    for each in _centers(data, steps, total, joined):
        sums = total + added * each
        spread = size * (squares + added * each * each) - sums * sums
        away = many * sums - size * joined
        best = max(best, largest_variance_change(steps.size, many, (spread, inner, away), 1))
    return best


def _centers(
    data: SortedSums, steps: VarianceSteps, total: ExactIntegers, joined: ExactIntegers
) -> Iterator[ExactIntegers | int]:
    """Yield where the additions may be: the rise is a parabola in it, largest at a bound or at its vertex."""
    yield 0
    if not steps.added.any():
        return
    yield data.bound
    size = data.fitting(steps.size)
    after = size + steps.joined
    curve = size * after - steps.added * (size + after)
    # Where the parabola is open above, the vertex is no maximum, and any number will do.
    curve = steps.joined * np.maximum(curve, 1)
    vertex = (steps.joined * (size + after) * total - size**2 * joined) // curve
    for each in (vertex, vertex + 1):
        yield np.minimum(np.maximum(each, 0), data.bound)
