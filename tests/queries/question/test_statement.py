"""Statements as records: parts that are measured once, and relations over their tables."""

from __future__ import annotations

from discreet.data import Aggregate, AggregateFunction, Source, count
from discreet.data.language.expressions import Column
from discreet.data.language.relations import Named
from discreet.queries.question.answer_relations import (
    Extended,
    Joined,
    Measured,
    Picked,
    Regrouped,
    sources_of_answer,
    walk_answer,
)
from discreet.queries.question.pruning import pruned
from discreet.queries.question.query import Query, key_of
from discreet.queries.question.statement import MeasuredParts, Statement

MEAN = Aggregate(function=AggregateFunction.MEAN, operand=Column(name="cost"))
COUNTS = Query(
    relation=Source(table="visits"), keys=(key_of("city"),), outputs=(("n", count()), ("k", count()))
)


def test_the_same_rows_by_the_same_keys_are_one_question():
    parts = MeasuredParts()
    assert parts.add(COUNTS) == (0, {"city": "city", "n": "n", "k": "n"})
    renamed = Query(
        relation=COUNTS.relation,
        keys=(Named(name="town", expression=Column(name="city")),),
        outputs=(("n", MEAN), ("m", count())),
    )
    assert parts.add(renamed) == (0, {"town": "city", "n": "n 2", "m": "n"})
    assert parts.add(Query(relation=COUNTS.relation, outputs=(("n", count()),))) == (1, {"n": "n"})
    assert [len(part.outputs) for part in parts.parts] == [2, 1]


def statement():
    parts = MeasuredParts()
    parts.add(Query(relation=COUNTS.relation, keys=COUNTS.keys, outputs=(("n", count()), ("m", MEAN))))
    parts.add(Query(relation=COUNTS.relation, outputs=(("n", count()),)))
    first = Measured(part=0, columns=(("c", "city"), ("a", "n"), ("b", "m")))
    more = Extended(source=first, columns=(Named(name="d", expression=Column(name="b")),))
    both = Joined(one=more, other=Measured(part=1, columns=(("e", "n"),)))
    largest = Aggregate(function=AggregateFunction.MAXIMUM, operand=Column(name="a"))
    top = Regrouped(source=both, keys=("c",), columns=(("x", largest), ("y", largest.of(Column(name="e")))))
    return Statement(
        parts=parts.parts,
        relation=Picked(source=top, columns=(("city", "c"), ("top", "x"))),
        keys=("city",),
        names=("top",),
    )


def test_what_nothing_reads_is_left_out():
    found = pruned(statement())
    assert [part.names for part in found.parts] == [("n",), ("n",)]  # rows of the second still pair with it
    measured = [node for node in walk_answer(found.relation) if isinstance(node, Measured)]
    assert [node.columns for node in measured] == [(("c", "city"), ("a", "n")), ()]
    assert not any(isinstance(node, Extended) for node in walk_answer(found.relation))
    assert pruned(found) == found


def test_relations_are_walked_from_the_first_calculated_to_the_last():
    relation = statement().relation
    assert list(walk_answer(relation))[-1] == relation
    assert sources_of_answer(relation) == (relation.source,)
    assert sources_of_answer(Measured(part=0, columns=())) == ()
