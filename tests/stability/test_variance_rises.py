"""The largest rise of the variance by one step, against all that can go, come and join."""

from __future__ import annotations

from fractions import Fraction

import pytest

import discreet.stability.variance_rises as module
from discreet.stability.variance_rises import largest_rise, most_gained
from effort import sizes
from stability.variance_oracle import cases, changes, sides, step


def check(many, seed=2):
    for values, bound, steps in cases(many, seed):
        assert largest_rise(*sides(values, bound), steps) == max(
            [Fraction(0), *changes(values, bound, steps)]
        )


@pytest.mark.parametrize("many", sizes(80, 2000))
def test_rises_are_the_largest_of_all(many):
    check(many)


def test_additions_in_the_middle_are_caught_missing(monkeypatch):
    monkeypatch.setattr(module, "_centers", lambda data, steps, total, joined: iter((0, data.bound)))
    with pytest.raises(AssertionError):
        check(80)


def test_values_that_join_from_one_end_only_are_caught(monkeypatch):
    whole = module._outer

    def one_end(data, steps):
        some, *parts = whole(data, steps)
        return some, *(part[:1] for part in parts)

    monkeypatch.setattr(module, "_outer", one_end)
    with pytest.raises(AssertionError):
        check(80)


def test_what_joins_may_be_below_what_goes(monkeypatch):
    """Here 1 joins with the upper bound, and 2 goes, which would be nearer to the mean of the others."""
    values, steps = [0, 1, 2], step(3, 1, 1, 1, 1)
    truth = max(changes(values, 5, steps))
    assert largest_rise(*sides(values, 5), steps) == truth
    assert largest_rise(*sides([5 - value for value in values], 5), steps) == truth
    monkeypatch.setattr(module, "_inner", module._outer)
    assert largest_rise(*sides(values, 5), steps) < truth


def test_the_most_that_is_gained_is_the_largest_over_all_means():
    for count, new, mean in (
        (5, 2, Fraction(3, 2)),
        (1, 4, Fraction(0)),
        (9, 1, Fraction(6)),
        (3, 3, Fraction(2)),
    ):
        grid = (Fraction(part, 60) for part in range(6 * 60 + 1))
        tried = max((count + new) * u * (6 - u) + count * (mean - u) ** 2 for u in grid)
        assert 0 <= most_gained(count, new, mean, 6) - tried <= Fraction(new, 3600)
