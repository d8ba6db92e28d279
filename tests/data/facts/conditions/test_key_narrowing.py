"""Calculated keys under conditions: no row is in a group that was left out, and rows decide nothing.

Every key meets every condition, on rows at the ends of what conditions say and beyond what is declared.
The oracle is plain DuckDB: which values the calculation has in rows that pass.
"""

# ruff: noqa: S608
from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow
import pytest

from discreet.data import Bounds, Dates, Keys, Limits, Table
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import Project
from discreet.errors import UnsupportedQuery
from discreet.queries import parse
from discreet.queries.question.query import key_facts

DAYS = [
    datetime.date(2024, 1, 1) + datetime.timedelta(days=n) for n in (-40, -1, 0, 59, 60, 90, 364, 365, 380)
]
TIMES = [datetime.datetime.combine(day, datetime.time(hour)) for day in DAYS for hour in (0, 1, 23)]
VALUES = {
    "year": [1998, 1999, 2000, 2001, 2010, 2015, 2029, 2030, 2031, None],
    "age": [-21, -1, 0, 1, 19, 20, 21, 39, 40, 79, 80, 110, 111, 130, None],
    "city": ["Taipei", "Oslo", "Rome", "", None],
    "day": [*DAYS, None],
    "seen": [*TIMES, None],
    "cost": [-0.5, 0.0, 0.5, 1.5, 199.5, 199.999, 200.0, 200.001, 999.99, 1000.0, 1200.0, None],
    "flag": [True, False, None],
    "other": [-3, 0, 4, 7, 8, None],
}
SCHEMA = pyarrow.schema(
    [
        ("patient", pyarrow.int64()),
        ("year", pyarrow.int64()),
        ("age", pyarrow.int64()),
        ("city", pyarrow.string()),
        ("day", pyarrow.date32()),
        ("seen", pyarrow.timestamp("us")),
        ("cost", pyarrow.float64()),
        ("flag", pyarrow.bool_()),
        ("other", pyarrow.int64()),
    ]
)
YEAR = datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)


def rows(size: int) -> pyarrow.Table:
    """Rows at random, every value of every column among them."""
    draw = random.Random(size)
    listed = [
        {"patient": place, **{name: draw.choice(values) for name, values in VALUES.items()}}
        for place in range(size)
    ]
    return pyarrow.Table.from_pylist(listed, schema=SCHEMA)


def declared(found: pyarrow.Table) -> dict[str, Table]:
    return {
        "visits": Table(
            found,
            person="patient",
            limits=Limits(rows=3),
            columns={
                "year": Keys([*range(2000, 2031), None]),
                "age": Bounds(0, 110),
                "city": Keys(["Taipei", "Oslo", "Hamilton"]),
                "day": Dates(*YEAR),
                "seen": Dates(*YEAR),
                "cost": Bounds(0, 1000, step=0.01),
            },
        )
    }


