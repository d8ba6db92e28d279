"""Exact sensitivities of the variance where one value comes or goes: against all that can come and go."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import discreet.stability.variance_steps as module
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.variance_steps import Sorted, exact_change
from effort import sizes


def plain(values):
    count = len(values)
    if not count:
        return Fraction(0)
    return Fraction(sum(v * v for v in values), count) - Fraction(sum(values), count) ** 2


def exact(values, bound, distance):
    up = Sorted(np.array(sorted(values), dtype=np.int64), bound)
    return exact_change(up, up.mirrored(), distance)


def enumerated(top, size, most):
    oracle = Enumeration(plain, neighbors_of(range(top + 1), relation=ADD_REMOVE_PERSON))
    for data in multisets(range(top + 1), range(size + 1)):
        assert [exact(data, top, k) for k in range(most + 1)] == oracle.profile(data, most)


@pytest.mark.parametrize(("top", "size", "most"), sizes((1, 5, 6), (2, 6, 7), (3, 6, 5), (7, 4, 4)))
def test_all_data_of_up_to_six_values(top, size, most):
    enumerated(top, size, most)


def slowly(values, bound, distance):
    """Return the same by trying every choice of what goes, what comes, and which value is the step."""
    best, grid = Fraction(0), range(bound + 1)
    for added in range(distance + 1):
        for removed in range(min(distance - added, len(values)) + 1):
            for kept in set(combinations(values, len(values) - removed)):
                for new in combinations_with_replacement(grid, added):
                    near = kept + new
                    here = plain(near)
                    for value in grid:
                        best = max(best, abs(plain((*near, value)) - here))
                    for index in range(len(near)):
                        best = max(best, abs(plain(near[:index] + near[index + 1 :]) - here))
    return best


@pytest.mark.parametrize("many", sizes(6, 60))
def test_more_values_agree_with_a_slower_way(many):
    rng = np.random.default_rng(4)
    for _ in range(many):
        bound = int(rng.integers(4, 10))
        drawn = rng.beta(*((0.2, 0.2) if rng.random() < 0.5 else (2, 2)), 9) * bound
        values = tuple(sorted(np.rint(drawn).astype(int).tolist()))
        assert exact(values, bound, 2) == slowly(values, bound, 2)


def every_family_member(values, bound, distance):
    """Return the largest fall by a value within 0 … bound, trying each place of a block and all additions."""
    best = Fraction(0)
    for added in range(distance + 1):
        removed = min(distance - added, len(values))
        for place in range(len(values) - removed + 1):
            for high in range(added + 1):
                kept = values[:place] + values[place + removed :]
                near = (0,) * (added - high) + kept + (bound,) * high
                here, middle = plain(near), sum(near) // max(len(near), 1)
                for value in (middle, middle + 1):
                    best = max(best, here - plain((*near, value)))
    return best


def test_many_values_at_the_bounds_fall_most():
    """There the change is that of a value in the middle, and is found without trying every place."""
    rng = np.random.default_rng(5)
    values = tuple(sorted(np.rint(rng.beta(0.1, 0.1, 60) * 30).astype(int).tolist()))
    for distance in (0, 1, 3, 6):
        assert exact(values, 30, distance) >= every_family_member(values, 30, distance)
    halves = (0,) * 30 + (30,) * 30
    assert exact(halves, 30, 0) == every_family_member(halves, 30, 0) == Fraction(225, 61)


def test_integers_of_any_length_give_the_same():
    """Long values are integers of Python; here short ones are made so, and long ones are on a coarse grid."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        values = np.sort(rng.integers(0, 20, int(rng.integers(1, 12))))
        sides = [Sorted(values, 19), Sorted(values, 19).mirrored()]
        short = [exact_change(*sides, distance) for distance in (0, 1, 4)]
        for side in sides:
            side.values, side.sums, side.squares = (
                each.astype(object) for each in (side.values, side.sums, side.squares)
            )
        assert [exact_change(*sides, distance) for distance in (0, 1, 4)] == short
    scale = 2**49  # a rise by a bound is the same on every grid
    assert exact((0, 0, 0, scale), 9 * scale, 0) == exact((0, 0, 0, 1), 9, 0) * scale**2


def changed(values, bound, added, removed):
    """Yield all data after so many moves, with what went."""
    for gone in combinations(range(len(values)), removed):
        kept = tuple(value for index, value in enumerate(values) if index not in gone)
        for new in combinations_with_replacement(range(bound + 1), added):
            yield kept + new, {values[index] for index in gone}


def check_parts():
    """Check rises to a given value, and falls, each by itself: no other kind of change covers for it."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        bound, count = int(rng.integers(1, 8)), int(rng.integers(2, 6))
        values = tuple(sorted(rng.integers(0, bound + 1, count).tolist()))
        added, removed = int(rng.integers(0, 3)), int(rng.integers(0, count - 1))
        data, size = Sorted(np.array(values), bound), count + added - removed
        for value in range(bound + 1):
            rises = (
                plain((*near, value)) - plain(near) for near, _ in changed(values, bound, added, removed)
            )
            assert module._rise(data, value, size, (added, removed), count) == max(rises)
        falls, own = Fraction(0), Fraction(0)
        for near, gone in changed(values, bound, added, removed):
            here = plain(near)
            falls = max(falls, *(here - plain((*near, value)) for value in range(bound + 1)))
            own = max([own, *(here - plain((*near, value)) for value in gone)])
        if size > 1:
            assert module._fall(data, size, (added, removed), Fraction(0), own=False) == falls
            if removed:
                assert module._fall(data, size, (added, removed), Fraction(0), own=True) == own


def test_rises_and_falls_each_by_itself():
    check_parts()


def test_additions_in_the_middle_are_caught_missing(monkeypatch):
    monkeypatch.setattr(module, "_centers", lambda data, new, size, added, total: iter((0, data.bound)))
    with pytest.raises(AssertionError):
        check_parts()


def test_a_place_one_too_far_is_caught(monkeypatch):
    monkeypatch.setattr(
        module._Block, "largest", lambda self, peak, off, best, own: int(self.spread(np.array([0]))[0])
    )
    with pytest.raises(AssertionError):
        check_parts()


def test_a_bound_that_leaves_out_the_best_is_caught(monkeypatch):
    """What is certainly lost, because t is not the mean, must not be overstated."""
    monkeypatch.setattr(module, "_off", lambda data, size, least, most, own: least * 0 + size)
    with pytest.raises(AssertionError):
        check_parts()


def test_falls_are_caught_missing(monkeypatch):
    monkeypatch.setattr(module, "_fall", lambda data, size, moves, best, own: best)
    with pytest.raises(AssertionError):
        enumerated(2, 4, 1)
