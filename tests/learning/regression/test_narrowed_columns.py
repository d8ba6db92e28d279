"""Columns within limits: never beyond what was declared, on both sides of 0 without an intercept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Keys
from discreet.learning.design.features import Features, KeyColumn, NumberColumn
from discreet.learning.regression.column_limits import CELLS
from discreet.learning.regression.narrowed_columns import NarrowedColumns, without_first_keys

NUMBER = NumberColumn(name="x", lower=Fraction(0), upper=Fraction(CELLS))
FEATURES = Features(columns=(KeyColumn(name="k", keys=Keys(["a", "b", "c"])), NUMBER))


def narrowed(limits, intercept=True):
    return NarrowedColumns.of(FEATURES, NUMBER, np.array([limits, [0, CELLS]]), intercept=intercept)


def test_bounds_are_wider_than_limits_and_within_what_was_declared():
    found = narrowed([100, 120])
    column = found.features.columns[1]
    assert (column.lower, column.upper) == (85, 135)
    assert found.factors.tolist() == [1, 1, 1, 2.5, 1]
    assert (found.target.lower, found.target.upper) == (0, CELLS)
    column = narrowed([0, 20]).features.columns[1]
    assert (column.lower, column.upper) == (0, 35)
    scale, middle = found.units
    assert scale.tolist() == [1, 1, 1, 25]
    assert middle.tolist() == [0, 0, 0, 110]


def test_limits_of_one_cell_are_widened():
    column = narrowed([100, 101]).features.columns[1]
    assert column.upper - column.lower == 20


@pytest.mark.parametrize("limits", [[0, 8], [100, 120], [0, CELLS], [CELLS - 8, CELLS]])
def test_without_an_intercept_the_middle_is_zero(limits):
    found = narrowed(limits, intercept=False)
    column = found.features.columns[1]
    assert column.middle == 0
    assert column.upper >= limits[1] - 1e-9
    assert found.target.middle == 0
    assert len(found.factors) == 4
    assert (found.factors <= 2.5).all()


def test_no_coordinate_is_beyond_small_integers():
    for limits in ([0, 8], [3, 200], [0, CELLS]):
        for intercept in (True, False):
            assert (narrowed(limits, intercept).factors * 4096 < 2**15).all()


def test_the_first_of_several_keys_has_no_coordinate():
    assert without_first_keys(FEATURES).names == ("k=b", "k=c", "x")
    one = Features(columns=(KeyColumn(name="k", keys=Keys(["a"])),))
    assert without_first_keys(one).names == ("k=a",)
