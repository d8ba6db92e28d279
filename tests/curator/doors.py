"""Doors for tests: a small clinic, quick ledgers, a clock that tests set."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from unittest import mock

import numpy as np
import pyarrow

from canary import BY_CITY as BY_CITY  # noqa: PLC0414
from canary import COUNT as COUNT  # noqa: PLC0414
from canary import DATA_NUMBER, DATA_TEXT
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.data import Bounds, Exact, Keys, Limits, Table, sensitivity
from discreet.front import Curator

CITIES = ("Taipei", "Hamilton", "Oslo")
SCHEMA = pyarrow.schema(
    [
        ("patient", pyarrow.int64()),
        ("household", pyarrow.int64()),
        ("city", pyarrow.string()),
        ("age", pyarrow.int64()),
        ("cost", pyarrow.float64()),
        ("note", pyarrow.string()),
    ]
)
COLUMNS = {"city": Keys(CITIES), "age": Bounds(0, 110), "cost": Bounds(0, 5000, step=0.01)}
ROWS = [
    {
        "patient": n % 20,
        "household": n % 7,
        "city": CITIES[n % 3],
        "age": n % 90 if n else DATA_NUMBER,
        "cost": 12.5 * n if n > 1 else float(DATA_NUMBER),
        "note": DATA_TEXT,
    }
    for n in range(60)
]
"""Visits with canaries: a note of which nothing is declared, and numbers out of their bounds."""
LIMITS = Limits(rows=3)


def visits(rows=ROWS, *, person="patient", limits=LIMITS, columns=COLUMNS, version="1"):
    """A table of visits."""
    frame = pyarrow.Table.from_pylist(list(rows), schema=SCHEMA)
    return Table(frame, person=person, limits=limits, columns=columns, version=version)


@cache
def usual_visits(version="1"):
    """The table that most tests share; it is never changed."""
    return visits(version=version)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, *moment):
        self.set(*(moment or (2026, 3, 5)))

    def set(self, *moment):
        self.moment = datetime(*moment, tzinfo=UTC)

    def __call__(self):
        return self.moment


def clinic(place, *, budget=None, tables=None, name="clinic.ledger", **options):
    """A curator over the usual visits, with a ledger in a directory."""
    return Curator(
        tables or {"visits": usual_visits()},
        budget=budget or Budget(epsilon=10),
        ledger=place if hasattr(place, "transaction") else place / name,
        **options,
    )


def entries(curator, kind=None):
    return [entry for entry in curator.ledger.entries() if kind in (None, entry.kind)]


def stubbed(plan, tables, *, salt):
    """Statistics of nobody, without an engine."""
    statistics = sensitivity(plan, tables)
    zeros = np.zeros(plan.cells, np.int64)
    return Exact(statistics=statistics, values=(zeros,) * len(plan.measures))


@contextmanager
def computing(function=stubbed):
    """Replace what the door computes with."""
    with mock.patch.object(door_module, "compute", function):
        yield
