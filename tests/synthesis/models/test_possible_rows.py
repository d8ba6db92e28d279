"""What declared facts leave: models give the rest no probability, and no row of a sample is among it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.synthesis.columns.impossible_cells import ImpossibleCells
from discreet.synthesis.models.folding import FoldedModel, JoinedCells, folded_column, unfolded_column
from discreet.synthesis.models.growing_model import GrowingModel
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.mirror_descent import fitted, started
from discreet.synthesis.models.possible_rows import PossibleRows
from discreet.synthesis.models.propagation import model_of
from synthesis.small_models import shapes_and_sets, table_of


@st.composite
def zeros_of(draw, shape):
    columns = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=3))
    places = tuple(sorted(columns))
    cells = tuple(
        tuple(sorted(draw(st.sets(st.integers(0, shape[column] - 1), min_size=1)))) for column in places
    )
    return ImpossibleCells(columns=places, cells=cells)


@st.composite
def facts_and_sets(draw):
    shape, sets = draw(shapes_and_sets())
    zeros = tuple(draw(st.lists(zeros_of(shape), max_size=4)))
    return PossibleRows(shape=shape, zeros=zeros), sets


def allowed(possible):
    """Every row, by enumeration: whether it is possible."""
    found = np.ones(possible.shape, bool)
    for row in itertools.product(*(range(size) for size in possible.shape)):
        for zero in possible.zeros:
            if all(row[column] in cells for column, cells in zip(zero.columns, zero.cells, strict=True)):
                found[row] = False
    return found


@given(facts_and_sets(), st.integers(0, 2**32))
def test_inference_under_facts_agrees_with_enumeration(given_facts, seed):
    possible, sets = given_facts
    whole = allowed(possible)
    if not whole.any():
        with pytest.raises(ParameterError, match="no row possible"):
            possible.example()
        return
    tree = JunctionTree.spanning(possible.shape, [*sets, *possible.sets])
    random = np.random.default_rng(seed)
    potentials = [zero + 2 * random.normal(size=zero.shape) for zero in possible.potentials(tree)]
    exact = np.zeros(possible.shape)
    for clique, one in zip(tree.cliques, potentials, strict=True):
        exact = exact + one[tuple(slice(None) if at in clique else None for at in range(exact.ndim))]
    exact = np.exp(exact)
    assert ((exact == 0) == ~whole).all()
    exact = 10 * exact / exact.sum()
    model = model_of(tree, potentials, 10.0)
    for clique, table in zip(tree.cliques, model.tables, strict=True):
        assert np.allclose(table, table_of(exact, clique), atol=1e-9)
    for pair in itertools.combinations(range(exact.ndim), 2):
        assert np.allclose(model.table(pair), table_of(exact, pair), atol=1e-9)
    codes = model.sample(200, np.random.default_rng(seed))
    assert not possible.violated(codes).any()  # without any repair
    assert whole[tuple(codes.T)].all()
    assert whole[tuple(possible.example())]


def test_what_is_impossible_below_is_impossible_above():
    """A value that a clique rules out with everything has no rows in other cliques either."""
    zero = ImpossibleCells(columns=(1, 2), cells=((0,), (0, 1)))
    for root, child in ((0, 2), (2, 0)):
        shape = (2, 2, 2)
        held = PossibleRows(shape=shape, zeros=(zero,))
        tree = JunctionTree.spanning(shape, [tuple(sorted((root, 1))), tuple(sorted((1, child)))])
        model = model_of(tree, held.potentials(tree), 8.0)
        assert [table.sum() for table in model.tables] == pytest.approx([8.0, 8.0])
        for clique, table in zip(tree.cliques, model.tables, strict=True):
            assert np.moveaxis(table, clique.index(1), 0)[0].sum() == 0


@given(facts_and_sets())
def test_kinds_decide_what_is_possible(given_facts):
    possible, _ = given_facts
    kinds = [possible.kinds(column) for column in range(len(possible.shape))]
    small, whole = allowed(possible.joined(kinds)), allowed(possible)
    assert (small[np.ix_(*kinds)] == whole).all()
    rows = np.array(list(itertools.product(*(range(size) for size in possible.shape))))
    assert (possible.violated(rows) == ~whole.reshape(-1)).all()


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.booleans(), st.booleans(), st.data())
def test_cells_of_different_kinds_are_not_joined(counts, ordered, last, data):
    kinds = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(counts), max_size=len(counts))))
    fold = folded_column(np.array(counts), 4, 100, ordered=ordered, last=last, kinds=kinds)
    for place in range(fold.cells):
        assert len(set(kinds[fold.places == place].tolist())) == 1
    assert set(fold.places.tolist()) == set(range(fold.cells))
    assert np.allclose(np.bincount(fold.places, fold.shares), 1)


def test_one_kind_is_folded_as_before():
    counts = np.array([0, 50, 1, 2, 80])
    plain = folded_column(counts, 4, 100, ordered=False, last=False)
    same = folded_column(counts, 4, 100, ordered=False, last=False, kinds=np.full(5, 7))
    assert plain.places.tolist() == same.places.tolist() == [0, 1, 0, 0, 2]


CORNER = PossibleRows(shape=(3, 2), zeros=(ImpossibleCells(columns=(0, 1), cells=((0,), (1,))),))


def _loss(table, measured):
    total = 0.0
    for one in measured:
        axes = tuple(axis for axis in range(table.ndim) if axis not in one.columns)
        total += float(((table.sum(axis=axes) - one.counts) ** 2 / one.variance).sum()) / 2
    return total


def test_measured_tables_are_estimated_under_facts():
    """Over a tree as over the whole table, and as well as a search over all tables without the cell."""
    possible = PossibleRows(
        shape=(3, 2, 2),
        zeros=(*CORNER.zeros, ImpossibleCells(columns=(1, 2), cells=((0,), (0,)))),
    )
    measured = [
        MeasuredTable(columns=(0,), counts=np.array([40, 35, 25]), variance=4.0),
        MeasuredTable(columns=(1,), counts=np.array([55, 45]), variance=4.0),
        MeasuredTable(columns=(2,), counts=np.array([30, 70]), variance=4.0),
        MeasuredTable(columns=(0, 1), counts=np.array([[30, 12], [15, 20], [10, 14]]), variance=9.0),
    ]
    losses = []
    for sets in ([], [(0, 1, 2)]):
        tree = JunctionTree.spanning(possible.shape, [*possible.sets, *sets])
        model, _ = fitted(tree, measured, 100.0, started(tree, None, (), possible), 600)
        whole = model.table((0, 1, 2))
        assert whole[0, 1].sum() == 0
        assert whole[:, 0, 0].sum() == 0
        assert (whole[allowed(possible)] > 0).all()
        losses.append(_loss(whole, measured))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    import scipy.optimize

    mask = allowed(possible).reshape(-1)

    def of(values):
        table = np.zeros(12)
        table[mask] = 100 * np.exp(values) / np.exp(values).sum()
        return _loss(table.reshape(3, 2, 2), measured)

    best = scipy.optimize.minimize(of, np.zeros(mask.sum()), method="BFGS").fun
    assert losses[0] == pytest.approx(best, rel=1e-3)


def test_a_grown_model_keeps_facts_whose_clique_is_gone():
    """Potentials of a clique that a larger tree lacks are learned again; what is impossible is not."""
    shape = (2, 2, 2, 2)
    zeros = (
        ImpossibleCells(columns=(0, 1), cells=((0,), (1,))),
        ImpossibleCells(columns=(2, 3), cells=((1,), (1,))),
    )
    possible = PossibleRows(shape=shape, zeros=zeros)
    columns = [MeasuredTable(columns=(at,), counts=np.array([50, 50]), variance=1.0) for at in range(4)]
    model = GrowingModel.begun(possible, columns, 100.0, 20)
    for pair in [(0, 2), (1, 3), (0, 3), (1, 2)]:
        model = model.with_measured(MeasuredTable(columns=pair, counts=np.full((2, 2), 25), variance=1.0), 20)
        assert model.model.table((0, 1))[0, 1] == 0
        assert model.model.table((2, 3))[1, 1] == 0


def test_a_value_of_no_weight_is_not_drawn_for_rounding():
    from discreet.synthesis.models.tree_model import drawn_given

    class Edge:
        """Draws the largest number below 1: rounding then leads beyond all shares."""

        def permutation(self, many):
            return np.arange(many)

        def random(self, many):
            return np.full(many, 1 - 2**-53)

    weights = np.tile(np.array([0.0, 0.1, 0.2, 0.0, 0.7 / 3, 0.0]), (4000, 1))
    drawn = drawn_given(weights, np.arange(4000), Edge())
    assert set(drawn.tolist()) <= {1, 2, 4}


def test_rows_that_rounding_made_are_replaced():
    rows = np.array([[0, 1], [1, 1], [0, 1], [2, 0]])
    fixed = CORNER.repaired(rows)
    assert not CORNER.violated(fixed).any()
    assert fixed[[1, 3]].tolist() == rows[[1, 3]].tolist()
    assert rows[0].tolist() == [0, 1]  # what was given is not changed
    alone = CORNER.repaired(np.array([[0, 1]]))
    assert not CORNER.violated(alone).any()


def test_a_model_that_forgot_the_facts_is_repaired_in_its_rows():
    tree = JunctionTree.spanning((3, 2), [(0, 1)])
    model = model_of(tree, [np.zeros((3, 2))], 60.0)
    folds = (unfolded_column(3), unfolded_column(2))
    held = FoldedModel(model=model, folds=folds, possible=CORNER)
    assert not CORNER.violated(held.sample(100, np.random.default_rng(0))).any()
    without = FoldedModel(model=model, folds=folds)
    assert CORNER.violated(without.sample(100, np.random.default_rng(0))).any()


def test_facts_that_join_too_much_are_refused():
    zeros = tuple(
        ImpossibleCells(columns=(one, other), cells=(tuple(range(1, at + 2)), (at,)))
        for one, other in itertools.combinations(range(8), 2)
        for at in range(8)
    )
    with pytest.raises(ParameterError, match="at once"):
        PossibleRows(shape=(16,) * 8, zeros=zeros).example()


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_joined_cells_unfold_to_possible_rows_alone(seed):
    random = np.random.default_rng(seed)
    possible = PossibleRows(shape=(6, 4), zeros=(ImpossibleCells(columns=(0, 1), cells=((0, 1, 4), (2, 3))),))
    folds = []
    for column, size in enumerate(possible.shape):
        kinds = possible.kinds(column)
        folds.append(JoinedCells(places=kinds, shares=1 / np.bincount(kinds)[kinds]))
        assert len(kinds) == size
    small = possible.joined([fold.places for fold in folds])
    tree = JunctionTree.spanning(small.shape, small.sets)
    potentials = [one + random.normal(size=one.shape) for one in small.potentials(tree)]
    model = FoldedModel(model=model_of(tree, potentials, 50.0), folds=tuple(folds))
    assert (model.table((0, 1))[np.ix_([0, 1, 4], [2, 3])] == 0).all()
    assert not possible.violated(model.sample(300, random)).any()
