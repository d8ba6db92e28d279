"""The interquartile range against enumeration: exact, and a bound at long distances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability.order_statistics import interquartile_range as module
from discreet.stability.order_statistics.interquartile_range import interquartile_range
from effort import examples
from stability.order_oracle import (
    DECAYS,
    STEPS,
    check_bound,
    check_exact,
    check_neighbors,
    neighbors,
    small_data,
)


def plainly(values):
    """Return the interquartile range by its definition."""
    if not values:
        return 0
    low, high = (values[math.ceil(Fraction(part * len(values), 4)) - 1] for part in (1, 3))
    return high - low


def test_replace_is_exact():
    check_exact(interquartile_range, plainly, REPLACE_ROW, 1, small_data(300, seed=4, most=7))


@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_exact_where_persons_come_and_go(relation, rows):
    check_exact(interquartile_range, plainly, relation, rows, small_data(12, seed=rows))


@pytest.mark.few(2)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_the_bound_is_never_below_the_enumeration(relation, rows, monkeypatch):
    monkeypatch.setattr(module, "within_steps", lambda rows, distance: False)
    check_bound(interquartile_range, plainly, (relation, rows), small_data(100, seed=rows), most=3)


@given(neighbors(most=8), st.sampled_from(DECAYS))
@settings(max_examples=examples(60), deadline=None)
def test_smooth_across_the_distance_up_to_which_all_is_exact(drawn, decay):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "within_steps", lambda rows, distance: distance <= 2)
        check_neighbors(interquartile_range, drawn, decay)


@given(neighbors(most=8), st.sampled_from(DECAYS))
@settings(max_examples=examples(60), deadline=None)
def test_smooth_between_neighbors(drawn, decay):
    check_neighbors(interquartile_range, drawn, decay)


def test_constant_and_missing_data():
    for values in ([], [5], [5, 5, 5, 5]):
        for relation, rows in STEPS:
            profile = interquartile_range(
                np.array(values, dtype=np.int64), lower=0, upper=9, relation=relation, rows=rows
            )
            assert profile.value == 0
