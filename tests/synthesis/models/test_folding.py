from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthesis.models.folding import (
    FoldedModel,
    folded_column,
    folded_counts,
    folded_kinds,
    folded_measured,
    unfolded_column,
)
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.tree_model import TreeModel

COUNTS = st.lists(st.integers(0, 500), min_size=1, max_size=30).map(np.array)


@given(COUNTS, st.fractions(Fraction(1, 100), 40_000), st.booleans(), st.booleans())
def test_every_cell_is_in_one_joined_cell_and_shares_add_up(counts, variance, ordered, last):
    fold = folded_column(counts, variance, max(int(counts.sum()), 1), ordered=ordered, last=last)
    assert set(fold.places) == set(range(fold.cells))
    np.testing.assert_allclose(np.bincount(fold.places, fold.shares), 1.0)
    if ordered:
        assert (np.diff(fold.places) >= 0).all()
        if last and len(counts) > 1:
            assert (fold.places == fold.places[-1]).sum() == 1
    if fold.cells == len(counts):
        assert (fold.places == np.arange(len(counts))).all()  # `sample` relies on it


def test_rare_keys_are_joined_and_heavy_numbers_stay_alone():
    keys = folded_column(np.array([500, 2, 300, 1]), Fraction(100), 803, ordered=False, last=False)
    assert keys.places.tolist() == [1, 0, 2, 0]
    numbers = folded_column(np.array([5, 5, 900, 5, 5]), Fraction(1), 920, ordered=True, last=False)
    assert numbers.places.tolist() == [0, 0, 1, 2, 2]


@given(COUNTS, st.fractions(Fraction(1, 100), 40_000))
def test_limits_are_those_of_real_numbers(counts, variance):
    # A cell is rare if it holds at most three deviations, and neighbors hold enough from the root of twice
    # the total times the deviation on: both compared by their powers, without a root.
    total = max(int(counts.sum()), 1)
    keys = folded_column(counts, variance, total, ordered=False, last=False)
    rare = [int(count) ** 2 <= 9 * variance for count in counts]
    if sum(rare) > 1:
        assert [place == 0 for place in keys.places] == rare
    numbers = folded_column(counts, variance, total, ordered=True, last=False)
    for place in range(numbers.cells - 1):
        inside = np.flatnonzero(numbers.places == place)
        held, following = int(counts[inside].sum()), int(counts[inside[-1] + 1])
        assert any((one + 1) ** 4 > (2 * total) ** 2 * variance for one in (held, following))


@given(st.integers(0, 2**32))
def test_joined_tables_are_sums_and_a_row_stays_in_one_cell(seed):
    random = np.random.default_rng(seed)
    table = random.integers(0, 50, (6, 5))
    folds = [
        folded_column(table.sum(axis=1), Fraction(400), int(table.sum()), ordered=True, last=False),
        folded_column(table.sum(axis=0), Fraction(400), int(table.sum()), ordered=False, last=False),
    ]
    joined = folded_counts(table, (0, 1), folds)
    wanted = np.zeros((folds[0].cells, folds[1].cells))
    for (one, other), count in np.ndenumerate(table):
        wanted[folds[0].places[one], folds[1].places[other]] += count
    assert (joined == wanted).all()


def test_variances_of_joined_counts_add_up():
    fold = folded_column(np.array([500, 2, 300, 1]), Fraction(100), 803, ordered=False, last=False)
    column = MeasuredTable(columns=(0,), counts=np.array([500, 2, 300, 1]), variance=100.0)
    one = folded_measured(column, [fold])
    assert one.counts.tolist() == [3, 500, 300]
    assert one.variance.tolist() == [200.0, 100.0, 100.0]


def test_a_folded_model_has_the_columns_own_counts_within_joined_cells():
    fold = folded_column(np.array([90, 6, 2, 2]), Fraction(100), 100, ordered=False, last=False)
    tree = JunctionTree.spanning((2, 2), [(0, 1)])
    inner = TreeModel(tree=tree, total=100.0, tables=(np.array([[5.0, 5.0], [60.0, 30.0]]),))
    model = FoldedModel(model=inner, folds=(fold, unfolded_column(2)))
    np.testing.assert_allclose(model.table((0,)), [90, 6, 2, 2])
    assert model.table((0, 1))[1].tolist() == pytest.approx([3.0, 3.0])
    rows = model.sample(10_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(rows[:, 0], minlength=4) / 100, [90, 6, 2, 2], atol=0.2)


def test_kinds_that_join_nothing_leave_cells_in_their_order():
    fold = folded_kinds(np.array([5, 3, 2]), np.array([2, 0, 1]))
    assert fold.places.tolist() == [0, 1, 2]
    joined = folded_kinds(np.array([5, 3, 2, 4]), np.array([1, 0, 1, 2]))
    assert joined.places.tolist() == [0, 1, 0, 2]
    assert joined.shares.tolist() == pytest.approx([5 / 7, 1, 2 / 7, 1])
