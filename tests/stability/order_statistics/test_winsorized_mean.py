"""The winsorized mean against enumeration: exact, and a bound at long distances."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability.order_statistics import winsorized_mean as module
from discreet.stability.order_statistics.winsorized_mean import winsorized_mean
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


def plainly(part, values):
    """Return the winsorized mean by its definition."""
    if not values:
        return Fraction(DOMAIN[0])
    cut = math.floor(part * len(values))
    low, high = values[cut], values[len(values) - 1 - cut]
    return Fraction(sum(min(max(value, low), high) for value in values), len(values))


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_exact_where_a_value_is_replaced(part):
    check_exact(
        partial(winsorized_mean, trim=part),
        partial(plainly, part),
        REPLACE_ROW,
        1,
        small_data(60, seed=4, most=7),
    )


@pytest.mark.few(6)
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_exact_where_persons_come_and_go(part, relation, rows):
    check_exact(
        partial(winsorized_mean, trim=part), partial(plainly, part), relation, rows, small_data(20, seed=rows)
    )


@pytest.mark.few(6)
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_the_bound_is_never_below_the_enumeration(part, relation, rows, monkeypatch):
    monkeypatch.setattr(module, "within_steps", lambda rows, distance: False)
    monkeypatch.setattr(module, "MOST_CELLS", 0)
    check_bound(
        partial(winsorized_mean, trim=part),
        partial(plainly, part),
        (relation, rows),
        small_data(60, seed=rows),
        most=5,
    )


@given(neighbors(most=8), st.sampled_from(PARTS), st.sampled_from(DECAYS))
@settings(max_examples=examples(60), deadline=None)
def test_smooth_across_the_distance_up_to_which_all_is_exact(drawn, part, decay):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "within_steps", lambda rows, distance: distance <= 2)
        patched.setattr(module, "MOST_CELLS", 27)
        check_neighbors(partial(winsorized_mean, trim=part), drawn, decay)


@given(neighbors(most=8), st.sampled_from(PARTS), st.sampled_from(DECAYS))
@settings(max_examples=examples(60), deadline=None)
def test_smooth_between_neighbors(drawn, part, decay):
    check_neighbors(partial(winsorized_mean, trim=part), drawn, decay)


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_few_and_equal_values(relation, rows):
    for values in ([], [9], [3, 3, 3]):
        profile = winsorized_mean(
            np.array(values, dtype=np.int64), trim=0.2, lower=5, upper=5, relation=relation, rows=rows
        )
        assert (profile.value, profile.smooth(1)) == (5, 0)
