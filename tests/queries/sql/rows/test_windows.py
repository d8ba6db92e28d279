"""Windows within a person: the rows of DuckDB, and what is refused."""

# ruff: noqa: S608
from __future__ import annotations

import pyarrow
import pyarrow.compute
import pytest

from discreet.data import Keys, Limits, Table, compute, fresh_salt, from_json, to_json
from discreet.data.facts.limits import limits_of
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


def test_what_no_row_is_before_is_a_key_though_none_is_missing():
    """The first row of a person has none before it: its group is NULL, whether or not NULL is declared."""
    found = frames(16)
    present = found["visits"].filter(pyarrow.compute.is_valid(found["visits"]["city"]))
    cities = Keys(["Oslo", "Rome", "Bern"])
    table = Table(present, person="patient", limits=Limits(rows=50), columns={"city": cities})
    text = f"SELECT k, COUNT(*) AS n FROM (SELECT LAG(city) {OVER} AS k FROM visits) x GROUP BY k"
    plan = bind(parse(text, {"visits": table}), {"visits": table}).plan
    assert set(plan.keys[0].values.values) == {*cities.values, None}
    counts = compute(plan, {"visits": table}, salt=fresh_salt())[plan.measures[0]]
    expected = dict(by_duckdb(text, {"visits": present}))
    assert dict(zip(plan.keys[0].values.values, map(int, counts), strict=True)) == expected


NUMBERED = "(SELECT patient, cost, {} AS k FROM visits) x WHERE {}"
GROUPED = "(SELECT patient, {}, COUNT(*) AS n FROM visits GROUP BY {}) x WHERE {}"
ONE_ROW = [
    (NUMBERED.format(f"ROW_NUMBER() {SOME}", "k = 1"), True),
    (NUMBERED.format(f"ROW_NUMBER() {SOME}", "k = 2 AND cost > 0"), True),
    (NUMBERED.format(f"ROW_NUMBER() {SOME}", "k <= 2"), False),
    (NUMBERED.format(f"ROW_NUMBER() {SOME}", "k = 1 OR cost > 1"), False),
    (NUMBERED.format("ROW_NUMBER() OVER (PARTITION BY patient, city ORDER BY day)", "k = 1"), False),
    (NUMBERED.format(f"RANK() {SOME}", "k = 1"), False),
    (NUMBERED.format(f"LAG(ward) {SOME}", "k = 1"), False),
    (GROUPED.format("city", "patient, city", "city = 'Oslo'"), True),
    (GROUPED.format("city, ward", "patient, city, ward", "city = 'Oslo'"), False),
    (GROUPED.format("cost", "patient, cost", "cost = 1.5"), False),
]


@pytest.mark.parametrize(("rows", "single"), ONE_ROW)
def test_a_person_has_one_row_only_where_something_tells_rows_apart(rows, single):
    """A number within a part of a person's rows, a rank, and one of several keys are shared by some."""
    found = frames(15, rows=200)
    tables = declared(found)
    query = parse(f"SELECT COUNT(*) AS n FROM {rows}", tables)
    assert (limits_of(query.relation, tables).rows == 1) is single
    most = (
        f"SELECT MAX(k) FROM (SELECT COUNT(*) AS k FROM (SELECT patient FROM {rows}) AS y GROUP BY patient)"
    )
    if single or "cost = 1.5" not in rows:  # of floats, DuckDB has one row for each as well
        assert (by_duckdb(most, found)[0][0] == 1) is single


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
