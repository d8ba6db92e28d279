"""Changes of the variance by trying everything: what goes, what comes, what joins."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np

from discreet.stability.sorted_sums import SortedSums, VarianceSteps

ROWS = 3


def plain(values) -> Fraction:
    count = len(values)
    if not count:
        return Fraction(0)
    return Fraction(sum(v * v for v in values), count) - Fraction(sum(values), count) ** 2


def sides(values, bound, rows=ROWS) -> tuple[SortedSums, SortedSums]:
    up = SortedSums(np.array(sorted(values), dtype=np.int64), bound, rows)
    return up, up.mirrored()


def step(count, added, removed, own, free) -> VarianceSteps:
    size = count - removed - own + added
    return VarianceSteps(np.array([size]), np.array([added]), np.array([removed]), own, free)


def changes(values, bound, steps) -> Iterator[Fraction]:
    """Yield every change of one step."""
    places, grid = range(len(values)), range(bound + 1)
    added, removed = int(steps.added[0]), int(steps.removed[0])
    for gone in combinations(places, removed + steps.own):
        kept = [values[place] for place in places if place not in gone]
        for new in combinations_with_replacement(grid, added):
            before = plain([*kept, *new])
            for joins in combinations(gone, steps.own):
                own = [values[place] for place in joins]
                for free in combinations_with_replacement(grid, steps.free):
                    yield plain([*kept, *new, *own, *free]) - before


def cases(many, seed):
    """Yield random values with their bound and one step; on a wide grid where nothing new comes."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        count, joined = int(rng.integers(1, 7)), int(rng.integers(1, ROWS + 1))
        own = int(rng.integers(0, min(joined, count) + 1))
        removed = int(rng.integers(0, min(2, count - own) + 1))
        added = int(rng.integers(0, 3))
        new = added + joined - own
        bound = int(rng.choice([30, 200])) if not new else int(rng.integers(1, 6 if new < 3 else 4))
        values = sorted(rng.integers(0, bound + 1, count).tolist())
        yield values, bound, step(count, added, removed, own, joined - own)
