"""The largest and smallest value against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.stability.order_statistics.extremes import maximum, minimum
from stability.order_oracle import BOUNDS, STEPS, check_exact, small_data


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_extremes_equal_the_enumeration(relation, rows):
    data = small_data(60, seed=rows)
    check_exact(maximum, lambda values: max(values, default=BOUNDS["lower"]), relation, rows, data)
    check_exact(minimum, lambda values: min(values, default=BOUNDS["upper"]), relation, rows, data)


def test_data_at_the_bound_are_stable():
    values = np.array([3] * 5 + [10] * 20)
    profile = maximum(values, lower=0, upper=10, relation=ADD_REMOVE_PERSON, rows=2)
    assert [profile.local_at(k) for k in (0, 8, 9, 11, 12)] == [0, 0, 7, 7, 10]
