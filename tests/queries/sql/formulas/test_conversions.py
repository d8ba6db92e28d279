"""Constants take the type of what they are compared with; values of rows never do."""

# ruff: noqa: S608
from __future__ import annotations

import datetime

import duckdb
import pyarrow
import pytest

from discreet.data import PublicTable, compute, fresh_salt, to_json
from discreet.errors import RequestRefused
from discreet.queries import Offer, bind, build_request, parse
from queries.clinic import TABLES, arrow, row, visits

CITIES = PublicTable(
    pyarrow.table(
        {"city": ["Taipei", "Oslo"], "founded": [datetime.date(1920, 1, 1), datetime.date(1048, 1, 1)]}
    )
)
ALL = {**TABLES, "cities": CITIES}

SAME = [
    ("day > '2026-01-31'", "day > DATE '2026-01-31'"),
    ("'2026-01-31' < day", "day > DATE '2026-01-31'"),
    ("day >= ' 2026-01-31 '", "day >= DATE '2026-01-31'"),
    ("day = '2026-01-31 00:00:00'", "day = TIMESTAMP '2026-01-31 00:00:00'"),
    ("day BETWEEN '2026-01-01' AND '2026-01-31'", "day BETWEEN DATE '2026-01-01' AND DATE '2026-01-31'"),
    ("day IN ('2026-01-31', '2026-02-01')", "day IN (DATE '2026-01-31', DATE '2026-02-01')"),
    ("day IS DISTINCT FROM '2026-01-31'", "day IS DISTINCT FROM DATE '2026-01-31'"),
    ("CASE day WHEN '2026-01-31' THEN TRUE END", "CASE day WHEN DATE '2026-01-31' THEN TRUE END"),
    ("DATE_TRUNC('month', day) = '2026-01-01'", "DATE_TRUNC('month', day) = DATE '2026-01-01'"),
    ("seen >= '2026-01-31'", "seen >= TIMESTAMP '2026-01-31 00:00:00'"),
    ("seen < '2026-01-31 12:30'", "seen < TIMESTAMP '2026-01-31 12:30:00'"),
    ("seen < '2026-01-31T12:30:00.5'", "seen < TIMESTAMP '2026-01-31 12:30:00.5'"),
    ("moment < '2026-01-31'", "moment < TIMESTAMPTZ '2026-01-31 00:00:00Z'"),
    ("moment < DATE '2026-01-31'", "moment < TIMESTAMPTZ '2026-01-31 00:00:00Z'"),
    ("moment < TIMESTAMP '2026-01-31 12:00:00'", "moment < TIMESTAMPTZ '2026-01-31 12:00:00Z'"),
    ("moment < '2026-01-31 12:00:00+01:00'", "moment < TIMESTAMPTZ '2026-01-31 11:00:00Z'"),
    ("age = '40'", "age = 40"),
    ("age > '-1.5'", "age > -1.5"),
    ("cost < ' 1e3 '", "cost < 1000"),
    ("age IN ('1', 2)", "age IN (1, 2)"),
    ("age = TRUE", "age = 1"),
    ("age <> FALSE", "age <> 0"),
    ("urgent = 1", "urgent = TRUE"),
    ("urgent <> 0", "urgent <> FALSE"),
    ("urgent = 'True'", "urgent = TRUE"),
    ("urgent IN ('f')", "urgent IN (FALSE)"),
    ("1 = 1 AND age > 3", "age > 3"),
    ("age > 3 AND (1 = 1) AND 'a' < 'b'", "age > 3"),
    ("1 = 0 OR age > 3", "age > 3"),
    ("city IN (SELECT city FROM cities WHERE founded < '1900-01-01')", "city IN ('Oslo')"),
]


