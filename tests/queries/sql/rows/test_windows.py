"""Windows within a person: the rows of DuckDB, and what is refused."""

# ruff: noqa: S608
from __future__ import annotations

import pytest

from discreet.data import from_json, to_json
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.errors import UnsupportedQuery
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, counted, declared, frames

OVER = "OVER (PARTITION BY patient ORDER BY day, city, ward, cost, urgent)"
SOME = "OVER (PARTITION BY patient ORDER BY day)"
EACH = "OVER (PARTITION BY patient)"
FULL = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
WINDOWS = [
    f"LAG(ward) {OVER} = 2",
    f"LAG(ward, 2) {OVER} = 2",
    f"LAG(ward, 2, 1) {OVER} = 1",
    f"LEAD(city) {OVER} = 'Rome'",
    f"LEAD(ward, 1, 3) {OVER} = 3",
    f"LEAD(day) {OVER} > day",
    f"LAG(ward + 1) {OVER} = 2",
    f"FIRST_VALUE(ward) {OVER} = 2",
    f"FIRST_VALUE(city) {OVER} IS NULL",
    f"LAST_VALUE(city) {OVER[:-1]} {FULL} = 'Oslo'",
    f"RANK() {SOME} = 2",
    f"DENSE_RANK() {SOME} = 2",
    "RANK() OVER (PARTITION BY patient, city ORDER BY ward DESC) = 1",
    "RANK() OVER (PARTITION BY patient ORDER BY cost, cost DESC) = 2",
    f"SUM(ward) {EACH} > 4",
    f"SUM(ward) {SOME} > 4",
    f"SUM(cost) {SOME} > 8",
    f"SUM(ward) {OVER[:-1]} ROWS UNBOUNDED PRECEDING) = 4",
    f"SUM(ward) {OVER[:-1]} {FULL} > 4",
    f"AVG(cost) {EACH} > 3",
    f"AVG(ward) {SOME} > 2",
    f"COUNT(*) {SOME} = 3",
    f"COUNT(ward) {SOME} = 2",
    f"COUNT(*) {OVER[:-1]} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) = 3",
    f"MIN(ward) {SOME} = ward",
    f"MAX(city) {SOME} = city",
    f"cost - AVG(cost) {EACH} > 0",
    f"ward = MAX(ward) {EACH} OR RANK() {SOME} = 1",
    "SUM(ward) OVER (PARTITION BY patient, city) = 3",
    f"SUM(CASE WHEN city = 'Oslo' THEN 1 ELSE 0 END) {EACH} = 1",
]


@pytest.mark.few(10)
@pytest.mark.parametrize("condition", WINDOWS)
def test_rows_are_those_of_duckdb(condition):
    for seed in (11, 12):
        found = frames(seed)
        text = f"SELECT COUNT(*) AS n FROM (SELECT {condition} AS k FROM visits) x WHERE k"
        assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT COUNT(*) AS n FROM (SELECT city FROM visits QUALIFY ROW_NUMBER() {OVER} = 1) x "
        "WHERE city = 'Oslo'",
        f"SELECT COUNT(*) AS n FROM (SELECT city, RANK() {SOME} AS k FROM visits "
        "QUALIFY k = 2 AND ward > 1) x",
        "SELECT COUNT(*) AS n FROM (SELECT LAG(ward) OVER w AS a, ward FROM visits WINDOW w AS "
        "(PARTITION BY patient ORDER BY day, city, ward, cost, urgent)) x WHERE a < ward",
    ],
)
def test_qualify_and_named_windows(text):
    found = frames(13)
    assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


def test_ties_are_broken_by_all_columns():
    """However rows are stored, LAG gives the same values: rows of one place are ordered by their content."""
    found = frames(14)
    text = f"SELECT COUNT(*) AS n FROM (SELECT LAG(ward) {SOME} AS k FROM visits) x WHERE k = 2"
    turned = {**found, "visits": found["visits"].take(list(range(39, -1, -1)))}
    assert counted(text, declared(found)) == counted(text, declared(turned))


def test_facts_of_shifted_columns():
    tables = declared(frames(1))
    text = f"SELECT k, COUNT(*) AS n FROM (SELECT LAG(city, 3) {SOME} AS k FROM visits) x GROUP BY k"
    query = parse(text, tables)
    facts = columns_of_relation(query.relation, tables)["k"]
    assert set(facts.keys.values) == {"Oslo", "Rome", "Bern", None}
    written = to_json(query.relation)
    assert b'"offset":3' in written
    assert from_json(written) == query.relation
    numbered = f"SELECT COUNT(*) AS n FROM (SELECT ROW_NUMBER() {SOME} AS k FROM visits) x"
    assert b"offset" not in to_json(parse(numbered, tables).relation)


REFUSED = [
    ("LAG(ward) OVER (ORDER BY day)", "several persons"),
    ("SUM(ward) OVER ()", "several persons"),
    ("LAG(ward) OVER (PARTITION BY patient)", "without an order"),
    ("LAG(ward, 0) " + SOME, "by this many rows"),
    ("LAG(ward, ward) " + SOME, "by a column"),
    ("LAG(ward) IGNORE NULLS " + SOME, "this window function"),
    ("NTILE(4) " + SOME, "this window function"),
    ("LAST_VALUE(ward) " + SOME, "up to the row itself"),
    ("SUM(ward) OVER (PARTITION BY patient ORDER BY day ROWS 2 PRECEDING)", "some rows"),
    ("SUM(DISTINCT ward) " + EACH, "this expression"),
]


@pytest.mark.parametrize(("window", "words"), REFUSED)
def test_what_is_refused(window, words):
    tables = declared(frames(1))
    text = f"SELECT COUNT(*) AS n FROM (SELECT {window} AS k FROM visits) x WHERE k = 1"
    with pytest.raises(UnsupportedQuery, match=words):
        bind(parse(text, tables), tables)
