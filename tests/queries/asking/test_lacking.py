"""What a question brings along, and what it lacks: from public facts alone."""

from __future__ import annotations

import pandas

from discreet.data import AUTO, EACH_ROW, Bounds, Limits, Source, Table
from discreet.data.language.relations import leftmost
from discreet.queries import parse
from discreet.queries.asking.lacking import stated, wanted_of
from discreet.queries.counts import ranges
from discreet.queries.question.terms import Terms

FRAME = pandas.DataFrame({"who": [1, 2], "x": [1.0, 2.0]})
TABLES = {
    "bought": Table(FRAME, person="who", limits=Limits(rows=AUTO, at_most=9)),
    "fixed": Table(FRAME, person="who", limits=Limits(rows=9), columns={"x": Bounds(0, 9, step=1)}),
    "alone": Table(FRAME, person=EACH_ROW),
}


def count_of(name):
    return parse(f"SELECT COUNT(*) AS n FROM {name}", TABLES)  # noqa: S608


def test_what_is_stated_is_brought_along():
    terms = Terms(limits=Limits(rows=2), bounds={"x": Bounds(0, 5, step=1)})
    expected = Source(table="fixed", limits=Limits(rows=2), bounds=(("x", Bounds(0, 5, step=1)),))
    for question in (count_of("fixed"), ranges("fixed", "x")):
        assert leftmost(stated(question, terms).relation) == expected
        assert stated(question, Terms()) is question


def test_what_has_to_be_bought():
    automatic = Terms(limits=AUTO, bounds=AUTO)
    assert wanted_of(count_of("bought"), TABLES, Terms()).most == 9
    assert wanted_of(count_of("fixed"), TABLES, automatic).most == 9
    assert wanted_of(ranges("bought", "x"), TABLES, Terms()).most == 9
    assert not wanted_of(count_of("fixed"), TABLES, Terms())
    assert not wanted_of(count_of("alone"), TABLES, automatic)
    brought = stated(count_of("bought"), Terms(limits=Limits(rows=2)))
    assert not wanted_of(brought, TABLES, Terms(limits=Limits(rows=2)))
    mean = parse("SELECT AVG(x) AS m FROM bought", TABLES)
    assert wanted_of(mean, TABLES, Terms(bounds=AUTO)).columns == ("x",)
    persons = parse("SELECT COUNT(*) AS n FROM (SELECT who FROM bought GROUP BY who) AS p", TABLES)
    assert not wanted_of(persons, TABLES, automatic)
