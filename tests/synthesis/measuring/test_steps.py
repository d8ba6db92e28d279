"""The two private steps: what one row can move, and that the laws drawn are those that are charged."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import replay
from discreet.synthesis.measuring.exact_tables import CountedRows, CountedTables, FoldedTables
from discreet.synthesis.measuring.steps import (
    SCORE_STEPS,
    TableChoice,
    TableNoise,
    distance,
    whole_scores,
)
from discreet.synthesis.models.folding import folded_column, unfolded_column

TABLES = st.lists(st.integers(0, 2**40), min_size=1, max_size=8)


@given(TABLES, st.data())
def test_a_row_moves_a_distance_by_at_most_its_steps(counts, data):
    table = np.array(counts, np.int64)
    estimate = np.array(data.draw(st.lists(st.floats(), min_size=len(counts), max_size=len(counts))))
    cell, rows = data.draw(st.integers(0, len(counts) - 1)), data.draw(st.integers(1, 5))
    moved = table.copy()
    moved[cell] += rows
    assert abs(distance(moved, estimate) - distance(table, estimate)) <= SCORE_STEPS * rows


def test_a_distance_of_floats_would_move_farther():
    # Planted: the table is compared as floats. Beyond 2^53 rounding moves a score by more than a row.
    def planted(table, estimate):
        return int(np.abs((table + estimate) * SCORE_STEPS).sum())

    table = np.array([1])
    assert abs(planted(table + 1, np.array([2.0**53])) - planted(table, np.array([2.0**53]))) > SCORE_STEPS


@given(st.lists(st.integers(-(2**80), 2**80), min_size=2, max_size=2))
def test_clamping_moves_no_score_farther(pair):
    one, other = whole_scores(pair).tolist()
    assert abs(one - other) <= abs(pair[0] - pair[1])


@given(st.integers(1, 10**6), st.integers(1, 100), st.integers(1, 1000))
def test_each_step_costs_its_rho(parts, rows, weight):
    rho = Fraction(1, parts)
    assert TableNoise.costing(rho, rows).event.concentrated_rho == rho
    assert TableNoise.costing(rho, rows).event.squared_sensitivity == rows**2
    choice = TableChoice.costing(rho, rows, weight)
    assert rho * Fraction(999, 1000) <= choice.event.concentrated_rho <= rho
    assert 2 * SCORE_STEPS * rows * weight * choice.mechanism.rate == choice.event.epsilon


def test_measured_counts_are_whole_and_keep_their_shape():
    with replay(3):
        one = TableNoise.costing(Fraction(1, 100), 1).measured((0, 2), np.arange(6).reshape(2, 3))
        assert TableChoice.costing(Fraction(100), 1).chosen(np.array([0, 10**6, 0])) == 1
    assert one.counts.shape == (2, 3)
    assert one.counts.dtype == np.int64
    assert one.columns == (0, 2)
    assert 49 < one.variance < 51


@given(st.integers(0, 2**32))
def test_tables_of_rows_of_engines_and_joined_ones_agree(seed):
    random = np.random.default_rng(seed)
    shape = (3, 4, 2)
    rows = np.stack([random.integers(0, size, 40) for size in shape], axis=1)
    counted = CountedRows(shape=shape, codes=rows)
    engine = CountedTables(tables={(0, 1): counted.table((0, 1)), (1, 2): counted.table((1, 2))})
    for columns in ((0,), (1,), (2,), (0, 1), (1, 2)):
        assert (engine.table(columns) == counted.table(columns)).all()
    folds = (
        folded_column(counted.table((0,)).astype(float), 5, 40, ordered=True, last=False),
        unfolded_column(4),
        unfolded_column(2),
    )
    joined = FoldedTables(tables=counted, folds=folds)
    assert (joined.table((0, 1)).sum(axis=0) == counted.table((1,))).all()
    assert joined.table((0,)).shape == (folds[0].cells,)
