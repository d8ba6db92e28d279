"""The exact local sensitivity at a distance where persons come and go: all sizes, all steps, all moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeAlias

from discreet.stability.order_statistics.blocks import Blocks
from discreet.stability.order_statistics.levels import LevelWeights, minus, raised
from discreet.stability.order_statistics.moved import largest_integral
from discreet.stability.order_statistics.ranks import RankRule
from discreet.stability.order_statistics.splits import splits

__all__ = ["SidedWeights", "exact_sensitivity", "mean_changes", "range_changes", "within_steps"]

SidedWeights: TypeAlias = tuple[LevelWeights, bool]
"""What a step changes, as weights of levels, and whether of the mirrored values."""

MOST_STEPS = 64
"""How many pairs of a size and a number of values that come or go are tried, at most: below a second."""


def within_steps(rows: int, distance: int) -> bool:
    """Return whether the distance is short enough to try everything: a rule of public numbers alone."""
    return rows * (distance * rows + 1) <= MOST_STEPS


def exact_sensitivity(
    data: Blocks, mirrored: Blocks, changes: Callable[[int], Iterable[SidedWeights]], rows: int, distance: int
) -> Fraction:
    """Return the largest change by one step of data within a distance.

    Parameters
    ----------
    data, mirrored : Blocks
        The values, and the values mirrored at zero.
    changes : callable
        All that one step may change in data of a given size.
    rows : int
        How many values one person has at most.
    distance : int
        How many persons may have come or gone before.
    """
    best = Fraction(0)
    for size, *moves in splits(data.data.size, rows, distance).listed():
        for weights, flipped in changes(size):
            sides = (mirrored, data) if flipped else (data, mirrored)
            best = largest_integral(*sides, weights, (moves[0], moves[1]), best)
    return best


def mean_changes(levels: Callable[[int, int], LevelWeights], size: int, rows: int) -> list[SidedWeights]:
    """Return what a step changes in a mean that never falls when a value grows.

    It rises most if the values that come are at the upper bound, or if the smallest go; its falls are the
    rises of the mirrored values. Of no values it is the lower bound.

    Parameters
    ----------
    levels : callable
        The weights of the mean of n values, with p more below all others that do not count.
    size : int
        The number of values.
    rows : int
        How many may come or go.
    """
    if not size:
        return []
    here = levels(size, 0)
    found = [minus(levels(size + more, 0), here, size) for more in range(1, rows + 1)]
    found += [minus(levels(size - fewer, fewer), here, size) for fewer in range(1, min(rows, size - 1) + 1)]
    both = [(weights, flipped) for weights in found for flipped in (False, True)]
    return [*both, (here, False)] if size <= rows else both


def range_changes(first: RankRule, last: RankRule, size: int, rows: int) -> list[SidedWeights]:
    """Return what a step changes in the distance between the values of two ranks, both 0 for no values.

    Values that come between the two draw both inward, and those that go there push both outward. Values
    that come or go at the ends shift both ranks.
    """
    here = raised(size, first.at(size), last.at(size))
    found: list[LevelWeights] = []
    for more in range(1, rows + 1):
        start, stop = first.at(size + more), last.at(size + more)
        found.append(minus(here, raised(size, start, stop - more), size))
        found += [minus(raised(size, start - low, stop - low), here, size) for low in range(more + 1)]
    for fewer in range(1, min(rows, size) + 1):
        start, stop = first.at(size - fewer), last.at(size - fewer)
        if stop:
            found.append(minus(raised(size, start, stop + fewer), here, size))
        found += [minus(here, raised(size, start + low, stop + low), size) for low in range(fewer + 1)]
    return [(weights, False) for weights in found if any(value > 0 for _, value in weights.ends())]