ROWS = rows(1500)
TABLES, OTHERS = declared(ROWS), declared(rows(1))
KEYS = [
    "year",
    "year % 10",
    "2030 - year",
    "year * -2",
    "year + other",
    "other * 2",
    "other % 3",
    "age % 7",
    "FLOOR(age / 20) * 20",
    "-FLOOR(age / 20)",
    "100 - FLOOR(age / 20) * 20",
    "FLOOR(cost / 200)",
    "CEIL(cost / -200)",
    "CAST(cost AS INTEGER)",
    "UPPER(city)",
    "CONCAT(city, 'x')",
    "CASE WHEN city = 'Oslo' THEN 'o' ELSE 'p' END",
    "CASE WHEN cost < 9 THEN year ELSE 2001 END",
    "COALESCE(city, 'none')",
    "DATE_TRUNC('month', day)",
    "DATE_TRUNC('month', seen)",
    "EXTRACT(MONTH FROM day)",
    "EXTRACT(ISODOW FROM day)",
    "EXTRACT(YEAR FROM seen)",
    "EXTRACT(MONTH FROM seen)",
    "EXTRACT(HOUR FROM seen)",
    "flag",
    "NOT flag",
    "year > 2010",
]
CONDITIONS = [
    "year = 2015",
    "year > 2010",
    "year < 2000",
    "other = 4 AND year = 2015",
    "year IN (1999, 2001, 2031)",
    "year BETWEEN 1999 AND 2001",
    "year >= 2029 OR year < 2001",
    "year >= 2029 OR cost > 200",
    "NOT (year > 2001)",
    "(year > 2028) IS TRUE",
    "(year > 2028) IS NOT FALSE",
    "(year > 2028) IS NOT TRUE",
    "COALESCE(year > 2028, TRUE)",
    "COALESCE(year > 2028, flag)",
    "year IS NULL OR year = 2000",
    "other = 4",
    "other IN (4, 7) AND year < 2002",
    "other > 3 AND other <= 7.5",
    "age >= 20 AND age < 40",
    "age > 19.5 AND age <= 79.5",
    "age > 110",
    "age >= 130",
    "age % 7 = 5",
    "age < 1",
    "cost > 199.5 AND cost < 200",
    "cost >= 199.999 AND cost <= 200.001",
    "cost = 200",
    "cost > 999",
    "cost <= 0",
    "city IN ('Oslo', 'Rome')",
    "city = 'Oslo' OR flag",
    "city > 'P' AND NOT city = 'Taipei'",
    "city = 'Oslo'",
    "city <> ''",
    "flag",
    "NOT flag",
    "NOT flag OR year = 2000",
    "day > DATE '2024-02-29' AND day < DATE '2024-04-01'",
    "day >= DATE '2024-12-30' AND day <= DATE '2025-01-20'",
    "day >= DATE '2024-12-30'",
    "day < DATE '2024-01-02'",
    "day = DATE '2024-02-29' OR day = DATE '2024-12-30'",
    "day IN (DATE '2024-02-29', DATE '2023-11-22')",
    "seen > TIMESTAMP '2024-02-29 00:00:00' AND seen < TIMESTAMP '2024-03-01 01:00:00'",
    "seen > DATE '2024-02-29' AND seen <= DATE '2024-03-01'",
    "seen >= DATE '2024-12-30' AND seen < DATE '2025-01-01'",
    "day > DATE '2024-12-31'",
    "EXTRACT(MONTH FROM day) IN (2, 12)",
    "EXTRACT(MONTH FROM seen) = 2",
    "EXTRACT(HOUR FROM seen) = 23 AND EXTRACT(YEAR FROM seen) = 2023",
    "DATE_TRUNC('month', day) = DATE '2024-02-01'",
    "FLOOR(age / 20) * 20 IN (20, 120)",
    "UPPER(city) = 'OSLO' AND cost > 1",
]

UNSAID = {"CASE WHEN city = 'Oslo' THEN 'o' ELSE 'p' END", "CASE WHEN cost < 9 THEN year ELSE 2001 END"}
"""Calculations that no rule says anything of under these conditions."""


def facts_of(text: str, tables: dict[str, Table]) -> tuple[Keys | None, Keys | None, str]:
    """The keys with and without conditions, and the refusal."""
    query = parse(text, tables)
    grouped = Project(source=query.relation, columns=query.keys)
    before = columns_of_relation(grouped, tables)["k"].keys
    try:
        return before, key_facts(query, tables)["k"].keys, ""
    except UnsupportedQuery as refusal:
        return before, None, str(refusal)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        made.register("visits", ROWS)
        yield made


def asked(key: str, condition: str) -> str:
    return f"SELECT {key} AS k, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY 1"


def occurring(connection: duckdb.DuckDBPyConnection, key: str, condition: str) -> set[object]:
    """The values that a calculation has in rows that pass, as DuckDB finds them; dates for midnights."""
    found = connection.execute(f"SELECT DISTINCT {key} AS k FROM visits WHERE {condition}").fetchall()
    return {one.date() if isinstance(one, datetime.datetime) else one for (one,) in found}


@pytest.mark.few(10)
@pytest.mark.parametrize("key", KEYS)
def test_no_row_is_in_a_group_that_was_left_out(key, connection):
    narrowed = 0  # a key of which no condition says anything would prove nothing
    for condition in CONDITIONS:
        before, after, refusal = facts_of(asked(key, condition), TABLES)
        rows_have = occurring(connection, key, condition)
        if before is not None:
            rows_have &= set(before.values)
        if refusal:
            assert not rows_have, (condition, refusal)
        elif after is not None:
            assert rows_have <= set(after.values), (condition, after)
        narrowed += after != before
    assert bool(narrowed) is (key not in UNSAID)


@pytest.mark.few(10)
@pytest.mark.parametrize("key", KEYS)
def test_rows_decide_nothing(key):
    """Of two tables that differ in their rows alone, keys and refusals are the same, word by word."""
    for condition in CONDITIONS:
        text = asked(key, condition)
        assert facts_of(text, TABLES) == facts_of(text, OTHERS)
