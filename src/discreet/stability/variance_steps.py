"""The exact local sensitivity of the variance where a person's values come or go.

With y of N values of mean m, and y' with d values more of mean u and variance v, V(y') - V(y) is
d (v - V(y)) / N' + N d (m - u)^2 / N'^2, N' = N + d. Either y or y' is x with some values added and some
removed: all numbers of them are tried (proof: docs/proofs/variance.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

from discreet.stability.order_statistics.splits import Splits, splits
from discreet.stability.sorted_sums import SortedSums, VarianceSteps
from discreet.stability.variance_falls import largest_fall
from discreet.stability.variance_rises import largest_rise

__all__ = ["exact_change", "within_choices"]

MOST_CHOICES = 2**17
"""How many choices of sizes, of what goes, and of what joins are tried, at most: below a second, usually."""


def within_choices(rows: int, distance: int) -> bool:
    """Return whether the distance is short enough to try everything: a rule of public numbers alone."""
    choices = comb(rows + 4, 4) * (distance * rows + 1) ** 2 if distance else rows**2
    return choices <= MOST_CHOICES


def exact_change(up: SortedSums, down: SortedSums, rows: int, distance: int) -> Fraction:
    """Return the largest change of the variance by a person within a distance; `down` is mirrored."""
    steps = list(_steps(splits(up.count, rows, distance), up.count, rows))
    best = max(largest_rise(up, down, each) for each in steps)
    for each in steps:
        best = largest_fall(up, down, each, best)
    return best


def _steps(near: Splits, count: int, rows: int) -> Iterator[VarianceSteps]:
    """Yield all steps from data near x, and to data near x, by how many values of x join, and of others."""
    most = int(near.added.max())
    for joined in range(rows, 0, -1):
        yield VarianceSteps(near.sizes, near.added, near.removed, 0, joined)
        for own in range(max(1, joined - most), joined + 1):  # where all is free, y itself is near x
            free = joined - own
            steps = VarianceSteps(near.sizes - joined, near.added - free, near.removed, own, free)
            some = (steps.added >= 0) & (steps.size >= steps.added)
            if some.any():
                yield steps.at(some)
