"""The list of windows against every window that is reachable, and what a shorter list would miss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.rank_shift import shifted_sensitivity, windows
from discreet.stability.order_statistics.ranks import RankRule

LEVELS = sorted({Fraction(part, whole) for whole in range(1, 8) for part in range(whole // 2 + 1)})
RULES = [RankRule(level=level, above=above) for level in LEVELS for above in (False, True) if level or above]


def every_window(size, rule, rows, distance, *, additions=True):
    """Return all windows of x: any additions a, removals b, people of any number of values, any start."""
    rank = rule.at
    found = set()
    for a in range(distance * rows + 1 if additions else 1):
        for b in range(min(size, distance * rows) + 1):
            if -(-a // rows) - (-b // rows) > distance:
                continue
            here = size + a - b
            of_y = set()
            for p in range(1, rows + 1):
                of_y |= {(rank(here), rank(here + p)), (rank(here + p) - p, rank(here))}
                if p < here:
                    of_y |= {(rank(here - p), rank(here)), (rank(here), rank(here - p) + p)}
                if p == here:
                    of_y.add((rank(here), here + 1) if rule.above else (0, rank(here)))
            for first, last in of_y:
                if first < last:
                    found |= {(start, start + last - first + b) for start in range(first - a, first + 1)}
    return found


def outermost(found, size):
    """Return the windows that are inside no other, cut at the bounds."""
    kept, furthest = [], -1
    for start, end in sorted({(max(s, 0), -min(e, size + 1)) for s, e in found}):
        if -end > furthest:
            kept.append((start, -end))
            furthest = -end
    return kept


@pytest.mark.few(2)
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_no_window_is_missed_and_none_is_made_up(rows):
    compared = 0
    for rule in RULES:
        for size in range(1, 11):
            for distance in range(-(-size // rows)):
                listed = set()
                for starts, ends in windows(size, rule, rows, distance):
                    listed |= set(zip(starts.tolist(), ends.tolist(), strict=True))
                every = every_window(size, rule, rows, distance)
                assert listed <= every
                assert outermost(listed, size) == outermost(every, size)
                compared += 1
    assert compared > 300


def test_the_median_needs_a_few_windows_only():
    rule = RankRule(level=Fraction(1, 2), above=False)
    listed = [len(starts) for starts, _ in windows(10**6, rule, 3, 1000)]
    assert sum(listed) < 20


def test_additions_matter_but_at_the_median():
    for level, needed in ((Fraction(1, 2), False), (Fraction(1, 4), True)):
        rule = RankRule(level=level, above=False)
        every = outermost(every_window(12, rule, 1, 4), 12)
        removals = outermost(every_window(12, rule, 1, 4, additions=False), 12)
        assert (every != removals) == needed


def test_a_rank_that_stays_misses_what_a_shift_does():
    # Were the rank to stay at 2, one step would reach from rank 1 to 3; adding to four values moves it to 3.
    data = ordered(np.array([0, 10, 11, 100]), lower=0, upper=200)
    rule = RankRule(level=Fraction(1, 2), above=False)
    assert shifted_sensitivity(data, rule, 1, 0) == 1
    assert shifted_sensitivity(data, rule, 2, 0) == 10
    assert shifted_sensitivity(data, rule, 1, 4) == 200
