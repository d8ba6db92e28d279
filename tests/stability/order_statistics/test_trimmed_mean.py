"""The trimmed mean against enumeration, and against the exact sensitivity of larger data."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.order_statistics import trimmed_mean as module
from discreet.stability.order_statistics.trimmed_mean import trimmed_mean
from discreet.stability.order_statistics.trimming import Trimming
from effort import examples
from stability.order_oracle import (
    DECAYS,
    DOMAIN,
    STEPS,
    check_bound,
    check_exact,
    check_neighbors,
    neighbors,
    small_data,
)

PARTS = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(2, 5)]


def plainly(part, values, empty=DOMAIN[0]):
    """Return the trimmed mean by its definition."""
    if not values:
        return Fraction(empty)
    cut = math.floor(part * len(values))
    kept = values[cut : len(values) - cut]
    return Fraction(sum(kept), len(kept))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_trimmed_means_equal_the_enumeration_where_a_value_is_replaced(part):
    data = small_data(200, seed=4, most=7)
    check_exact(partial(trimmed_mean, trim=part), partial(plainly, part), REPLACE_ROW, 1, data)


@pytest.mark.few(6)
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_trimmed_means_equal_the_enumeration_where_persons_come_and_go(part, relation, rows):
    check_exact(
        partial(trimmed_mean, trim=part), partial(plainly, part), relation, rows, small_data(25, seed=rows)
    )


@pytest.fixture
def bound_alone(monkeypatch):
    """Leave the upper bound that holds at long distances."""
    monkeypatch.setattr(module, "within_cells", lambda rows, distance: False)


@pytest.mark.few(6)
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
@pytest.mark.usefixtures("bound_alone")
def test_the_bound_is_never_below_the_enumeration(part, relation, rows):
    check_bound(
        partial(trimmed_mean, trim=part),
        partial(plainly, part),
        (relation, rows),
        small_data(60, seed=rows),
        most=6,
    )


@given(neighbors(), st.sampled_from(PARTS), st.sampled_from(DECAYS))
@settings(max_examples=examples(150), deadline=None)
def test_smooth_between_neighbors(drawn, part, decay):
    check_neighbors(partial(trimmed_mean, trim=part), drawn, decay)


@given(neighbors(), st.sampled_from(PARTS), st.sampled_from(DECAYS))
@settings(max_examples=examples(100), deadline=None)
def test_smooth_across_the_distance_up_to_which_all_is_exact(drawn, part, decay):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "within_cells", lambda rows, distance: distance <= 2)
        check_neighbors(partial(trimmed_mean, trim=part), drawn, decay)


def reached(values, part, rows, distance):
    """Return the exact local sensitivity at a distance between the bounds 0 and 1000, by the extreme moves.

    Additions are low or high. Removals are next to one another, just where the weights of the two means
    change their sign: every place for them is tried.
    """
    best, lower, upper = Fraction(0), 0, 1000
    for persons in range(distance + 1):
        for added in range(persons * rows + 1):
            for removed in range(min((distance - persons) * rows, len(values)) + 1):
                for low in range(added + 1):
                    for place in range(len(values) - removed + 1):
                        kept = values[:place] + values[place + removed :]
                        y = [lower] * low + kept + [upper] * (added - low)
                        here = plainly(part, y, lower)
                        for p in range(1, rows + 1):
                            others = [y + [upper] * p, [lower] * p + y]
                            if p <= len(y):
                                others += [y[p:], y[: len(y) - p]]
                            best = max(best, *(abs(plainly(part, other, lower) - here) for other in others))
    return best


@pytest.mark.parametrize("part", [Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_exact_and_close_where_values_are_many(part, rows, monkeypatch):
    values = sorted(int(value) for value in np.random.default_rng(5).normal(500, 100, 80))
    statistic = partial(trimmed_mean, np.array(values), trim=part, lower=0, upper=1000, rows=rows)
    profile, bound = statistic(), statistic()
    for distance in range(3 if rows == 1 else 2):
        exact = reached(values, part, rows, distance)
        assert profile.local_at(distance) == exact
        with monkeypatch.context() as patched:
            patched.setattr(module, "within_cells", lambda rows, distance: False)
            assert exact <= bound.local_at(distance) <= Fraction(3, 2) * exact


@pytest.mark.usefixtures("bound_alone")
def test_a_rank_that_does_not_shift_is_caught(monkeypatch):
    windows = Trimming.windows

    def unshifted(self, size, moves, more):
        starts, ends = windows(self, size, moves, more)
        return starts, ends - 1 - moves

    monkeypatch.setattr(Trimming, "windows", unshifted)
    part = Fraction(1, 10)
    with pytest.raises(AssertionError):
        check_bound(
            partial(trimmed_mean, trim=part),
            partial(plainly, part),
            (ADD_REMOVE_PERSON, 1),
            small_data(60, seed=1),
            most=6,
        )


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_few_equal_and_large_values(relation, rows):
    for values in ([], [9], [3, 3, 3]):
        profile = trimmed_mean(
            np.array(values, dtype=np.int64), trim=0.2, lower=5, upper=5, relation=relation, rows=rows
        )
        assert (profile.value, profile.smooth(1)) == (5, 0)
    large = np.full(50, 2**53)
    profile = trimmed_mean(large, trim=0.1, lower=-(2**53), upper=2**53, relation=relation, rows=rows)
    assert profile.value == 2**53
    assert profile.local_at(profile.reach) <= 2**54


def test_trimming_everything_is_refused():
    with pytest.raises(ParameterError, match="trim"):
        trimmed_mean(np.array([1]), trim=0.5, lower=0, upper=1)
