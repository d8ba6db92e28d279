"""Rows on the public grid of a regression; `test_adaptive_ridge` has what the estimators rely on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.learning.regression.linear_fit import Units
from discreet.learning.regression.linear_rows import rows_on_grid

UNITS = Units(steps=16, row_steps=15, largest=Fraction(2), response=Fraction(5))


def test_rows_are_within_their_bounds_and_each_by_itself():
    design = np.array([[1e300, 0.0], [np.nan, 2.0], [0.3, -0.4], [-np.inf, np.inf]])
    rows, target = rows_on_grid(design, [9, -9, np.nan, 2.5], columns=2, units=UNITS)
    assert ((rows**2).sum(axis=1) <= 16**2).all()
    assert target.tolist() == [8, -8, 0, 4]
    for place in range(4):
        alone, _ = rows_on_grid(design[[place]], [0], columns=2, units=UNITS)
        assert alone[0].tolist() == rows[place].tolist()
