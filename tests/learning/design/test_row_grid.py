"""Rows on their grid: never too long, and alike in any company."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.learning.design.row_grid import RowGrid, public_bound

WIDE = RowGrid(columns=200, largest=Fraction(3))
numbers = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-2, 2)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=8))
def test_no_row_is_longer_than_the_grid_allows(rows):
    found = RowGrid(columns=3, largest=Fraction(3, 2)).rounded(rows).astype(object)
    assert ((found**2).sum(axis=1) <= 4096**2).all()


def test_long_rows_keep_their_direction_and_short_ones_their_length():
    grid = RowGrid(columns=2, largest=Fraction(1))
    found = grid.rounded([[30.0, 40.0], [0.25, 0.0], [np.nan, -0.5], [np.inf, 0.0]])
    assert found.tolist() == [[2457, 3276], [1024, 0], [0, -2048], [4095, 0]]


def test_a_row_is_rounded_alike_in_any_company():
    rows = np.random.default_rng(5).normal(0, 0.4, (40_000, 200))
    whole = WIDE.rounded(rows)
    for count in (1, 7, 1000, 16_385):
        assert (WIDE.rounded(rows[-count:]) == whole[-count:]).all()
        assert (WIDE.rounded(np.asfortranarray(rows[:count])) == whole[:count]).all()


def test_what_is_not_a_design_is_refused():
    with pytest.raises(ParameterError, match="rows of 200 numbers"):
        WIDE.rounded([[1.0, 2.0]])


def test_bounds_out_of_range_are_refused():
    assert public_bound("0.5", "largest") == Fraction(1, 2)
    for wrong in (0, -1, Fraction(2) ** 801, Fraction(1, 2**801)):
        with pytest.raises(ParameterError, match="largest"):
            public_bound(wrong, "largest")


@pytest.mark.parametrize("columns", [0, 1001, 5001])
def test_too_many_coordinates_are_refused(columns):
    with pytest.raises(ParameterError, match="coordinates: one for each number, key and bin"):
        _ = RowGrid(columns=columns, largest=Fraction(1)).checked_width
    assert RowGrid(columns=1000, largest=Fraction(1)).checked_width == 1000
