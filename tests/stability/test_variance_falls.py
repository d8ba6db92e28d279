"""The largest fall of the variance by one step, against all that can go, come and join."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet.stability.variance_falls as module
from discreet.stability.variance_falls import largest_fall
from effort import sizes
from stability.variance_oracle import cases, changes, plain, sides, step


def check(many, seed=4):
    for values, bound, steps in cases(many, seed):
        truth = max([Fraction(0), *(-change for change in changes(values, bound, steps))])
        assert largest_fall(*sides(values, bound), steps, Fraction(0)) == truth


@pytest.mark.parametrize("many", sizes(80, 2000))
def test_falls_are_the_largest_of_all(many):
    check(many)


APART = [
    ([0, 52, 53, 146, 147, 188], 200),
    ([0, 70, 71, 128, 128, 200], 200),
    ([0, 43, 44, 155, 155, 200], 200),
]


@pytest.mark.parametrize(("values", "bound"), APART)
def test_two_values_may_join_away_from_what_goes(values, bound, monkeypatch):
    steps = step(6, 0, 1, 2, 0)
    truth = max(-change for change in changes(values, bound, steps))
    assert largest_fall(*sides(values, bound), steps, Fraction(0)) == truth
    monkeypatch.setattr(module._Blocks, "largest_apart", lambda self: Fraction(0))
    assert largest_fall(*sides(values, bound), steps, Fraction(0)) < truth


def test_a_place_one_too_far_is_caught(monkeypatch):
    monkeypatch.setattr(
        module._Blocks, "largest", lambda self, peak, off, best: self._at_places(np.array([0]))
    )
    with pytest.raises(AssertionError):
        check(80)


def test_a_bound_that_leaves_out_the_best_is_caught(monkeypatch):
    """What is certainly lost, because what joins is not at the mean, must not be overstated."""
    whole = module._Blocks.off
    monkeypatch.setattr(module._Blocks, "off", lambda self: 2 * whole(self) + 0.1)
    with pytest.raises(AssertionError):
        check(80)


def test_values_that_repeat_are_tried_once_and_none_is_missed():
    """Blocks of equal values are the same wherever they begin; where they are not, each place counts."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        values = sorted(rng.choice([0, 0, 0, 1, 6, 6, 6], 8).tolist())
        steps = step(8, 1, 2, 1, 0)
        truth = max([Fraction(0), *(-change for change in changes(values, 6, steps))])
        assert largest_fall(*sides(values, 6), steps, Fraction(0)) == truth


def test_many_values_at_the_bounds_fall_most():
    """There the change is that of values in the middle, and is found without trying every place."""
    halves = [0] * 30 + [30] * 30
    steps = step(60, 0, 0, 0, 2)
    assert largest_fall(*sides(halves, 30), steps, Fraction(0)) == plain(halves) - plain([*halves, 15, 15])
    assert largest_fall(*sides(halves, 30), steps, Fraction(99)) == 99
