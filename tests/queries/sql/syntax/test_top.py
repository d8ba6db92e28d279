"""TOP n of T-SQL, and the other ways to cut an answer."""

# ruff: noqa: S608

from __future__ import annotations

import pytest

from discreet.queries.sql.select import parse
from queries.clinic import TABLES

COUNT = "city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY n DESC"


@pytest.mark.parametrize(
    ("sql", "limit", "offset"),
    [
        (f"SELECT TOP 2 {COUNT}", 2, 0),
        (f"SELECT TOP (2) {COUNT}", 2, 0),
        (f"SELECT DISTINCT TOP 2 {COUNT}", 2, 0),
        (f"SELECT {COUNT} LIMIT 2", 2, 0),
        (f"SELECT {COUNT} LIMIT 0", 0, 0),
        (f"SELECT {COUNT} LIMIT 2 OFFSET 1", 2, 1),
        (f"SELECT {COUNT} OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", 2, 1),
        (f"SELECT {COUNT} FETCH FIRST ROW ONLY", 1, 0),
        (f"SELECT {COUNT} LIMIT 1, 2", 2, 1),
    ],
)
def test_an_answer_is_cut(sql, limit, offset):
    after = parse(sql, TABLES).after
    assert (after.limit, after.offset) == (limit, offset)


def test_a_column_may_be_called_top():
    assert parse("SELECT city AS top, COUNT(*) FROM visits GROUP BY city", TABLES).keys[0].name == "top"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("by", ["city", "1", "n", "LENGTH(city)"])
def test_missing_values_may_come_first(by, first):
    nulls = "FIRST" if first else "LAST"
    sql = f"SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY {by} NULLS {nulls}"
    (order,) = parse(sql, TABLES).after.order
    assert getattr(order, "missing_first", False) is first


def test_items_may_be_repeated():
    query = parse(
        "SELECT city AS a, city AS b, COUNT(*), COUNT(*), COUNT(*) FROM visits GROUP BY city", TABLES
    )
    assert query.keys[0].name == "a"
    assert parse("SELECT city, city AS town, COUNT(*) FROM visits GROUP BY city", TABLES).shown == (
        "town",
        "count",
    )
    assert query.shown == ("b", "count", "count_2", "count_3")
