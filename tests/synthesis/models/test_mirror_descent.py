import tracemalloc
from itertools import pairwise

import numpy as np
from hypothesis import given, settings

from discreet.synthesis.models.growing_model import GrowingModel
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.mirror_descent import fitted, started
from discreet.synthesis.models.possible_rows import PossibleRows
from effort import examples
from synthesis.small_models import models, table_of


@settings(max_examples=examples(16))
@given(models())
def test_tables_of_a_model_are_found_again(found):
    model, whole = found
    measured = [
        MeasuredTable(columns=clique, counts=table_of(whole, clique), variance=1.0)
        for clique in model.tree.cliques
    ]
    made, _ = fitted(model.tree, measured, 10.0, started(model.tree, None, ()), 3000)
    for table, wanted in zip(made.tables, model.tables, strict=True):
        np.testing.assert_allclose(table, wanted, atol=0.05)


def test_the_fit_is_the_nearest_table_of_nonnegative_counts():
    # Of one table they have a closed form: what is negative becomes 0, the rest is lowered alike.
    noisy = np.array([10.0, 4.0, -3.0])
    tree = JunctionTree.spanning((3,), ())
    one = MeasuredTable(columns=(0,), counts=noisy, variance=2.0)
    made, _ = fitted(tree, [one], 10.0, started(tree, None, ()), 3000)
    np.testing.assert_allclose(made.tables[0], [8.0, 2.0, 0.0], atol=1e-2)


def test_a_step_never_raises_the_loss():
    random = np.random.default_rng(1)
    tree = JunctionTree.spanning((4, 5, 3), [(0, 1), (1, 2)])
    measured = [
        MeasuredTable(columns=(0, 1), counts=random.normal(5, 20, (4, 5)), variance=4.0),
        MeasuredTable(columns=(1, 2), counts=random.normal(5, 20, (5, 3)), variance=1.0),
        MeasuredTable(columns=(1,), counts=random.normal(20, 9, 5), variance=np.arange(1.0, 6.0)),
    ]

    def loss(steps):
        made, _ = fitted(tree, measured, 100.0, started(tree, None, ()), steps)
        return sum(((made.table(one.columns) - one.counts) ** 2 / one.variance).sum() for one in measured)

    losses = [loss(steps) for steps in (0, 1, 2, 5, 20, 100)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(losses))
    assert losses[-1] < losses[0]


def test_a_model_that_grows_keeps_what_it_learned():
    columns = [
        MeasuredTable(columns=(0,), counts=np.array([30, 70]), variance=1.0),
        MeasuredTable(columns=(1,), counts=np.array([50, 50]), variance=1.0),
    ]
    begun = GrowingModel.begun(PossibleRows(shape=(2, 2)), columns, 100.0, 500)
    assert not begun.holds((0, 1))
    assert begun.cells_with((0, 1)) == 4
    grown = begun.with_measured(
        MeasuredTable(columns=(0, 1), counts=np.array([[30, 0], [20, 50]]), variance=0.01), 2000
    )
    assert grown.holds((0, 1))
    np.testing.assert_allclose(grown.tables([(0, 1)])[0, 1], [[30, 0], [20, 50]], atol=0.5)
    # A measured set that is within a clique joins nothing, and the tree stays.
    again = grown.with_measured(columns[0], 10)
    assert again.model.tree is grown.model.tree


def test_tables_that_are_not_asked_for_are_not_written_out():
    # The pair of the two large columns has 2^32 cells, and a workload leaves it out.
    large = np.ones(1 << 16, np.int64)
    columns = [
        MeasuredTable(columns=(0,), counts=large, variance=1.0),
        MeasuredTable(columns=(1,), counts=large, variance=1.0),
        MeasuredTable(columns=(2,), counts=np.array([1 << 15, 1 << 15]), variance=1.0),
    ]
    model = GrowingModel.begun(PossibleRows(shape=(1 << 16, 1 << 16, 2)), columns, float(1 << 16), 1)
    tracemalloc.start()
    try:
        found = model.tables([(0, 2), (1, 2)])
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()
    assert {chosen: table.shape for chosen, table in found.items()} == {
        (0, 2): (1 << 16, 2),
        (1, 2): (1 << 16, 2),
    }
