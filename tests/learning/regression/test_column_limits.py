"""Limits of columns: about a tenth beyond each, the bounds where rows are few, and what one row may move."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.design.features import NumberColumn
from discreet.learning.regression.column_limits import CELLS, ROUNDS, ColumnLimits, counts_of_cells
from discreet.learning.training.budgets import PureBudget, stated_budget
from learning.regression.replayed_noise import RecordedNoise

COLUMN = NumberColumn(name="x", lower=Fraction(0), upper=Fraction(CELLS))


def limits(columns=1, rows=1, **budget):
    stated = stated_budget(**(budget or {"epsilon": 1, "delta": 1e-6}))
    return ColumnLimits(columns=columns, budget=stated, rows=rows)


def test_a_value_is_in_one_cell_and_what_is_not_a_number_in_none():
    values = np.array([0.0, 0.5, 1.0, CELLS - 0.5, CELLS, 1e308, -np.inf, np.inf, np.nan])
    counts = counts_of_cells([COLUMN], [values])[0]
    assert counts[0] == 3
    assert counts[1] == 1
    assert counts[-1] == 4
    assert counts.sum() == 8
    odd = np.array(["secret", None, 10**400, -(10**400), 2, [], 3j], dtype=object)
    counts = counts_of_cells([COLUMN], [odd])[0]
    assert (counts[0], counts[2], counts[-1], counts.sum()) == (1, 1, 1, 3)


def test_the_event_is_that_of_all_rounds_within_the_budget():
    found = limits(columns=3)
    assert found.event == found.noise.event * ROUNDS
    pure = ColumnLimits(columns=3, budget=PureBudget(Fraction(1)))
    assert pure.noise.event.sensitivity / pure.noise.event.scale * ROUNDS == 1


@pytest.mark.parametrize("rows", [1, 3])
def test_a_person_moves_every_round_by_its_sensitivity_at_most(rows):
    """Whatever the earlier answers: those of a run without the person are given again."""
    source, worst = np.random.default_rng(4), 0
    found = limits(columns=2, rows=rows)
    for _ in range(20):
        values = source.uniform(0, CELLS, (2, source.integers(0, 60)))
        odd = source.choice([0, CELLS / 2, CELLS - 1, np.nan, source.uniform(0, CELLS)], (2, rows))
        first = RecordedNoise(found.noise)
        found._with(noise=first).release(counts_of_cells([COLUMN] * 2, values))
        second = RecordedNoise(found.noise, first.asked)
        more = np.concatenate([values, odd], axis=1)
        found._with(noise=second).release(counts_of_cells([COLUMN] * 2, more))
        assert len(second.asked) == ROUNDS
        for one, other in zip(first.asked, second.asked, strict=True):
            moved = np.asarray(other - one, dtype=np.int64)
            worst = max(worst, int((moved**2).sum()))
            assert (moved**2).sum() <= found.noise.event.squared_sensitivity
    assert worst >= found.noise.event.squared_sensitivity / 4


@pytest.mark.statistical
def test_about_a_tenth_is_beyond_each_limit_and_never_much_more():
    source = np.random.default_rng(5)
    values = [source.normal(CELLS / 2, CELLS / 20, 100_000), source.exponential(CELLS / 50, 100_000)]
    found = limits(columns=2).release(counts_of_cells([COLUMN] * 2, values))
    for (low, high), held in zip(found, values, strict=True):
        below, above = (held < low).mean(), (held >= high).mean()
        assert 0.02 < above < 0.12
        assert below < 0.12
        assert low < high


@pytest.mark.statistical
def test_few_rows_leave_wide_limits_and_one_value_gives_one_cell():
    found = limits().release(counts_of_cells([COLUMN], [np.full(20, 17.0)]))
    assert found[0, 0] < found[0, 1] <= CELLS
    same = limits().release(counts_of_cells([COLUMN], [np.full(200_000, 17.5)]))
    assert same.tolist() == [[17, 18]]


def test_limits_that_cross_are_put_in_order():
    found = limits()
    always = np.array([-(10**12), -(10**12)], dtype=object)  # every middle looks empty
    crossed = found._with(noise=RecordedNoise(found.noise, [always] * ROUNDS))
    low, high = crossed.release(np.zeros((1, CELLS), dtype=np.int64))[0]
    assert 0 <= low < high <= CELLS
