"""Names without quotes ignore case; names in quotes do not; names that nobody declared are not repeated."""

from __future__ import annotations

import pytest

from discreet.data import Type
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries.sql.select import parse
from discreet.queries.sql.syntax.names import column_named, same, table_named
from queries.clinic import TABLES

SCHEMA = {"age": Type.INTEGER, "City": Type.TEXT, "x": Type.TEXT, "X": Type.TEXT, "straße": Type.TEXT}


@pytest.mark.parametrize(
    ("name", "quoted", "found"),
    [
        ("age", False, "age"),
        ("AGE", False, "age"),
        ("age", True, "age"),
        ("city", False, "City"),
        ("x", False, "x"),
        ("X", False, "X"),
        ("STRAßE", False, "straße"),
    ],
)
def test_columns(name, quoted, found):
    assert column_named(name, quoted=quoted, schema=SCHEMA) == found


@pytest.mark.parametrize(("name", "quoted"), [("AGE", True), ("city", True), ("canary", False), ("", False)])
def test_columns_that_are_not_there(name, quoted):
    with pytest.raises(UndeclaredColumn, match="there is no such column; known columns:") as caught:
        column_named(name, quoted=quoted, schema=SCHEMA)
    assert "canary" not in str(caught.value)


def test_two_that_differ_in_case_alone_need_quotes():
    with pytest.raises(UnsupportedQuery, match="double quotes"):
        column_named("aB", quoted=False, schema={"ab": Type.TEXT, "AB": Type.TEXT})


def test_tables():
    assert table_named("VISITS", quoted=False, tables=TABLES) == "visits"
    with pytest.raises(UndeclaredColumn, match="known tables: none"):
        table_named("visits", quoted=False, tables={})


def test_same():
    assert same("V", quoted=False, other="v")
    assert not same("V", quoted=True, other="v")
    assert same("v", quoted=True, other="v")


def test_an_empty_schema_is_none():
    assert parse("SELECT COUNT(*) AS n FROM ..visits", TABLES) == parse(
        "SELECT COUNT(*) AS n FROM visits", TABLES
    )
