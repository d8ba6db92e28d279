"""Requests like a dataframe: names only, nothing touched."""

from __future__ import annotations

import pytest

from discreet.data import col, count
from discreet.errors import ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.queries import GroupedRequest, Query, TableRequest, bind
from discreet.queries.question.query import key_of
from queries.clinic import TABLES

VISITS = TableRequest(table="visits")


def test_building_needs_no_table():
    query = TableRequest(table="nowhere").filter(col("nothing") < 3).group_by("none").agg(n=col("x").sum())
    assert isinstance(query, Query)
    with pytest.raises(UndeclaredColumn, match="there is no such table; known tables: 'visits', 'staff'"):
        bind(query, TABLES)


def test_a_request_is_not_changed_by_building_on_it():
    young = VISITS.filter(col("age") < 40)
    assert young.filter(col("age") > 3) != young
    assert VISITS.agg(n=count()) == TableRequest(table="visits").agg(n=count())
    assert young.filter() == young


def test_filters_in_a_row_in_a_call_and_in_a_formula_are_one():
    one, two = col("age") < 40, col("city") == "Oslo"
    assert VISITS.filter(one).filter(two) == VISITS.filter(one, two) == VISITS.filter(one & two)


def test_keys_are_names_or_columns():
    assert VISITS.group_by("city", col("ward")) == GroupedRequest(
        relation=VISITS.group_by().relation, keys=(key_of("city"), key_of("ward"))
    )
    assert VISITS.group_by().agg(n=count()) == VISITS.agg(n=count())


@pytest.mark.parametrize(
    "build",
    [
        VISITS.agg,
        lambda: VISITS.agg(n=3),
        lambda: VISITS.agg(n=col("age")),
        lambda: VISITS.filter("age < 40"),
        lambda: VISITS.filter(True),
        lambda: VISITS.group_by(3),
        lambda: VISITS.group_by(""),
        lambda: VISITS.group_by(col("age") / 10),
        lambda: VISITS.group_by("city", "city").agg(n=count()),
        lambda: VISITS.group_by(decade="age").agg(n=count()),
        lambda: VISITS.derive(x=3),
        lambda: VISITS.derive(x=col("a"), X=col("b")),
        VISITS.select,
        lambda: VISITS.select(3),
        lambda: VISITS.select("age", "AGE"),
        lambda: VISITS.join("cities"),
        lambda: VISITS.join(3, on="city"),
        lambda: VISITS.join("cities", on="city", how="outer"),
        lambda: VISITS.join("cities", on={"city": 3}),
        VISITS.union,
        lambda: VISITS.union("staff"),
        lambda: VISITS.per_person(n=3),
        lambda: VISITS.per_person(n=col("age").median()),
        lambda: VISITS.per_person("n", n=count()),
        lambda: VISITS.per_person(3, n=count()),
        lambda: VISITS.number([]),
        lambda: VISITS.number("day", descending=[True, False]),
    ],
)
def test_what_is_no_request_is_refused(build):
    with pytest.raises(UnsupportedQuery, match=";"):
        build()


def test_columns_on_columns_are_one_step_unless_they_read_each_other():
    one, two = VISITS.derive(x=col("age") + 1), {"y": col("cost") + 2}
    assert one.derive(**two) == VISITS.derive(x=col("age") + 1, **two)
    for more in ({"y": col("x") + 2}, {"x": col("cost")}):
        assert len(one.derive(**more).relation.columns) == 1


def test_a_calculation_of_each_person_takes_no_name_that_is_read():
    operand = (col("age") + 1).sum()
    (column,) = VISITS.per_person(a=operand).relation.source.columns
    assert column.name == "age + ?"
    (column,) = VISITS.per_person("age + ?", a=operand).relation.source.columns
    assert column.name == "age + ? 2"
    both = VISITS.per_person(a=(col("age") + 1).sum(), b=(col("age") + 2).sum(), c=operand).relation
    assert [column.name for column in both.source.columns] == ["age + ?", "age + ? 2"]
    assert [one.column for one in both.columns] == ["age + ?", "age + ? 2", "age + ?"]


def test_a_table_has_a_name():
    for name in ("", None, 3):
        with pytest.raises(ParameterError, match="not a table name"):
            TableRequest(table=name)


def test_requests_hide_literals():
    request = VISITS.filter(col("note") == "canary")
    assert "canary" not in f"{request!r}{request.group_by('city')!r}{request.agg(n=count())!r}"


def test_unknown_columns_are_refused_when_bound():
    for query in (
        VISITS.agg(n=col("agee").count()),
        VISITS.agg(n=col("agee").sum()),
        VISITS.filter(col("agee") > 3).agg(n=count()),
        VISITS.group_by("agee").agg(n=count()),
    ):
        with pytest.raises(UndeclaredColumn, match="known columns: 'age'"):
            bind(query, TABLES)


def test_the_name_of_a_private_table_says_how_it_is_joined():
    asked = VISITS.join("staff", on="city").agg(n=count())
    with pytest.raises(UnsupportedQuery, match=r"in Python, join\(clinic\.table\('staff'\)\)"):
        bind(asked, TABLES)
