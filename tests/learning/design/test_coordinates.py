"""Coordinates: columns that are read together become what each becomes by itself."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.learning.design.coordinates import Coordinates, indicators, numbers_of
from discreet.learning.design.features import Features
from discreet.learning.regression.column_limits import counts_of_cells

BOUNDS = [(-1, 1), (0, 1e-100), (-3, 7)]
FEATURES = Features.of(BOUNDS, ["a", "b", "c"], by_name=False)
DESIGN = np.random.default_rng(1).normal(size=(5000, 3)) * [1, 1e-100, 5]
DESIGN[:7, 0] = [np.nan, np.inf, -np.inf, 1e308, -0.0, 5e-324, 1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.uint64, bool])
def test_columns_read_together_are_read_alike(order, kind):
    with np.errstate(all="ignore"):
        design = np.array(np.nan_to_num(DESIGN, nan=3.0) if kind is not np.float64 else DESIGN, order=order)
        design = np.clip(design, 0, 99).astype(kind) if np.dtype(kind).kind != "f" else design.astype(kind)
    together, apart = list(design.T), [column.copy() for column in design.T]
    assert numbers_of(together) is not None
    assert numbers_of(apart) is None
    assert (FEATURES.encoded(together) == FEATURES.encoded(apart)).all()
    assert (FEATURES.rows(together) == FEATURES.rows(apart)).all()
    assert (counts_of_cells(FEATURES.columns, together) == counts_of_cells(FEATURES.columns, apart)).all()


def test_what_is_no_plain_number_is_read_one_by_one():
    assert numbers_of(list(np.ones((2, 2), dtype=object).T)) is None
    assert numbers_of(list(np.ones((2, 2), dtype=np.longdouble).T)) is None


def test_blocks_are_the_coordinates_of_all_rows():
    found = [part for _, part in Coordinates.of(FEATURES.columns).blocks([*np.tile(DESIGN, (20, 1)).T])]
    assert len(found) > 1
    assert (np.concatenate(found) == FEATURES.encoded([*np.tile(DESIGN, (20, 1)).T])).all()


def test_rows_that_are_not_known_are_left_out():
    known = np.arange(5000) % 3 > 0
    mixed = Features.of([(-1, 1), dp.Keys([0]), (-3, 7)], ["a", "b", "c"], by_name=False)
    for features in (FEATURES, mixed):
        assert (features.rows(list(DESIGN.T), known=known) == features.rows(list(DESIGN.T))[known]).all()


def test_indicators_have_one_place_or_none():
    assert indicators(np.array([1, -1, 0]), 2).tolist() == [[0, 1], [0, 0], [1, 0]]
