"""Columns of relations, from public facts; and what is refused of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import ibis
import pyarrow
import pytest

from data.relation_plans import EMPTY, named
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table, col, literal
from discreet.data.facts.limits import limits_of
from discreet.data.facts.relation_facts import (
    columns_of_relation,
    is_single,
    person_columns,
)
from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Equality,
    Filter,
    JoinPersons,
    JoinPublic,
    Named,
    Order,
    PerPerson,
    Personal,
    Project,
    Source,
    Union,
    Window,
)
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UndeclaredColumn, UnsupportedQuery

VISITS, TESTS = Source(table="visits"), Source(table="tests")
CITIES = PublicTable(pyarrow.table({"name": ["a", "b"], "zone": [1, 1], "size": [1.5, 2.0]}))
TABLES = EMPTY | {"cities": CITIES}
ALONE = {
    "one": Table(pyarrow.table({"x": ["a", "b"], "y": [1, 2]}), person=EACH_ROW),
    "two": Table(pyarrow.table({"x": ["a", "b"], "y": [1, 2]}), person=EACH_ROW),
    "public": CITIES,
    "visits": EMPTY["visits"],
}


def facts(relation, tables=TABLES):
    return columns_of_relation(relation, tables)


def joined(source=VISITS, left="city", right="name", **more):
    return JoinPublic(source=source, table="cities", on=(Equality(left=left, right=right),), **more)


def per_person(**columns):
    listed = tuple(
        Personal(name=name, function=function, column=column) for name, (function, column) in columns.items()
    )
    return PerPerson(source=VISITS, columns=listed)


def test_public_columns_bring_keys_and_bounds():
    found = facts(joined())
    assert list(found) == [*TABLES["visits"].schema, "zone", "size"]
    assert found["zone"] == ColumnFacts(type=Type.INTEGER, bounds=Bounds(1, 2), keys=Keys([1]))
    assert facts(joined(outer=True))["zone"].keys == Keys([1, None])
    renamed = facts(joined(columns=(Equality(left="city 2", right="name"),)))
    assert renamed["city 2"].keys == Keys(["a", "b"])


def test_aggregates_of_a_person():
    found = facts(
        per_person(
            n=("count", None),
            d=("count distinct", "day"),
            s=("sum", "ward"),
            f=("sum", "cost"),
            m=("mean", "cost"),
        )
    )
    usual = {name: facts.usual for name, facts in found.items()}
    found = {name: replace(facts, usual=None) for name, facts in found.items()}
    assert found["n"] == found["d"] == ColumnFacts(type=Type.INTEGER, least=Fraction(0))
    assert found["s"] == ColumnFacts(type=Type.INTEGER, least=Fraction(0))
    assert found["f"] == ColumnFacts(type=Type.FLOAT)
    assert usual["n"] == usual["d"] == Bounds(0, 4)
    assert usual["m"] is None
    assert found["m"].bounds == Bounds(-5, 20, step=0.005)
    assert facts(per_person(c=("minimum", "city")))["c"].keys == Keys(["a", "A", None])


def test_the_person_is_followed():
    renamed = Project(source=VISITS, columns=(Named(name="who", expression=col("patient").expression),))
    calculated = Derive(
        source=VISITS, columns=(Named(name="patient", expression=(col("patient") + 0).expression),)
    )
    both = JoinPersons(left=renamed, right=TESTS, columns=(Equality(left="other", right="Person"),))
    outer = JoinPersons(
        left=renamed, right=TESTS, columns=(Equality(left="other", right="Person"),), outer=True
    )
    assert person_columns(VISITS, TABLES) == {"patient"}
    assert person_columns(renamed, TABLES) == {"who"}
    assert person_columns(calculated, TABLES) == set()
    assert person_columns(both, TABLES) == {"who", "other"}
    assert person_columns(outer, TABLES) == {"who"}
    assert person_columns(Union(sources=(renamed, renamed)), TABLES) == {"who"}
    assert person_columns(PerPerson(source=VISITS, keys=("city",), columns=()), TABLES) == set()
    assert person_columns(PerPerson(source=VISITS, keys=("patient",), columns=()), TABLES) == {"patient"}


def test_one_row_for_each_person():
    single = per_person(n=("count", None), c=("minimum", "city"))
    above = Window(source=single, name="k", function="count")
    assert is_single(single, TABLES)
    assert is_single(Distinct(source=above), TABLES)
    assert is_single(joined(single, "c"), TABLES)
    assert not is_single(joined(single, "n", "zone"), TABLES)
    assert is_single(JoinPersons(left=single, right=single, columns=()), TABLES)
    assert not is_single(JoinPersons(left=single, right=VISITS, columns=()), TABLES)
    assert not is_single(Union(sources=(single, single)), TABLES)
    assert not is_single(PerPerson(source=VISITS, keys=("city",), columns=()), TABLES)
    assert is_single(PerPerson(source=VISITS, keys=("patient",), columns=()), TABLES)
    numbered = Window(source=VISITS, name="k", function="row number", order=(Order(column="day"),))
    first = Filter(source=numbered, condition=((col("k") == 1) & (col("ward") > 3)).expression)
    assert is_single(first, TABLES)
    assert not is_single(Filter(source=numbered, condition=(col("k") <= 1).expression), TABLES)
    assert not is_single(Filter(source=numbered, condition=(col("ward") == 1).expression), TABLES)
    assert not is_single(Filter(source=numbered, condition=(~(col("k") == 1)).expression), TABLES)
    within = Window(
        source=VISITS, name="k", function="row number", order=(Order(column="day"),), partition=("city",)
    )
    assert not is_single(Filter(source=within, condition=(col("k") == 1).expression), TABLES)
    replaced = Derive(source=numbered, columns=(Named(name="k", expression=(col("k") * 0).expression),))
    assert not is_single(Filter(source=replaced, condition=(col("k") == 0).expression), TABLES)
    by_city = PerPerson(source=VISITS, keys=("city",), columns=())
    assert is_single(Filter(source=by_city, condition=(col("city") == "a").expression), TABLES)
    assert limits_of(single, TABLES) == Limits(rows=1)
    assert limits_of(VISITS, TABLES) == Limits(rows=4)
    assert limits_of(Source(table="one"), ALONE) == Limits(rows=1)


def test_a_join_as_doubles_multiplies_what_is_apart_as_integers():
    tables = {
        "t": Table(pyarrow.table({"x": [2.0**53]}), person=EACH_ROW),
        "cities": PublicTable(pyarrow.table({"name": [2**53, 2**53 + 1], "y": [1, 2]})),
    }
    with pytest.raises(UnsupportedQuery, match="declare a person column"):
        facts(joined(Source(table="t"), "x"), tables)


ONE, TWO = Source(table="one"), Source(table="two")


@pytest.mark.parametrize(
    "relation",
    [
        PerPerson(source=ONE, columns=()),
        JoinPersons(left=ONE, right=TWO, columns=()),
        JoinPersons(left=VISITS, right=TWO, columns=()),
        Distinct(source=ONE),
        Window(source=ONE, name="k", function="row number", order=(Order(column="x"),)),
        Union(sources=(ONE, ONE)),
        Union(sources=(ONE, Filter(source=ONE, condition=(col("y") > 1).expression))),
        Union(sources=(Union(sources=(ONE, TWO)), TWO)),
        JoinPublic(source=ONE, table="public", on=(Equality(left="y", right="zone"),)),
        Union(
            sources=(
                Project(source=ONE, columns=(Named(name="city", expression=col("x").expression),)),
                Project(source=VISITS, columns=named(["city"])),
            )
        ),
    ],
)
def test_where_each_row_is_a_person_rows_stay_apart(relation):
    with pytest.raises(UnsupportedQuery, match="declare a person column"):
        facts(relation, ALONE)


def test_where_each_row_is_a_person_rows_may_find_one_public_row():
    assert facts(JoinPublic(source=ONE, table="public", on=(Equality(left="x", right="name"),)), ALONE)
    assert facts(Union(sources=(ONE, TWO)), ALONE)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (Source(table="cities"), "public: read it directly"),
        (joined(left="ward"), "equates integer with text"),
        (joined(columns=(Equality(left="CITY", right="zone"),)), "give them different names"),
        (joined(joined()), "give them different names"),
        (JoinPersons(left=VISITS, right=VISITS), "give them different names"),
        (
            JoinPublic(source=VISITS, table="tests", on=(Equality(left="city", right="city"),)),
            "on the person",
        ),
        (Derive(source=VISITS, columns=(Named(name="City", expression=col("city").expression),)), "apart"),
        (Window(source=VISITS, name="CITY", function="count"), "apart"),
        (Union(sources=(VISITS, TESTS)), "same columns"),
    ],
)
def test_refusals(relation, message):
    with pytest.raises(UnsupportedQuery, match=message) as caught:
        facts(relation)
    assert ";" in str(caught.value)


@pytest.mark.parametrize(
    "relation",
    [
        Source(table="nowhere"),
        JoinPublic(source=VISITS, table="nowhere", on=(Equality(left="city", right="name"),)),
        joined(left="nothing"),
        joined(right="nothing"),
        joined(columns=(Equality(left="x", right="nothing"),)),
        per_person(s=("sum", "patient")),
        per_person(s=("mean", "day")),
        per_person(s=("minimum", "nothing")),
        PerPerson(source=VISITS, keys=("nothing",), columns=()),
        Window(source=VISITS, name="k", function="count", partition=("nothing",)),
    ],
)
def test_what_is_not_there(relation):
    with pytest.raises(UndeclaredColumn, match=";"):
        facts(relation)


def test_persons_must_be_of_one_type():
    texts = Table(pyarrow.table({"who": ["1"], "x": [1]}), person="who", limits=Limits(rows=1))
    with pytest.raises(UnsupportedQuery, match="'visits', 'texts' are of different types"):
        facts(JoinPersons(left=VISITS, right=Source(table="texts"), columns=()), TABLES | {"texts": texts})


def test_tables_of_different_databases_are_refused_by_name(monkeypatch):
    from discreet.data.facts import colocation

    places = {id(EMPTY["visits"]._backend): "a", id(EMPTY["tests"]._backend): "b"}
    monkeypatch.setattr(colocation, "engine_place", lambda backend: places[id(backend)])
    with pytest.raises(UnsupportedQuery, match="'visits' and 'tests' are in different databases"):
        facts(JoinPersons(left=VISITS, right=TESTS, columns=()))


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")
def test_tables_of_one_connection_are_not_copied():
    connection = ibis.duckdb.connect()
    opened = [
        Table(connection.create_table(name, pyarrow.table({"who": [1]})), person="who", limits=Limits(rows=1))
        for name in ("a", "b")
    ]
    from discreet.data.facts.colocation import colocated

    assert colocated(opened[1], opened[0]._backend) is opened[1]._relation


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, 10**300], ids=["above", "below", "far"])
def test_a_column_of_integers_beyond_64_bits_is_refused_before_the_engine_sees_it(value):
    relation = Project(source=Source(table="visits"), columns=(Named(name="x", expression=literal(value)),))
    with pytest.raises(UnsupportedQuery, match="beyond 64 bits") as caught:
        columns_of_relation(relation, TABLES)
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize("value", [(1 << 63) - 1, -(1 << 63)])
def test_a_column_of_the_largest_integers_is_a_column(value):
    relation = Project(source=Source(table="visits"), columns=(Named(name="x", expression=literal(value)),))
    assert columns_of_relation(relation, TABLES)["x"].type is Type.INTEGER
