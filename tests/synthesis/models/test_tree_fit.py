import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import (
    nearest_counts,
    nearest_whole_counts,
    rows_counted,
    whole_rows_counted,
)
from discreet.synthesis.models.tree_fit import column_tables, fitted_tree


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.floats(0.5, 200))
def test_nearest_counts_satisfy_the_conditions_of_optimality(noisy, total):
    found = nearest_counts(np.array(noisy), total)
    assert np.isclose(found.sum(), total)
    assert (found >= 0).all()
    lowered = np.array(noisy) - found
    free = found > 1e-9
    assert np.ptp(lowered[free]) < 1e-6  # those above 0 are lowered alike
    assert (lowered[~free] <= lowered[free].max() + 1e-6).all()


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=12), st.integers(1, 500))
def test_whole_counts_are_within_one_of_the_nearest(noisy, total):
    found = nearest_whole_counts(np.array(noisy), total)
    assert found.dtype == np.int64
    assert (found >= 0).all()
    assert np.abs(found - nearest_counts(np.array(noisy, float), total)).max() <= 1


@given(st.lists(st.lists(st.integers(-50, 99), min_size=1, max_size=9), min_size=1, max_size=4))
def test_whole_rows_are_the_rows_rounded_down(columns):
    measured = [
        MeasuredTable(columns=(place,), counts=np.array(one), variance=2.5)
        for place, one in enumerate(columns)
    ]
    assert 0 <= rows_counted(measured) - whole_rows_counted(measured) + 1e-9 < 1 + 2e-9


def test_counts_of_any_size_stay_in_64_bits():
    huge = np.array([2**62, -(2**62), 2**62 - 1, 5])
    one = MeasuredTable(columns=(0,), counts=huge, variance=1.0)
    assert 1 <= whole_rows_counted([one]) <= 2**41
    found = nearest_whole_counts(huge, whole_rows_counted([one]))
    assert found[0] == found[2] > found[3] >= found[1] == 0


def test_totals_and_columns_are_weighted_by_their_precision():
    one = MeasuredTable(columns=(0,), counts=np.array([10, 20]), variance=1.0)
    pair = MeasuredTable(columns=(0, 1), counts=np.array([[5, 6], [7, 8]]), variance=1.0)
    # The sum of two counts has the variance 2, that of four has 4.
    assert np.isclose(rows_counted([one, pair]), (30 / 2 + 26 / 4) / (1 / 2 + 1 / 4))
    tables, total = column_tables((2, 2), [one, pair])
    means = (np.array([10.0, 20.0]) + np.array([11.0, 15.0]) / 2) / 1.5
    np.testing.assert_allclose(tables[0], nearest_counts(means, total))


@given(st.integers(0, 2**32))
def test_all_tables_of_a_tree_agree_with_each_other(seed):
    random = np.random.default_rng(seed)
    shape = (3, 2, 4, 2)
    sets = [(0,), (1,), (2,), (3,), (0, 1), (1, 2)]
    measured = [
        MeasuredTable(
            columns=one, counts=np.rint(random.normal(10, 9, [shape[c] for c in one])), variance=81.0
        )
        for one in sets
    ]
    model = fitted_tree(shape, measured)
    for branch in model.tree.branches:
        upper, lower = model.tree.cliques[branch.parent], model.tree.cliques[branch.child]
        for column in branch.separator:
            one = model.tables[branch.parent].sum(axis=tuple(a for a, c in enumerate(upper) if c != column))
            other = model.tables[branch.child].sum(axis=tuple(a for a, c in enumerate(lower) if c != column))
            np.testing.assert_allclose(one, other, atol=1e-5 * model.total)
    assert all((table >= 0).all() for table in model.tables)


def test_without_noise_measured_tables_are_kept():
    pair = np.array([[10, 0], [5, 25]])
    measured = [
        MeasuredTable(columns=(0,), counts=pair.sum(axis=1), variance=1.0),
        MeasuredTable(columns=(1,), counts=pair.sum(axis=0), variance=1.0),
        MeasuredTable(columns=(0, 1), counts=pair, variance=1.0),
    ]
    np.testing.assert_allclose(fitted_tree((2, 2), measured).table((0, 1)), pair, atol=1e-6)
