"""Differences and names of dates, compared with DuckDB's own on the same rows."""

from __future__ import annotations

import datetime

import duckdb
import numpy as np
import pyarrow
import pytest

from discreet.data import Dates, Limits, Table, compute, fresh_salt
from discreet.queries import parse
from discreet.queries.binding.bind import bind

SIZE = 2000


def _rows():
    draw = np.random.default_rng(8)
    begin = np.datetime64("2023-12-20T00:00:00")
    first = begin + draw.integers(0, 400 * 86400, SIZE).astype("timedelta64[s]")
    last = first + draw.integers(-40 * 86400, 40 * 86400, SIZE).astype("timedelta64[s]")
    return pyarrow.table(
        {
            "patient": np.arange(SIZE),
            "first": pyarrow.array(first.astype("datetime64[us]")),
            "last": pyarrow.array(last.astype("datetime64[us]")),
            "day": pyarrow.array(first.astype("datetime64[D]")),
        }
    )


ROWS = _rows()
DAYS = Dates(datetime.date(2023, 1, 1), datetime.date(2025, 12, 31))
TABLES = {
    "visits": Table(
        ROWS,
        person="patient",
        limits=Limits(rows=1),
        columns=dict.fromkeys(("first", "last", "day"), DAYS),
    )
}


def exact(select):
    return duckdb.connect().register("visits", ROWS).execute(select).fetchall()


def counted(key):
    """The count of every key that has rows."""
    select = f"SELECT {key} AS k, COUNT(*) AS n FROM visits GROUP BY k"  # noqa: S608
    plan = bind(parse(select, TABLES), TABLES).plan
    found = compute(plan, TABLES, salt=fresh_salt())[plan.measures[0]]
    keys = plan.keys[0].values.values
    return {k: int(n) for k, n in zip(keys, found, strict=True) if n}, dict(exact(select))


@pytest.mark.parametrize("key", ["MONTHNAME(day)", "MONTHNAME(first)", "DAYNAME(day)", "DAYNAME(last)"])
def test_names_are_whole_and_english(key):
    found, wanted = counted(key)
    assert found == wanted


@pytest.mark.parametrize("key", ["LAST_DAY(day)", "LAST_DAY(first)"])
def test_the_last_day_of_a_month(key):
    found, wanted = counted(key)
    assert found == wanted
    assert datetime.date(2024, 2, 29) in found


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("DATEDIFF('hour', first, last)", ""),
        ("DATEDIFF('minute', first, last)", ""),
        ("DATEDIFF('second', first, last)", ""),
        # DuckDB counts whole weeks, others Sundays: here Mondays are counted, as other units are.
        (
            "DATEDIFF('week', first, last)",
            "DATEDIFF('day', DATE_TRUNC('week', first), DATE_TRUNC('week', last)) / 7",
        ),
    ],
)
def test_a_difference_counts_the_beginnings_of_a_unit(asked, plain):
    text = "SELECT SUM(DIFFERENCE) AS s FROM visits"
    plan = bind(parse(text.replace("DIFFERENCE", asked), TABLES), TABLES).plan
    (measure,) = plan.measures
    found = compute(plan, TABLES, salt=fresh_salt())[measure]
    ((wanted,),) = exact(text.replace("DIFFERENCE", plain or asked))
    assert int(found[0]) * measure.bounds.step == wanted
