"""A small world in which an answer at a large epsilon can be compared with what DuckDB answers."""

from __future__ import annotations

import datetime
from functools import cache

import duckdb
import numpy as np
import pyarrow

from discreet.curator import Budget
from discreet.data import EACH_ROW, Bounds, Dates, Keys, Table
from discreet.front import Curator

CITIES = ["Taipei", "Hamilton", "Oslo", "Rome"]
NOISE = 4.0
"""More than the noise of a sum or a mean ever is here; counts have none."""


@cache
def frame():
    """Six hundred rows; nobody is in Rome, nor in ward 4."""
    draw = np.random.default_rng(3)
    size = 600
    days = [
        datetime.date(2024, 1, 1) + datetime.timedelta(days=int(one)) for one in draw.integers(0, 182, size)
    ]
    return pyarrow.table(
        {
            "city": draw.choice(CITIES[:3], size, p=[0.5, 0.3, 0.2]),
            "ward": draw.integers(0, 4, size),
            "day": days,
            "cost": draw.integers(0, 11, size),
            "clinic": draw.choice([f"clinic {number}" for number in range(3)], size),
        }
    )


def table():
    columns = {
        "city": Keys(CITIES),
        "ward": Keys(range(5)),
        "day": Dates(datetime.date(2024, 1, 1), datetime.date(2024, 6, 30)),
        "cost": Bounds(0, 10),
    }
    return Table(frame(), person=EACH_ROW, columns=columns)


def curator(path):
    return Curator({"visits": table()}, budget=Budget(epsilon=10**6, delta=0.01), ledger=path / "ledger")


def exact(sql):
    """What DuckDB answers, with the names of its columns."""
    connection = duckdb.connect()
    connection.register("visits", frame())
    found = connection.sql(sql)
    return found.columns, found.fetchall()


def answered(release, names):
    """The rows of an answer, in the columns of those names; those without a name of their own by position."""
    table = {**release.keys, **{one.name: one.values.tolist() for one in release.outputs}}
    return list(zip(*(table[name] for name in names), strict=True))


def check_same(sql, release, *, ordered=True):
    """Compare an answer with the exact one; groups without rows, which DuckDB does not show, are left out."""
    names, expected = exact(sql)
    found = answered(release, names)
    if not ordered:
        expected = sorted(expected, key=str)
        found = sorted(found, key=str)
    assert len(found) == len(expected), (found, expected)
    for one, other in zip(found, expected, strict=True):
        for name, value, true in zip(names, one, other, strict=True):
            assert agrees(value, true), (name, one, other)


def agrees(value, true):
    if true is None or value is None or (isinstance(value, float) and np.isnan(value)):
        return true is None and (value is None or bool(np.isnan(value)))
    if isinstance(true, int | float) and not isinstance(true, bool):
        return value == true if isinstance(value, int) else abs(value - float(true)) < NOISE
    return value == true
