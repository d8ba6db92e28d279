"""Tables of models against enumeration of all their rows, and samples against the model."""

import tracemalloc
from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings

from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.propagation import model_of
from discreet.synthesis.models.tree_model import TreeModel
from effort import examples
from synthesis.small_models import models, table_of


@settings(max_examples=examples(200))
@given(models())
def test_message_passing_and_pairs_agree_with_enumeration(found):
    model, whole = found
    for clique, table in zip(model.tree.cliques, model.tables, strict=True):
        np.testing.assert_allclose(table, table_of(whole, clique), atol=1e-9)
    every = list(combinations(range(whole.ndim), 2))
    pairs = model.pairs(every)
    assert set(pairs) == set(every)
    for some in (every[::2], every[1::3], []):
        assert set(model.pairs(some)) == set(some)
        assert all(np.allclose(model.pairs(some)[pair], pairs[pair]) for pair in some)
    for pair, table in pairs.items():
        np.testing.assert_allclose(table, table_of(whole, pair), atol=1e-9)


@settings(max_examples=examples(100))
@given(models())
def test_tables_of_any_columns_agree_with_enumeration_in_any_order(found):
    model, whole = found
    for many in (1, 2, 3):
        for columns in combinations(range(whole.ndim), many):
            wanted = table_of(whole, columns)
            for order in permutations(range(many)):
                asked = [columns[place] for place in order]
                np.testing.assert_allclose(model.table(asked), wanted.transpose(order), atol=1e-9)


@settings(max_examples=examples(40))
@given(models())
def test_rows_have_the_tables_of_the_model(found):
    model, whole = found
    many = 20_000
    rows = model.sample(many, np.random.default_rng(0))
    for pair in combinations(range(whole.ndim), min(2, whole.ndim)):
        sizes = [model.tree.shape[column] for column in pair]
        counts = np.zeros(sizes)
        np.add.at(counts, tuple(rows[:, column] for column in pair), 1)
        # Five deviations of independent rows; systematic rows vary less.
        margin = 5 * np.sqrt(many * 0.25) + 1
        assert np.abs(counts - table_of(whole, pair) * many / 10).max() < margin


def test_columns_that_are_independent_given_a_third_stay_so_in_rows():
    # The generator of a widely used package made such columns dependent: 0.6 in total variation.
    tree = JunctionTree.spanning((2, 8, 8), [(0, 1), (0, 2)])
    random = np.random.default_rng(3)
    model = model_of(tree, [random.normal(size=(2, 8)) for _ in tree.cliques], 1.0)
    rows = model.sample(100_000, random)
    for value in (0, 1):
        chosen = rows[rows[:, 0] == value]
        joint = np.zeros((8, 8))
        np.add.at(joint, (chosen[:, 1], chosen[:, 2]), 1 / len(chosen))
        product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        assert np.abs(joint - product).sum() / 2 < 0.03


def test_a_generator_that_orders_rows_would_be_noticed():
    # Planted: rows are not shuffled before each clique, so that ranks in two of them agree.
    tree = JunctionTree.spanning((1, 8, 8), [(0, 1), (0, 2)])
    table = np.full((1, 8), 1 / 8)
    model = TreeModel(tree=tree, total=1.0, tables=(table, table))

    class Unshuffled:
        def permutation(self, held, axis=0):
            return np.arange(held) if np.isscalar(held) else held

        def random(self, size):
            return np.full(size, 0.5)

    rows = model.sample(8_000, Unshuffled())
    joint = np.zeros((8, 8))
    np.add.at(joint, (rows[:, 1], rows[:, 2]), 1 / len(rows))
    assert np.abs(joint - 1 / 64).sum() / 2 > 0.5


def test_a_pair_is_never_written_out_with_a_whole_clique():
    # A column of 3,000 values, far from a clique of 32,768 cells: their union would hold 98 million numbers.
    shape = (3000, 2, 32, 32, 32, 2)
    tree = JunctionTree.spanning(shape, [(0, 1), (1, 2), (2, 3, 4), (4, 5)])
    random = np.random.default_rng(0)
    model = model_of(
        tree, [random.normal(size=[shape[one] for one in clique]) for clique in tree.cliques], 1.0
    )
    tracemalloc.start()
    pairs = model.pairs([(0, 3), (0, 5)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000
    np.testing.assert_allclose(pairs[0, 3].sum(axis=0), model.table((3,)))
    np.testing.assert_allclose(pairs[0, 5].sum(axis=1), model.table((0,)))


def test_tables_without_rows_give_rows_nevertheless():
    tree = JunctionTree.spanning((2, 3), [(0, 1)])
    model = TreeModel(tree=tree, total=1.0, tables=(np.zeros((2, 3)),))
    assert model.sample(10, np.random.default_rng(0)).shape == (10, 2)
    assert model.sample(0, np.random.default_rng(0)).shape == (0, 2)
