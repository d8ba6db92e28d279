"""Bins: a row is in one cell of a column, and bins are narrow where data are dense."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.design.bins import CELLS, cell_counts, cell_edges, cells_of, chosen_edges, most_bins
from discreet.learning.design.features import NumberColumn

COLUMN = NumberColumn(name="age", lower=Fraction(0), upper=Fraction(256))


def counted(values):
    return cell_counts([COLUMN], [np.array(values)])[0]


def test_a_row_is_in_one_cell_or_none():
    values = np.array([-np.inf, -5, 0, 0.5, 1, 255.9, 256, 1e300, np.inf, np.nan])
    found = counted(values)
    assert (found[0], found[1], found[255], found.sum()) == (4, 1, 4, 9)
    for value in values:
        assert counted([value]).sum() == (not np.isnan(value))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "column",
    [
        COLUMN,
        NumberColumn(name="n", lower=Fraction(-1, 3), upper=Fraction(7, 11)),
        NumberColumn(name="n", lower=Fraction(0), upper=Fraction(1, 2**190)),
        NumberColumn(name="n", lower=Fraction(2**60), upper=Fraction(2**60 + 1)),
        NumberColumn(name="n", lower=Fraction(0), upper=Fraction(7), step=Fraction(1)),
        NumberColumn(name="n", lower=Fraction(0), upper=Fraction(1), step=Fraction(1)),
        NumberColumn(name="n", lower=Fraction(0), upper=Fraction(999), step=Fraction(1)),
    ],
    ids=["whole", "thirds", "narrow", "flat", "few", "two", "grid"],
)
def test_cells_are_found_as_by_a_search(column):
    edges = cell_edges(column)
    near = [np.nextafter(edges, way) for way in (-np.inf, np.inf)]
    inside = np.random.default_rng(1).uniform(float(column.lower), float(column.upper), 2000)
    values = np.concatenate([edges, *near, inside, [-np.inf, np.inf, 0.0, -1e308, 1e308, 5e-324]])
    assert (cells_of(edges, values) == np.searchsorted(edges, values, side="right")).all()


def test_bins_of_equal_counts():
    found = chosen_edges(COLUMN, np.ones(CELLS), 4)
    assert found.tolist() == [64.0, 128.0, 192.0]


def test_a_heavy_cell_is_a_bin_of_its_own_and_the_rest_is_still_divided():
    counts = np.ones(CELLS)
    counts[0] = 10_000
    found = chosen_edges(COLUMN, counts, 4)
    assert found[0] == 1.0
    assert np.abs(found[1:] - [86, 171]).max() <= 1.0


def test_cells_of_a_grid_hold_its_points():
    """Sixteen years of school are sixteen cells; a thousand points are cells of four."""
    school = NumberColumn(name="school", lower=Fraction(1), upper=Fraction(16), step=Fraction(1))
    assert cell_edges(school).tolist() == [place + 0.5 for place in range(1, 16)]
    counts = cell_counts([school], [np.arange(1.0, 17.0)])[0]
    assert counts.tolist() == [1] * 16 + [0] * 240
    fine = NumberColumn(name="cents", lower=Fraction(0), upper=Fraction(10), step=Fraction(1, 100))
    assert len(cell_edges(fine)) == 250
    assert cell_edges(fine)[0] == 0.035
    noisy = np.random.default_rng(2).normal(0, 100, CELLS)
    for column in (school, fine):
        assert np.isin(chosen_edges(column, noisy, 8), cell_edges(column)).all()


def test_there_are_no_more_cells_than_bins_need():
    draw = np.random.default_rng(3)
    for bins in (2, 3, 8, 100):
        for counts in (
            np.zeros(CELLS),
            -np.ones(CELLS),
            draw.normal(0, 5, CELLS),
            draw.zipf(1.5, CELLS) * 1.0,
        ):
            edges = chosen_edges(COLUMN, counts, bins)
            assert (np.diff(edges) > 0).all()
            assert np.isin(edges, cell_edges(COLUMN)).all()
            assert len(edges) < most_bins(bins)
