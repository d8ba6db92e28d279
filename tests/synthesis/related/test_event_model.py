"""Tables of a model of events against enumeration of persons and events, and samples against the model."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.synthesis.models.folding import JoinedCells, unfolded_column
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.propagation import model_of
from discreet.synthesis.related.event_model import EventModel, Given, event_weights
from effort import examples


def fold_of(cells, random):
    """Join the last two cells of a column, now and then."""
    if cells < 2 or random.random() < 0.5:
        return unfolded_column(cells)
    share = random.random()
    places = np.minimum(np.arange(cells), cells - 2)
    shares = np.ones(cells)
    shares[-2:] = share, 1 - share
    return JoinedCells(places=places, shares=shares)


@st.composite
def models(draw):
    """A model of two columns of persons and a number of events, and of up to three columns of events."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = [*random.integers(1, 4, 2), 3]
    persons = model_of(
        JunctionTree.spanning(shape, [(0, 1), (1, 2)]),
        [random.normal(size=(shape[0], shape[1])), random.normal(size=(shape[1], 3))],
        20.0,
    )
    cells = random.integers(1, 4, draw(st.integers(1, 3))).tolist()
    folds = tuple(fold_of(size, random) for size in (*shape, *cells))
    order, known = [], [None, 0, 1, 2]
    for column in range(3, 3 + len(cells)):
        parent = known[draw(st.integers(0, len(known) - 1))]
        lines = 1 if parent is None else folds[parent].cells
        weights = random.random((lines, folds[column].cells)) + 0.01
        order.append(Given(column=column, parent=parent, weights=weights))
        known.append(column)
    values = np.array([0.0, 1.0, 2.0])
    return EventModel(persons=persons, number=2, values=values, folds=folds, order=tuple(order))


def enumerated(model):
    """Return the expected events of every combination of all columns: person by person, number by number."""
    sizes = [len(fold.places) for fold in model.folds]
    whole = np.zeros(sizes)
    people = model.persons.table((0, 1, 2))
    for cells in product(*map(range, sizes)):
        weight = people[cells[:3]] * model.values[cells[2]]
        for one in model.order:
            line = 0 if one.parent is None else model.folds[one.parent].places[cells[one.parent]]
            fold = model.folds[one.column]
            shares = one.weights[line] / one.weights[line].sum()
            weight *= shares[fold.places[cells[one.column]]] * fold.shares[cells[one.column]]
        whole[cells] = weight
    return whole


def apart(model, whole):
    """Return the largest difference of any table of one column or two from enumeration."""
    found = 0.0
    for many in (1, 2):
        for columns in combinations(range(whole.ndim), many):
            gone = tuple(axis for axis in range(whole.ndim) if axis not in columns)
            wanted = whole.sum(axis=gone)
            found = max(found, np.abs(model.table(columns) - wanted).max())
            found = max(found, np.abs(model.table(columns[::-1]) - wanted.T).max())
    return found


@settings(max_examples=examples(60))
@given(models())
def test_tables_agree_with_enumeration_in_any_order(model):
    whole = enumerated(model)
    assert apart(model, whole) < 1e-9
    assert model.total == pytest.approx(whole.sum())


@settings(max_examples=examples(20))
@given(models())
def test_events_have_the_tables_of_the_model(model):
    random = np.random.default_rng(0)
    persons = model.persons.sample(30_000, random)
    owners = np.repeat(persons, persons[:, 2], axis=0)  # the codes of numbers are the numbers here
    rows = np.hstack([owners, model.sample(owners, random)])
    whole = enumerated(model)
    for pair in combinations(range(whole.ndim), 2):
        counts = np.zeros([len(model.folds[column].places) for column in pair])
        np.add.at(counts, tuple(rows[:, column] for column in pair), 1)
        gone = tuple(axis for axis in range(whole.ndim) if axis not in pair)
        wanted = whole.sum(axis=gone) * 30_000 / 20
        assert np.abs(counts - wanted).max() < 5 * np.sqrt(4 * 30_000 * 0.25) + 1


def test_tables_that_forget_how_many_events_a_person_has_would_be_noticed():
    # Planted: every person counts once, however many events they have.
    tree = JunctionTree.spanning((2, 2, 3), [(0, 2)])
    random = np.random.default_rng(1)
    persons = model_of(
        tree, [random.normal(size=[tree.shape[one] for one in held]) for held in tree.cliques], 10.0
    )
    folds = tuple(map(unfolded_column, (2, 2, 3, 2)))
    order = (Given(column=3, parent=0, weights=np.array([[3.0, 1.0], [1.0, 3.0]])),)
    model = EventModel(persons=persons, number=2, values=np.array([0.0, 1.0, 2.0]), folds=folds, order=order)
    wrong = EventModel(persons=persons, number=2, values=np.ones(3), folds=folds, order=order)
    assert apart(model, enumerated(model)) < 1e-9
    assert apart(wrong, enumerated(model)) > 0.1


def test_weights_are_numbers_times_persons():
    tree = JunctionTree.spanning((2, 3), [(0, 1)])
    persons = model_of(tree, [np.log(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))], 21.0)
    values = np.array([0.0, 1.0, 2.0])
    np.testing.assert_allclose(event_weights(persons, (), 1, values), 2 + 6 + 5 + 12)
    np.testing.assert_allclose(event_weights(persons, (0,), 1, values), [8, 17])
    np.testing.assert_allclose(event_weights(persons, (1,), 1, values), [0, 7, 18])
    np.testing.assert_allclose(event_weights(persons, (0, 1), 1, values), [[0, 2, 6], [0, 5, 12]])
