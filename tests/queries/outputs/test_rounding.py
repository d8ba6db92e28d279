"""Floats lie on the side they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.queries.outputs.rounding import enclosed

steps = st.lists(st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-1000, 1000), min_size=1, max_size=5)
grids = st.one_of(
    st.sampled_from(
        [Fraction(1), Fraction(1, 100), Fraction(1, 3), Fraction(5), Fraction(10**30), Fraction(1, 10**30)]
    ),
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
)


@given(steps, grids)
def test_the_sides_enclose(integers, step):
    found = enclosed(np.array(integers, np.int64), step)
    for index, integer in enumerate(integers):
        exact = integer * step
        assert Fraction(float(found.below[index])) <= exact <= Fraction(float(found.above[index]))
        assert found.below[index] <= found.nearest[index] <= found.above[index]
        width = Fraction(float(found.above[index])) - Fraction(float(found.below[index]))
        assert width <= abs(exact) * Fraction(1, 2**48)


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1),
    st.sampled_from([Fraction(1, 100), Fraction(1, 7), Fraction(3, 8)]),
)
def test_the_nearest_is_the_nearest(integers, step):
    found = enclosed(np.array(integers, np.int64), step)
    assert found.nearest.tolist() == [float(integer * step) for integer in integers]


def test_whole_numbers_are_exact():
    found = enclosed(np.array([0, 100, -250, 1], np.int64), Fraction(1, 100))
    assert found.below.tolist()[:2] == [0.0, 1.0]
    assert found.above.tolist()[:2] == [0.0, 1.0]
    assert found.below[3] < 0.01 < found.above[3]


@pytest.mark.parametrize("integers", [[2**70, -(2**70)], [2**200]])
def test_python_integers_are_taken(integers):
    found = enclosed(np.array(integers, object), Fraction(1, 100))
    assert all(
        below < integer / 100 < above
        for below, integer, above in zip(found.below, integers, found.above, strict=True)
    )


def test_nothing_is_nothing():
    assert enclosed(np.array([0], np.int64), Fraction(10**30)).above.tolist() == [0.0]
    assert enclosed(np.array([], np.int64), Fraction(1, 2)).nearest.size == 0
