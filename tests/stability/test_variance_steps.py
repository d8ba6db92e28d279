"""Exact sensitivities of the variance where persons come or go: against all that can come and go."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet.stability.variance_steps as module
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.variance_steps import exact_change, within_choices
from effort import sizes
from stability.variance_oracle import plain, sides


def exact(values, bound, rows, distance):
    return exact_change(*sides(values, bound, rows), rows, distance)


def enumerated(top, size, most, rows):
    oracle = Enumeration(plain, neighbors_of(range(top + 1), relation=ADD_REMOVE_PERSON, rows=rows))
    for data in multisets(range(top + 1), range(size + 1)):
        assert [exact(data, top, rows, k) for k in range(most + 1)] == oracle.profile(data, most)


@pytest.mark.few(1, slow=3)
@pytest.mark.parametrize(
    ("top", "size", "most", "rows"),
    [
        (1, 4, 2, 2),
        (2, 6, 7, 1),
        (3, 6, 5, 1),
        (7, 4, 4, 1),
        (2, 6, 3, 2),
        (3, 6, 2, 2),
        (4, 5, 1, 3),
        (2, 6, 2, 3),
    ],
)
def test_all_data_of_up_to_six_values(top, size, most, rows):
    enumerated(top, size, most, rows)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_small_data_of_persons(rows):
    enumerated(2, 3, 1, rows)


@pytest.mark.parametrize("many", sizes(3, 40))
def test_more_values_agree_with_a_slower_way(many):
    """All that can be reached from nine values, one step and then another."""
    rng = np.random.default_rng(4)
    for _ in range(many):
        bound, rows = int(rng.integers(3, 6)), int(rng.integers(1, 3))
        drawn = rng.beta(*((0.2, 0.2) if rng.random() < 0.5 else (2, 2)), 9) * bound
        values = tuple(sorted(np.rint(drawn).astype(int).tolist()))
        oracle = Enumeration(plain, neighbors_of(range(bound + 1), relation=ADD_REMOVE_PERSON, rows=rows))
        assert [exact(values, bound, rows, k) for k in range(2)] == oracle.profile(values, 1)


def test_integers_of_any_length_give_the_same():
    """Long values are integers of Python; here short ones are made so, and long ones are on a coarse grid."""
    rng = np.random.default_rng(7)
    for _ in range(6):
        values = np.sort(rng.integers(0, 20, int(rng.integers(1, 12))))
        both = sides(values, 19, 2)
        short = [exact_change(*both, 2, distance) for distance in (0, 1, 3)]
        for side in both:
            side.values, side.sums, side.squares = (
                each.astype(object) for each in (side.values, side.sums, side.squares)
            )
        assert [exact_change(*both, 2, distance) for distance in (0, 1, 3)] == short
    scale = 2**49  # a rise by a bound is the same on every grid
    assert exact((0, 0, 0, scale), 9 * scale, 1, 0) == exact((0, 0, 0, 1), 9, 1, 0) * scale**2


def test_falls_are_caught_missing(monkeypatch):
    monkeypatch.setattr(module, "largest_fall", lambda up, down, steps, best: best)
    with pytest.raises(AssertionError):
        enumerated(2, 4, 1, 1)


def test_steps_to_data_near_x_are_caught_missing(monkeypatch):
    whole = module._steps
    monkeypatch.setattr(module, "_steps", lambda *moves: (each for each in whole(*moves) if not each.own))
    with pytest.raises(AssertionError):
        enumerated(2, 3, 1, 2)


def test_how_far_is_a_rule_of_public_numbers():
    reach = {
        rows: max((k for k in range(400) if within_choices(rows, k)), default=-1)
        for rows in (1, 2, 4, 8, 362, 363)
    }
    assert reach == {1: 160, 2: 46, 4: 10, 8: 1, 362: 0, 363: -1}


def test_one_point_of_many_values_has_a_closed_form():
    """All at the middle: three values at the two bounds, whichever, are 4 away from 50 at 4."""
    values, bound = [4] * 50, 8
    by_sign = [plain([*values, *([0] * low), *([8] * (3 - low))]) for low in range(4)]
    assert exact(values, bound, 3, 0) == max(by_sign) == Fraction(3 * 16 * 53 - 16, 53**2)
