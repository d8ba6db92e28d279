"""Dates in other spellings: the declared day, text of parts, and ages."""

# ruff: noqa: S608
from __future__ import annotations

import datetime

import pytest

from discreet.curator import Budget
from discreet.data import to_json
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.front import Curator
from discreet.queries import bind, parse
from queries.phrases import by_duckdb, counted, declared, frames

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE "
TODAY = datetime.date(2024, 3, 1)
SAME = [
    ("day >= CURRENT_DATE", "day >= DATE '2024-03-01'"),
    ("day >= CURRENT_DATE() - INTERVAL '90' DAY", "day >= DATE '2024-03-01' - INTERVAL '90' DAY"),
    ("day < TODAY()", "day < DATE '2024-03-01'"),
    ("day < NOW()", "day < TIMESTAMP '2024-03-01 00:00:00'"),
    ("day < CURRENT_TIMESTAMP", "day < TIMESTAMP '2024-03-01 00:00:00'"),
    ("day > DATEADD(month, -3, GETDATE())", "day > TIMESTAMP '2024-03-01 00:00:00' - INTERVAL '3' MONTH"),
    ("EXTRACT(YEAR FROM AGE(day)) = 0", "EXTRACT(YEAR FROM AGE(DATE '2024-03-01', day)) = 0"),
]


@pytest.mark.parametrize(("written", "plain"), SAME)
def test_the_day_is_the_literal_that_it_becomes(written, plain):
    tables = declared(frames(1))
    one, other = parse(COUNT + written, tables, TODAY), parse(COUNT + plain, tables)
    assert to_json(one.relation) == to_json(other.relation)
    with pytest.raises(UnsupportedQuery, match="owner declare a day"):
        parse(COUNT + written, tables)


def test_the_label_states_the_day(tmp_path):
    tables = declared(frames(1))
    plain = {"budget": Budget(epsilon=10), "ledger": tmp_path / "ledger"}
    curator = Curator(tables, **plain, today="2024-03-01")
    release = curator.ask(f"{COUNT}day < CURRENT_DATE", epsilon=1)
    assert release.label["today"] == "2024-03-01"
    assert curator.today == curator.sandbox(rows=10).today == TODAY
    stated = f"{COUNT}day < DATE '2024-03-01'"
    assert curator.preview(stated, epsilon=1).answered
    later = Curator(tables, **plain, today=datetime.date(2024, 12, 31))
    assert not later.preview(f"{COUNT}day < CURRENT_DATE", epsilon=1).answered
    without = Curator(tables, **plain)
    assert "today" not in without.ask(stated, epsilon=1).label
    for wrong in ("yesterday", 5, datetime.datetime(2024, 3, 1)):
        with pytest.raises(ParameterError, match="today"):
            Curator(tables, **plain, today=wrong)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("TO_CHAR(day, 'YYYY')", ["2024"]),
        ("STRFTIME(day, '%Y-%m')", [f"2024-{month:02}" for month in range(1, 13)]),
        ("STRFTIME('%Y/%m', day)", [f"2024/{month:02}" for month in range(1, 13)]),
        ("DATE_FORMAT(day, '%m')", [f"{month:02}" for month in range(1, 13)]),
        ("FORMAT_DATE('%Y', day)", ["2024"]),
    ],
)
def test_dates_as_text_are_keys(written, keys):
    tables = declared(frames(1))
    query = parse(f"SELECT {written} AS k, COUNT(*) AS n FROM visits GROUP BY k", tables)
    found = bind(query, tables).plan.keys[0].values.values
    assert [key for key in found if key is not None] == keys


@pytest.mark.parametrize("pattern", ["Mon YYYY", "%B", "YYYY-Q", "mm", ""])
def test_other_patterns_are_refused(pattern):
    tables = declared(frames(1))
    with pytest.raises(UnsupportedQuery):
        parse(f"{COUNT}TO_CHAR(day, '{pattern}') = '2024'", tables)


@pytest.mark.parametrize(
    "condition",
    [
        "STRFTIME(day, '%Y-%m') = '2024-02'",
        "STRFTIME(day, '%d.%m.%Y') = '29.02.2024'",
        "EXTRACT(YEAR FROM AGE(DATE '2034-02-28', day)) = 9",
        "DATE_PART('year', AGE(DATE '2034-12-31', day)) = 10",
    ],
)
def test_rows_are_those_of_duckdb(condition):
    found = frames(41)
    assert counted(COUNT + condition, declared(found)) == by_duckdb(COUNT + condition, found)[0][0]
