"""Rows that a query writes itself, and columns that an alias renames: the rows of DuckDB."""

from __future__ import annotations

import pytest

from discreet.data import to_json
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, counted, declared, frames

COUNT = "SELECT COUNT(*) AS n FROM "
TABLES = [
    "visits v JOIN (VALUES ('Oslo', 1), ('Rome', 2)) AS k (name, w) ON v.city = k.name AND v.ward = k.w",
    "visits v LEFT JOIN (VALUES ('Oslo'), (NULL)) AS k (name) ON v.city = k.name WHERE k.name IS NULL",
    "visits v JOIN (SELECT 'Oslo' AS name UNION ALL SELECT 'Rome') k ON v.city = k.name",
    "visits v CROSS JOIN (VALUES (1.5), (2)) AS k (least) WHERE v.cost > k.least",
    "visits v, UNNEST(ARRAY['Oslo', 'Rome', 'Oslo']) AS k (name) WHERE v.city = k.name",
    "visits v JOIN GENERATE_SERIES(1, 3, 2) AS k (w) ON v.ward = k.w",
    "visits v JOIN (SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t (w, x) WHERE x = 'a') k ON v.ward = k.w",
    "visits v WHERE city IN (SELECT name FROM (VALUES ('Oslo'), ('Rome')) AS t (name))",
    "(SELECT city, ward FROM visits) AS t (a, b) WHERE b > 1",
    "(SELECT city, ward FROM visits) AS t (a) WHERE a = 'Oslo' AND ward > 1",
    "visits AS t (a, b) WHERE b = 'Oslo' AND t.ward = 1",
    "visits v JOIN cities AS c (n) ON v.city = c.n WHERE c.ward = 2",
]


@pytest.mark.few(6)
@pytest.mark.parametrize("tables", TABLES)
def test_rows_are_those_of_duckdb(tables):
    found = frames(31)
    assert counted(COUNT + tables, declared(found)) == by_duckdb(COUNT + tables, found)[0][0]


@pytest.mark.parametrize(
    "text",
    [
        "WITH k (name, w) AS (VALUES ('Oslo', 1), ('Rome', 2)) SELECT COUNT(*) AS n FROM visits v "
        "JOIN k ON v.city = k.name WHERE k.w > 1",
        "WITH t (a, b) AS (SELECT patient, ward FROM visits) SELECT COUNT(*) AS n FROM t WHERE b > 1",
        "SELECT COUNT(*) AS n FROM (WITH t AS (SELECT * FROM visits) SELECT * FROM t WHERE ward = 1) x",
    ],
)
def test_with_names_columns(text):
    found = frames(32)
    assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


def test_the_order_of_rows_makes_no_other_question():
    tables = declared(frames(1))
    one, other = (
        parse(f"{COUNT}visits v JOIN (VALUES {rows}) AS k (name) ON v.city = k.name", tables)
        for rows in ("('Oslo'), ('Rome')", "('Rome'), ('Oslo')")
    )
    assert to_json(one.relation) == to_json(other.relation)


def test_listed_rows_are_keys():
    tables = declared(frames(1))
    text = "SELECT k.label, COUNT(*) AS n FROM visits v JOIN (VALUES (1, 'low'), (2, 'low'), (3, 'high')) "
    query = parse(f"{text} AS k (w, label) ON v.ward = k.w GROUP BY k.label", tables)
    assert set(bind(query, tables).plan.keys[0].values.values) == {"low", "high"}


@pytest.mark.parametrize(
    ("tables", "error"),
    [
        ("visits v JOIN (VALUES (1, 2), (3)) AS k (a, b) ON v.ward = k.a", UnsupportedQuery),
        ("visits v JOIN (VALUES (1), ('a')) AS k (a) ON v.ward = k.a", UnsupportedQuery),
        ("visits v JOIN (VALUES (v.ward)) AS k (a) ON v.ward = k.a", UnsupportedQuery),
        ("visits v, UNNEST(v.city) AS k (a)", UnsupportedQuery),
        ("visits v JOIN GENERATE_SERIES(1, 10000000) AS k (a) ON v.ward = k.a", UnsupportedQuery),
        ("visits v JOIN GENERATE_SERIES(1, 5, 0) AS k (a) ON v.ward = k.a", UnsupportedQuery),
        ("(SELECT city FROM visits) AS t (a, b)", UnsupportedQuery),
        ("(SELECT city, ward FROM visits) AS t (a, A)", UnsupportedQuery),
        ("(SELECT city, ward FROM visits) AS t (a) WHERE city = 'Oslo'", UndeclaredColumn),
    ],
)
def test_what_is_refused(tables, error):
    known = declared(frames(1))
    with pytest.raises(error):
        bind(parse(COUNT + tables, known), known)
