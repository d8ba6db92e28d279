"""The winsorized mean against enumeration: exact where it says so, a bound otherwise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.neighbors import REPLACE_ROW
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
    profiles,
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


def test_replace_is_exact_where_nothing_is_trimmed():
    check_exact(
        partial(winsorized_mean, trim=0), partial(plainly, 0), REPLACE_ROW, 1, small_data(200, 4, most=7)
    )


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_the_local_sensitivity_is_exact_under_replace(part):
    data = small_data(200, seed=4, most=7)
    for profile, local in profiles(
        partial(winsorized_mean, trim=part), partial(plainly, part), REPLACE_ROW, 1, data
    ):
        assert profile.local_at(0) == local[0]


@pytest.mark.few(6)
@pytest.mark.parametrize("part", PARTS, ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_never_below_the_enumeration(part, relation, rows):
    check_bound(
        partial(winsorized_mean, trim=part),
        partial(plainly, part),
        (relation, rows),
        small_data(60, seed=rows),
        most=5,
    )


@given(neighbors(), st.sampled_from(PARTS), st.sampled_from(DECAYS))
@settings(max_examples=examples(100), deadline=None)
def test_smooth_between_neighbors(drawn, part, decay):
    check_neighbors(partial(winsorized_mean, trim=part), drawn, decay)


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_few_and_equal_values(relation, rows):
    for values in ([], [9], [3, 3, 3]):
        profile = winsorized_mean(
            np.array(values, dtype=np.int64), trim=0.2, lower=5, upper=5, relation=relation, rows=rows
        )
        assert (profile.value, profile.smooth(1)) == (5, 0)
