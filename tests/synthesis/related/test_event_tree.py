import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Axis, Bounds, Keys
from discreet.noise import replay
from discreet.privacy.events import compose
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.exact_tables import CountedRows, FoldedTables
from discreet.synthesis.measuring.steps import SCORE_STEPS
from discreet.synthesis.methods.spanning_tree import SpanningTree
from discreet.synthesis.related.event_tree import EventTree
from synthesis.charged_steps import watched

EVENTS = CodedColumns.declared({"ward": Keys(["a", "b"]), "cost": Bounds(0, 5), "kind": Keys([1, 2])})


def people(rows):
    """Columns of persons, the last of which is a number of events."""
    plain = CodedColumns.declared({"age": Bounds(0, 9), "sex": Keys(["f", "m"])})
    number = CodedColumn(axis=Axis(column="number", values=Bounds(0, rows)))
    return CodedColumns(columns=(*plain.columns, number))


def drawn_persons(persons, random, rows=200):
    """Return codes of persons, and what is released of them."""
    mechanism = SpanningTree(columns=persons, rho=10)
    codes = np.stack([random.integers(0, size, rows) for size in persons.shape], axis=1)
    measured = mechanism.draw(CountedRows(shape=persons.shape, codes=codes))
    return codes, measured[: len(persons.shape)], mechanism.model(measured)


def joined(codes, random):
    """Return rows of events with the columns of their persons."""
    owners = np.repeat(codes, codes[:, -1], axis=0)
    return np.hstack(
        [owners, np.stack([random.integers(0, size, len(owners)) for size in EVENTS.shape], axis=1)]
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_columns_choices_and_pairs_are_what_is_charged(rows):
    persons = people(rows)
    tree = EventTree.costing(persons, EVENTS, 1, rows)
    random = np.random.default_rng(rows)
    with replay(1):
        codes, columns, model = drawn_persons(persons, random)
        with watched() as drawn:
            found = tree.draw(CountedRows(shape=tree.shape, codes=joined(codes, random)), columns, model)
    assert compose(drawn) == tree.event
    assert tree.event.concentrated_rho <= 1
    assert [one.columns for one in found[:3]] == [(3,), (4,), (5,)]
    assert [one.variance for one in found] == list(tree.variances)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_every_column_of_events_is_reached_once_from_persons(seed, rows):
    persons = people(rows)
    tree = EventTree.costing(persons, EVENTS, 1, rows)
    random = np.random.default_rng(seed)
    with replay(seed):
        codes, columns, model = drawn_persons(persons, random, 40)
        measured = tree.draw(CountedRows(shape=tree.shape, codes=joined(codes, random)), columns, model)
    made = tree.model(measured, columns, model)
    assert sorted(one.column for one in made.order) == [3, 4, 5]
    known = {0, 1, 2}
    for one in made.order:
        assert one.parent in known
        known.add(one.column)
    assert len(made.sample(codes, random)) == len(codes)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_person_moves_every_score_by_no_more_than_is_charged(seed, rows):
    persons = people(rows)
    tree = EventTree.costing(persons, EVENTS, 1, rows)
    random = np.random.default_rng(seed)
    with replay(seed):
        codes, columns, model = drawn_persons(persons, random, 40)
        events = joined(codes, random)
        measured = [
            noise.measured((place,), CountedRows(shape=tree.shape, codes=events).table((place,)))
            for place, noise in enumerate(tree.column_noises, 3)
        ]
    folds = tree.folds(measured, columns)
    one, other = (
        tree.scores(
            FoldedTables(tables=CountedRows(shape=tree.shape, codes=held), folds=folds), measured, model
        )
        for held in (events, events[rows:])
    )
    assert np.abs(one - other).max() <= SCORE_STEPS * rows
    assert 2 * SCORE_STEPS * rows * tree.choice.mechanism.rate == tree.choice.event.epsilon


def test_the_dependent_pairs_are_found_and_margins_are_those_of_synthetic_persons():
    persons = people(4)
    tree = EventTree.costing(persons, EVENTS, 1000, 4)
    random = np.random.default_rng(0)
    with replay(2):
        codes, columns, model = drawn_persons(persons, random, 3000)
        events = joined(codes, random)
        events[:, 3] = events[:, 0] > 4  # the ward follows from the age
        events[:, 4] = 3 * events[:, 3]  # and the cost from the ward
        measured = tree.draw(CountedRows(shape=tree.shape, codes=events), columns, model)
    pairs = {one.columns for one in measured[3:]}
    assert {(3, 4)} <= pairs
    assert pairs & {(0, 3), (0, 4)}
    made = tree.model(measured, columns, model)
    exact = CountedRows(shape=tree.shape, codes=events)
    for chosen in ((3,), (4,), (5,), (0, 3), (3, 4), (0, 4)):
        table = exact.table(chosen)
        assert np.abs(made.table(chosen) - table).sum() / len(events) < 0.08


def test_a_table_that_is_too_large_leaves_a_column_alone():
    events = CodedColumns.declared({"x": Keys(range(1 << 19)), "y": Keys([0, 1])})
    tree = EventTree.costing(people(3), events, 1, 3)
    assert tree.edges == 1
    assert (3,) in tree.counted_sets


def test_folds_are_found_again_in_integers_of_any_size():
    tree = EventTree.costing(people(3), EVENTS, 1, 3)
    random = np.random.default_rng(0)
    with replay(0):
        codes, columns, model = drawn_persons(people(3), random)
        measured = tree.draw(CountedRows(shape=tree.shape, codes=joined(codes, random)), columns, model)
    for one in (*columns, *measured[:3]):
        one.counts[...] = 1 << 60
    folds = tree.folds(measured[:3], columns)
    assert [len(fold.places) for fold in folds] == list(tree.shape)
    assert tree.numbers.tolist() == [0, 1, 2, 3]
