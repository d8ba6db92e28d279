"""Small tables full of NULLs and equal values, and the exact answers of two engines about them."""

from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow

from discreet.data import Bounds, Dates, Keys, Limits, Table, compute, fresh_salt
from discreet.data.language.measures import CountRows
from discreet.data.language.plan import Group
from discreet.data.tables.public_table import PublicTable
from discreet.queries import bind, parse

DAYS = [datetime.date(2024, 1, 30), datetime.date(2024, 2, 29), datetime.date(2024, 12, 31), None]
VISITS = pyarrow.schema(
    [
        ("patient", pyarrow.int64()),
        ("city", pyarrow.string()),
        ("ward", pyarrow.int64()),
        ("cost", pyarrow.float64()),
        ("day", pyarrow.date32()),
        ("urgent", pyarrow.bool_()),
    ]
)
STAFF = pyarrow.schema([("patient", pyarrow.int64()), ("ward", pyarrow.int64()), ("day", pyarrow.date32())])
CITIES = pyarrow.table({"name": ["Oslo", "Rome", "Rome", None], "ward": [1, 2, 3, 1]})
_VALUES = {
    "city": ["Oslo", "Rome", "Bern", None],
    "ward": [1, 2, 3, None],
    "cost": [0.0, 1.5, 7.25, 7.25, None],
    "day": DAYS,
    "urgent": [True, False, None],
}
_COLUMNS = {
    "city": Keys(["Oslo", "Rome", "Bern", None]),
    "ward": Bounds(0, 6),
    "cost": Bounds(0, 8, step=0.25),
    "day": Dates(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)),
}


def frames(seed: int, rows: int = 40) -> dict[str, pyarrow.Table]:
    """Rows of a dozen persons at random."""
    draw = random.Random(seed)
    found = {"cities": CITIES}
    for name, schema, size in (("visits", VISITS, rows), ("staff", STAFF, rows // 3)):
        listed = [
            {
                one: draw.randrange(12) if one == "patient" else draw.choice(_VALUES[one])
                for one in schema.names
            }
            for _ in range(size)
        ]
        found[name] = pyarrow.Table.from_pylist(listed, schema=schema)
    return found


def declared(found: dict[str, pyarrow.Table], limits: Limits | None = None) -> dict[str, Table | PublicTable]:
    """Those rows as declared tables, with limits that cut nothing."""
    return {
        name: PublicTable(frame)
        if name == "cities"
        else Table(
            frame,
            person="patient",
            limits=limits or Limits(rows=50),
            columns={one: kind for one, kind in _COLUMNS.items() if one in frame.column_names},
        )
        for name, frame in found.items()
    }


def counted(text: str, tables: dict) -> int:
    """How many rows a question aggregates, as the plan counts them."""
    plan = Group(source=parse(text, tables).relation, measures=(CountRows(),))
    return int(compute(plan, tables, salt=fresh_salt()).values[0][0])


def measured(text: str, tables: dict) -> list[list[int]]:
    """The exact statistics of a question, in the order of its measures."""
    plan = bind(parse(text, tables), tables).plan
    return [one.tolist() for one in compute(plan, tables, salt=fresh_salt()).values]


def by_duckdb(text: str, found: dict[str, pyarrow.Table]) -> list[tuple]:
    """The answer of DuckDB to the text as it is."""
    with duckdb.connect() as connection:
        for name, frame in found.items():
            connection.register(name, frame)
        return connection.execute(text).fetchall()
