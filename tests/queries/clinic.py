"""A small clinic: declared tables for the tests of queries."""

from __future__ import annotations

import datetime

import pyarrow

from canary import DATA_NUMBER, DATA_TEXT
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table

CITIES = ["Taipei", "Hamilton", "Oslo"]

SCHEMA = pyarrow.schema(
    [
        ("patient", pyarrow.int64()),
        ("city", pyarrow.string()),
        ("ward", pyarrow.int64()),
        ("age", pyarrow.int64()),
        ("cost", pyarrow.float64()),
        ("balance", pyarrow.int64()),
        ("urgent", pyarrow.bool_()),
        ("day", pyarrow.date32()),
        ("seen", pyarrow.timestamp("us")),
        ("moment", pyarrow.timestamp("us", "UTC")),
        ("note", pyarrow.string()),
        ("Mixed Case", pyarrow.int64()),
        ("tags", pyarrow.list_(pyarrow.string())),
    ]
)
COLUMNS = {
    "city": Keys(CITIES),
    "ward": Keys([1, 2, 3, None]),
    "age": Bounds(0, 110),
    "cost": Bounds(0, 5000, step=0.01),
    "balance": Bounds(-500, 500),
    "urgent": Keys([True, False]),
}


def arrow(rows=()):
    return pyarrow.Table.from_pylist(list(rows), schema=SCHEMA)


def visits(rows=(), *, limits=None, columns=COLUMNS, version="1"):
    """A table of visits; without limits each row is a person."""
    person = {"person": EACH_ROW} if limits is None else {"person": "patient", "limits": limits}
    return Table(arrow(rows), columns=columns, version=version, **person)


def row(**values):
    """A row with every column, NULL if nothing is said."""
    return {name: values.get(name) for name in SCHEMA.names}


EXAMPLE = [
    row(
        patient=1,
        city="Taipei",
        ward=1,
        age=30,
        cost=10.5,
        balance=-3,
        urgent=True,
        day=datetime.date(2026, 1, 31),
        note=DATA_TEXT,
    ),
    row(patient=2, city="Oslo", ward=None, age=41, cost=None, balance=7, urgent=False),
    row(patient=3, city=DATA_TEXT, ward=DATA_NUMBER, age=DATA_NUMBER, cost=DATA_NUMBER, note=DATA_TEXT),
]
"""Visits, some of them with canaries."""

TABLES = {
    "visits": visits(EXAMPLE, limits=Limits(rows=3)),
    "staff": visits([], limits=Limits(groups=2, rows_per_group=4)),
}
