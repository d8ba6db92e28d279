"""The interquartile range against enumeration: exact under replace, a bound otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.neighbors import REPLACE_ROW
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


@pytest.mark.few(2)
@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_never_below_the_enumeration(relation, rows):
    check_bound(interquartile_range, plainly, (relation, rows), small_data(100, seed=rows), most=3)


@given(neighbors(), st.sampled_from(DECAYS))
@settings(max_examples=examples(100), deadline=None)
def test_smooth_between_neighbors(drawn, decay):
    check_neighbors(interquartile_range, drawn, decay)


def test_constant_and_missing_data():
    for values in ([], [5], [5, 5, 5, 5]):
        for relation, rows in STEPS:
            profile = interquartile_range(
                np.array(values, dtype=np.int64), lower=0, upper=9, relation=relation, rows=rows
            )
            assert profile.value == 0
