"""Which columns lead to one person, and how far that is known."""

from __future__ import annotations

import pyarrow
import pytest

from discreet.data import Filter, Limits, Source, Table, literal, through
from discreet.data.facts.foreign_keys import (
    are_of_one_person,
    foreign_keys,
    parents_of,
    shared_key,
    tell_persons_apart,
)
from discreet.data.language.expressions import Column
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Equality,
    JoinPersons,
    Named,
    PerPerson,
    Project,
    Union,
)
from discreet.data.tables.ownership import owned_tables

LIMITS = Limits(rows=1)
NUMBERS = pyarrow.array([], pyarrow.int64())
TABLES = owned_tables(
    {
        "orders": Table(pyarrow.table({"id": NUMBERS, "who": NUMBERS}), person="who", limits=LIMITS),
        "lines": Table(
            pyarrow.table({"order": NUMBERS, "line": NUMBERS}),
            person=through("orders", on="order", to="id"),
            limits=LIMITS,
        ),
        "notes": Table(
            pyarrow.table({"o": NUMBERS, "l": NUMBERS, "x": NUMBERS}),
            person=through("lines", on=["o", "l"], to=["order", "line"]),
            limits=LIMITS,
        ),
    }
)
ORDERS, LINES, NOTES = (Source(table=name) for name in TABLES)
RENAMED = (
    Named(name="k", expression=Column(name="order")),
    Named(name="line", expression=Column(name="line")),
)


def named(relation):
    return {(one.table, one.columns) for one in foreign_keys(relation, TABLES)}


@pytest.mark.parametrize(
    ("relation", "keys"),
    [
        (ORDERS, {("orders", ("id",))}),
        (LINES, {("orders", ("order",)), ("lines", ("order", "line"))}),
        (NOTES, {("orders", ("o",)), ("lines", ("o", "l"))}),
        (
            Filter(source=LINES, condition=literal(True)),
            {("orders", ("order",)), ("lines", ("order", "line"))},
        ),
        (Project(source=LINES, columns=RENAMED), {("orders", ("k",)), ("lines", ("k", "line"))}),
        (Project(source=LINES, columns=RENAMED[:1]), {("orders", ("k",))}),
        (
            Derive(source=LINES, columns=(Named(name="LINE", expression=Column(name="order")),)),
            {("orders", ("order",)), ("orders", ("LINE",))},
        ),
        (PerPerson(source=LINES, keys=("order",), columns=()), {("orders", ("order",))}),
        (Distinct(source=ORDERS), {("orders", ("id",))}),
        (Union(sources=(LINES, LINES)), {("orders", ("order",)), ("lines", ("order", "line"))}),
        (Union(sources=(LINES, ORDERS)), set()),
        (JoinPersons(left=ORDERS, right=LINES, columns=()), {("orders", ("id",))}),
        (
            JoinPersons(left=ORDERS, right=LINES, on=(Equality(left="id", right="order"),)),
            {("orders", ("id",)), ("lines", ("id", "line"))},
        ),
        (
            JoinPersons(left=ORDERS, right=NOTES, columns=(Equality(left="n", right="o"),)),
            {("orders", ("id",)), ("orders", ("n",))},
        ),
    ],
)
def test_keys_are_known_as_far_as_their_columns_are_whole(relation, keys):
    assert named(relation) == keys


def test_a_person_column_that_a_join_leaves_out_names_no_key():
    people = Table(pyarrow.table({"id": NUMBERS, "x": NUMBERS}), person="id", limits=LIMITS)
    child = Table(pyarrow.table({"p": NUMBERS}), person=through("people", on="p", to="id"), limits=LIMITS)
    other = Table(pyarrow.table({"id": NUMBERS, "who": NUMBERS}), person="who", limits=LIMITS)
    tables = owned_tables({"people": people, "child": child, "other": other})
    join = JoinPersons(left=Source(table="other"), right=Source(table="people"))
    assert foreign_keys(join, tables) == frozenset()


def test_a_whole_key_must_be_equal():
    lines, notes = foreign_keys(LINES, TABLES), foreign_keys(NOTES, TABLES)
    assert are_of_one_person([("order", "o")], lines, notes)
    assert not are_of_one_person([("line", "l")], lines, notes)
    assert not are_of_one_person([], lines, notes)
    assert shared_key(lines, notes) == (("order", "o"),)
    assert shared_key(lines, frozenset()) is None


def test_keys_that_may_be_null_do_not_tell_persons_apart():
    assert tell_persons_apart(["order", "line"], LINES, TABLES)
    assert tell_persons_apart(["who"], LINES, TABLES)
    assert not tell_persons_apart(["line"], LINES, TABLES)
    kept = (Equality(left="order", right="order"),)
    for outer in (False, True):
        join = JoinPersons(left=ORDERS, right=LINES, columns=kept, outer=outer)
        assert tell_persons_apart(["order"], join, TABLES) is not outer


def test_parents_are_those_of_parents_too():
    assert parents_of("notes", TABLES) == {"lines", "orders"}
    assert parents_of("orders", TABLES) == parents_of("nothing", TABLES) == frozenset()
