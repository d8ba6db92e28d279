import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Keys
from discreet.noise import replay
from discreet.synthesis import SpanningTree
from discreet.synthesis.measuring.exact_tables import CountedRows, FoldedTables
from discreet.synthesis.measuring.steps import SCORE_STEPS
from discreet.synthesis.models.junction_tree import JunctionTree
from synthesis.charged_steps import COLUMNS, is_charged, made_up, watched


def test_columns_choices_and_pairs_are_what_is_charged():
    mechanism = SpanningTree(columns=COLUMNS, epsilon=1, delta=1e-9)
    with watched() as drawn:
        found = mechanism.release(made_up())
    assert is_charged(mechanism, drawn)
    pairs = [one.columns for one in found.measured[4:]]
    assert len(pairs) == mechanism.edges == 3
    assert sorted(JunctionTree.spanning((2,) * 4, pairs).cliques) == sorted(pairs)  # a tree


class Unnoised(SpanningTree):
    """Planted: the largest score is taken as it is."""

    def _chosen(self, scores, choice, joins):
        class Largest:
            def chosen(self, scores):
                return int(np.argmax(scores))

        return super()._chosen(scores, Largest(), joins)


class Reused(SpanningTree):
    """Planted: pairs are measured with the noise of all of them together, each."""

    def draw(self, tables):
        found = super().draw(tables)
        return (*found, self.pair_noise.measured((0, 1), tables.table((0, 1))))


@pytest.mark.parametrize("planted", [Unnoised, Reused])
def test_planted_faults_are_noticed(planted):
    mechanism = planted(columns=COLUMNS, rho=1)
    counted = CountedRows(shape=mechanism.domain.shape, codes=mechanism.domain.codes(made_up()))
    with watched() as drawn:
        mechanism.draw(counted)
    assert not is_charged(mechanism, drawn)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_person_moves_every_score_by_no_more_than_is_charged(seed, rows):
    random = np.random.default_rng(seed)
    mechanism = SpanningTree(columns=COLUMNS, rho=1, rows=rows)
    shape = mechanism.domain.shape
    codes = np.stack([random.integers(0, size, 30) for size in shape], axis=1)
    with replay(seed):
        columns = [
            noise.measured((column,), CountedRows(shape=shape, codes=codes).table((column,)))
            for column, noise in enumerate(mechanism.column_noises)
        ]
    folds = mechanism.folds(columns)
    one, other = (
        mechanism.scores(FoldedTables(tables=CountedRows(shape=shape, codes=held), folds=folds), columns)
        for held in (codes, codes[rows:])
    )
    assert np.abs(one - other).max() <= SCORE_STEPS * rows
    assert 2 * SCORE_STEPS * rows * mechanism.choice.mechanism.rate == mechanism.choice.event.epsilon


def test_without_noise_worth_mentioning_the_dependent_pairs_are_found():
    data = made_up(5000)
    with replay(2):
        found = SpanningTree(columns=COLUMNS, rho=1000).release(data)
    assert {(0, 1), (0, 3)} <= {one.columns for one in found.measured}
    table = np.zeros((11, 22))
    np.add.at(table, (data["age"], data["score"]), 1)
    assert np.abs(found.table(["age", "score"]) - table).sum() / 5000 < 0.02


def test_one_column_and_tables_that_are_too_large_are_left_single():
    alone = SpanningTree(columns={"x": Keys([1, 2])}, rho=1)
    assert alone.edges == 0
    assert alone.event.concentrated_rho == 1
    assert alone.release({"x": np.array([1, 2, 2])}).codes(5).shape == (5, 1)
    wide = SpanningTree(
        columns={"x": Keys(range(10_000)), "y": Keys(range(10_000)), "z": Keys([0, 1])}, rho=1
    )
    assert wide.pairs == ((0, 2), (1, 2))
    assert wide.edges == 2


@pytest.mark.parametrize("epsilon", [pytest.param(0.01, marks=pytest.mark.slow), 1])
def test_few_rows_and_little_budget_give_rows(epsilon):
    found = SpanningTree(columns=COLUMNS, epsilon=epsilon, delta=1e-9).release(made_up(50))
    assert len(found.to_pandas(30)) == 30
