"""Counts and means of all small tables of a public number of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from curator.request.statistics.related_tables import (
    BOUNDS,
    KEYS,
    empty_survey,
    law_of,
    reading_rows,
    survey,
)
from discreet.audit.divergence import compare_laws
from discreet.curator.request.statistics.fixed_counts import CellCounts, ColumnMean, KeyAxes, RowCount
from discreet.data import Bounds, Keys
from discreet.errors import ParameterError
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer

LEVEL = Fraction(95, 100)
ONE = Offer(epsilon=1)
AXES = KeyAxes((("color", KEYS),))
CODES = list(product(range(4), (-1, 0, 1)))
STATISTICS = [
    CellCounts(rows=3, axes=AXES, offer=ONE),
    RowCount(rows=3, axes=AXES, chosen=("green",), offer=ONE),
    ColumnMean(rows=3, column="x", bounds=BOUNDS, offer=ONE),
]


def exact(statistic, rows):
    with reading_rows(rows):
        return statistic.exact(empty_survey(3))


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda one: one.kind)
def test_no_replacement_moves_more_than_the_sensitivity(statistic):
    """All tables of three rows are two common rows and a third: also where the table is too long or short."""
    moves = []
    for common in ([], [(1, 0)], [(1, 0), (2, 1)], [(1, 0), (2, 1), (0, -1)], [(3, 1)] * 4):
        found = [exact(statistic, [*common, row]) for row in CODES]
        found.append(exact(statistic, common))  # a row that is there or not
        moves += [one - other for one in found for other in found]
    bound = statistic.sensitivity
    assert bound.neighbors == REPLACE_ROW
    assert np.abs(moves).sum(axis=1).max() == bound.l1
    assert (np.array(moves) ** 2).sum(axis=1).max() == bound.squared_l2


def test_values_are_exact_in_the_engine():
    rows = [(1, "red"), (None, "green"), (9, "blue"), (2, "green")]
    table = survey(rows, count=4)
    assert CellCounts(rows=4, axes=AXES, offer=ONE).exact(table).tolist() == [1, 2]
    assert RowCount(rows=4, axes=AXES, chosen=("green",), offer=ONE).exact(table).tolist() == [2]
    assert ColumnMean(rows=4, column="x", bounds=BOUNDS, offer=ONE).exact(table).tolist() == [1 + 0 + 3 + 2]


@pytest.mark.parametrize("statistic", STATISTICS[1:], ids=lambda one: one.kind)
def test_the_law_keeps_its_epsilon_between_the_worst_neighbors(statistic):
    laws = []
    for third in ((0, -1), (3, 1)):
        with reading_rows([(1, 0), (2, 1), third]):
            laws.append(law_of(statistic, empty_survey(3), LEVEL))
    for pair in (laws, laws[::-1]):
        found = compare_laws(*pair, PureDP(epsilon=1, neighbors=REPLACE_ROW))
        assert not found.violated
        assert found.tightness > 0.99
    assert compare_laws(*laws, PureDP(epsilon=Fraction(9, 10), neighbors=REPLACE_ROW)).violated


def test_a_mean_is_in_units_of_its_step_over_the_rows():
    statistic = ColumnMean(rows=4, column="x", bounds=Bounds(0, 2, step=Fraction(1, 2)), offer=ONE)
    _, column = statistic.finish([10], LEVEL)
    assert column.values.tolist() == [10 / 8]
    assert column.lower.tolist() == [0.0]
    assert column.upper.tolist() == [2.0]
    assert statistic.expect(LEVEL).margin == statistic.mechanism.error.quantile(LEVEL) / 8
    with pytest.raises(ParameterError, match=r"2\^60"):
        ColumnMean(rows=10**8, column="x", bounds=Bounds(0, 2**50), offer=ONE)


def test_cells_and_keys_that_were_not_declared_are_refused():
    with pytest.raises(ParameterError, match="not one of the declared keys"):
        RowCount(rows=3, axes=AXES, chosen=("blue",), offer=ONE)
    numbers = KeyAxes((("n", Keys([0, 1])),))
    with pytest.raises(ParameterError, match="not one of the declared keys"):
        RowCount(rows=3, axes=numbers, chosen=(True,), offer=ONE)
    for columns in ((), (("color", KEYS), ("color", KEYS))):
        with pytest.raises(ParameterError, match="missing or named twice"):
            KeyAxes(columns)
    with pytest.raises(ParameterError, match="cells"):
        KeyAxes(tuple((str(place), Keys(range(101))) for place in range(3)))


def test_a_statistic_fits_what_it_was_made_for_alone():
    table = survey(count=3)
    assert all(statistic.fits(table) for statistic in STATISTICS)
    assert not any(statistic.fits(survey(count=4)) for statistic in STATISTICS)
    assert not ColumnMean(rows=3, column="x", bounds=Bounds(0, 2), offer=ONE).fits(table)
    assert not CellCounts(rows=3, axes=KeyAxes((("color", Keys(["red"])),)), offer=ONE).fits(table)