@pytest.mark.parametrize(("text", "plain"), SAME)
def test_a_converted_constant_makes_the_question_of_the_typed_one(text, plain):
    one, other = (parse(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", ALL) for where in (text, plain))
    assert one == other
    plans = [to_json(build_request(query, ALL, Offer(epsilon=1)).plan) for query in (one, other)]
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("SELECT COUNT(*) AS n FROM visits WHERE 1 = 1", "SELECT COUNT(*) AS n FROM visits"),
        (
            "SELECT SUM(CASE WHEN day > '2026-01-31' THEN cost END) AS s FROM visits",
            "SELECT SUM(CASE WHEN day > DATE '2026-01-31' THEN cost END) AS s FROM visits",
        ),
        (
            "SELECT COUNT(*) FILTER (WHERE age = '4') AS s FROM visits",
            "SELECT COUNT(*) FILTER (WHERE age = 4) AS s FROM visits",
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT day > '2026-01-31' AS late FROM visits WHERE age > '1') v "
            "WHERE late = 1",
            "SELECT COUNT(*) AS n FROM (SELECT day > DATE '2026-01-31' AS late FROM visits WHERE age > 1) v "
            "WHERE late = TRUE",
        ),
        (
            "SELECT AVG(n) AS m FROM (SELECT patient, COUNT(CASE WHEN age > '3' THEN 1 END) AS n FROM visits "
            "GROUP BY patient) v WHERE n < '4'",
            "SELECT AVG(n) AS m FROM (SELECT patient, COUNT(CASE WHEN age > 3 THEN 1 END) AS n FROM visits "
            "GROUP BY patient) v WHERE n < 4",
        ),
        (
            "SELECT day > '2026-01-31' AS late, COUNT(*) AS n FROM visits GROUP BY late",
            "SELECT day > DATE '2026-01-31' AS late, COUNT(*) AS n FROM visits GROUP BY 1",
        ),
    ],
)
def test_constants_are_converted_wherever_conditions_are(text, plain):
    assert parse(text, ALL) == parse(plain, ALL)


@pytest.mark.parametrize("where", ["TRUE AND age > 3", "age > 3 OR FALSE", "TRUE"])
def test_a_truth_that_was_written_stays_in_the_question(where):
    assert parse(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", ALL) not in (
        parse("SELECT COUNT(*) AS n FROM visits WHERE age > 3", ALL),
        parse("SELECT COUNT(*) AS n FROM visits", ALL),
    )


@pytest.mark.parametrize(
    "where",
    [
        "day > '2026-02-30'",
        "day > '31.01.2026'",
        "seen > '2026-01-31 12:00:00+01:00'",
        "age > '4O'",
        "age > ''",
        "age > 'nan'",
        "note = 7",
        "note = TRUE",
        "urgent = 2",
        "urgent = 'perhaps'",
        "seen = moment",
        "note > day",
        "note = age",
    ],
)
def test_what_has_no_such_meaning_is_refused(where):
    with pytest.raises(RequestRefused, match=r"one type|compares"):
        bind(parse(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", ALL), ALL)


@pytest.mark.parametrize(
    "where",
    [
        "day >= '2026-01-30'",
        "age = '1'",
        "age = TRUE",
        "urgent = 1",
        "1 = 1",
        "1 = 0",
        "1 = 0 AND age > 0",
        "1 = 1 OR age > 0",
        "NOT 1 = 1",
        "2 < 10 AND age > '0'",
    ],
)
def test_the_answer_is_that_of_duckdb(where):
    days = [None, *(datetime.date(2026, 1, day) for day in (1, 30, 31))]
    rows = [row(age=place % 3, day=day, urgent=place % 2 == 0) for place, day in enumerate(days)]
    tables = {"visits": visits(rows)}
    text = f"SELECT COUNT(*) AS n FROM visits WHERE {where}"
    bound = bind(parse(text, tables), tables)
    exact = compute(bound.plan, tables, salt=fresh_salt())
    with duckdb.connect() as connection:
        connection.register("visits", arrow(rows))
        (expected,) = connection.execute(text).fetchone()
    assert int(exact[bound.outputs[0].measures[0]][0]) == expected


def test_keys_are_narrowed_by_converted_constants():
    query = parse("SELECT ward, COUNT(*) AS n FROM visits WHERE ward IN ('1', '3') GROUP BY ward", TABLES)
    assert bind(query, TABLES).plan.shape == (2,)
