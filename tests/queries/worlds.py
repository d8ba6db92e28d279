"""Neighboring worlds: all tables of a small clinic, without and with one person of the worst rows.

Two tables say whose rows are whose and two have a person in each row; three are public, one of them with
repeated names. The stranger is added to every table at once; where each row is a person, to one of them.
"""

from __future__ import annotations

import datetime
import math
import random
import warnings
from dataclasses import dataclass
from decimal import Decimal

import ibis
import pyarrow

from canary import DATA_NUMBER, DATA_TEXT
from discreet.data import EACH_ROW, Bounds, Dates, Keys, Limits, Table
from discreet.data.tables.public_table import PublicTable

STRANGER = 77

_COLUMNS = [
    ("city", pyarrow.string()),
    ("ward", pyarrow.int64()),
    ("age", pyarrow.int64()),
    ("cost", pyarrow.float64()),
    ("balance", pyarrow.decimal128(12, 2)),
    ("urgent", pyarrow.bool_()),
    ("day", pyarrow.date32()),
    ("seen", pyarrow.timestamp("us")),
    ("note", pyarrow.string()),
]
SCHEMAS = {
    "visits": pyarrow.schema([("patient", pyarrow.int64()), *_COLUMNS, ("small", pyarrow.uint64())]),
    "staff": pyarrow.schema([("patient", pyarrow.int32()), *_COLUMNS[:4], ("hired", pyarrow.date32())]),
    "crowd": pyarrow.schema(_COLUMNS),
    "guests": pyarrow.schema(_COLUMNS),
}
DECLARED = {
    "city": Keys(["Taipei", "Oslo", "", None]),
    "ward": Bounds(0, 6),
    "age": Bounds(-10, 110),
    "cost": Bounds(-5, 20, step=0.5),
    "balance": Bounds(-100, 100, step=0.25, null=1),
    "day": Dates(datetime.date(2026, 1, 1), datetime.date(2026, 3, 31)),
}
CITIES = pyarrow.table(
    {
        "name": ["Taipei", "Oslo", "Oslo", "Rome", None, ""],
        "region": ["Asia", "Europe", "North", "Europe", "Nowhere", None],
        "people": [2.6e6, 709e3, 1.0, math.nan, 0.0, None],
    }
)
WARDS = pyarrow.table({"ward": [1, 2, 3, None, 2**62], "floor": [1, 1, 2, 3, -4], "name": list("abcde")})
HOLIDAYS = pyarrow.table(
    {"day": [datetime.date(2026, 1, 31)] * 3 + [datetime.date(2026, 2, 1)], "holiday": ["a", "b", "c", "d"]}
)
PUBLIC = {"cities": PublicTable(CITIES), "wards": PublicTable(WARDS), "holidays": PublicTable(HOLIDAYS)}

_PLAIN = {
    "city": ["Taipei", "Taipei", "Oslo", "Oslo", "Rome", "", None],
    "ward": [0, 1, 1, 2, 3, 6, None],
    "age": [0, 17, 18, 30, 64, 110, None],
    "cost": [0.0, 1.5, 2.25, 19.5, -5.0, None],
    "balance": [Decimal("0.00"), Decimal("1.25"), Decimal("-99.75"), None],
    "urgent": [True, False, None],
    "day": [datetime.date(2026, 1, 31), datetime.date(2026, 2, 1), datetime.date(2026, 3, 31), None],
    "seen": [datetime.datetime(2026, 1, 31, 12, 30), datetime.datetime(2026, 2, 1), None],
    "note": ["x", "y", "2026-01-31", "17", "", None],
    "small": [0, 1, 7, None],
    "hired": [datetime.date(2026, 1, 31), datetime.date(2001, 2, 3), None],
}
_NASTY = {
    "city": [
        "Taipei",
        "Oslo",
        "",
        None,
        "Rome",
        "oslo",
        "Oslo ",
        "'; DROP TABLE visits; --",
        DATA_TEXT,
        "ß\u202e",
    ],
    "ward": [0, 1, 6, 7, -1, 2**63 - 1, -(2**63), 2**53 + 1, DATA_NUMBER, None],
    "age": [0, 110, 111, -10, 2**63 - 1, -(2**63), -1, 1, DATA_NUMBER, None],
    "cost": [20.0, -5.0, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.8e308, 2.0**63, 0.25, 1e-160, None],
    "balance": [Decimal("9999999999.99"), Decimal("-9999999999.99"), Decimal("0.01"), Decimal(0), None],
    "urgent": [True, False, None],
    "day": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2026, 1, 31), None],
    "seen": [datetime.datetime.min, datetime.datetime.max, datetime.datetime(2026, 1, 31), None],
    "note": ["", " ", "nan", "1e999", "9" * 40, "-0", "2026-02-30", "0000-00-00", "2026-01-31", "%_\\", None],
    "small": [0, 2**64 - 1, 2**63, None],
    "hired": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2026, 1, 31), None],
}
_NASTY["note"] += ["x" * 5000, "\U0001f600" * 40, "e\u0301", DATA_TEXT, "- 5", "+7", "1_000", "0x10", "\t3\n"]

LIMITS = (
    (Limits(rows=2), Limits(groups=1, rows_per_group=2)),
    (Limits(groups=2, rows_per_group=2), Limits(rows=3)),
    (Limits(rows=1), Limits(rows=1)),
    (Limits(groups=3, rows_per_group=1), Limits(groups=2, rows_per_group=5)),
)


def row(chooser: random.Random, table: str, values: dict[str, list[object]], person: int | None) -> dict:
    """One row of a table, of values from lists; `person` where it has one."""
    return {
        name: person if name == "patient" else chooser.choice(values[name]) for name in SCHEMAS[table].names
    }


@dataclass(frozen=True)
class Worlds:
    """Two worlds that differ in one person."""

    without: dict[str, Table | PublicTable]
    with_person: dict[str, Table | PublicTable]
    prepared: bool


def worlds(seed: int, *, prepare: bool = False) -> Worlds:
    """Neighboring worlds; the seed decides about everything.

    With `prepare` the visits are bounded in advance, or arranged for it.
    """
    chooser = random.Random(seed)
    limits = dict(zip(("visits", "staff"), LIMITS[seed % len(LIMITS)], strict=True))
    rows: dict[str, list[dict]] = {name: [] for name in SCHEMAS}
    for person in (0, 1, 2, 3, 4, None):
        for name in ("visits", "staff"):
            values = _NASTY if person == 4 else _PLAIN
            rows[name] += [row(chooser, name, values, person) for _ in range(chooser.choice([0, 1, 2, 4, 7]))]
    for name in ("crowd", "guests"):
        rows[name] += [row(chooser, name, chooser.choice([_PLAIN, _NASTY]), None) for _ in range(6)]
    stranger = {name: [] for name in SCHEMAS}
    for name, many in (("visits", 12), ("staff", 9)):
        # Many rows that are alike reach the limits, and those of others show that values are told apart.
        some = row(chooser, name, _PLAIN, STRANGER)
        stranger[name] = [
            some if chooser.random() < 0.4 else row(chooser, name, chooser.choice([_PLAIN, _NASTY]), STRANGER)
            for _ in range(chooser.choice([1, 3, many]))
        ]
    lonely = chooser.choice(["crowd", "guests"])
    stranger[lonely] = [row(chooser, lonely, chooser.choice([_PLAIN, _NASTY]), None)]
    more = {name: [*stranger[name][::2], *rows[name], *stranger[name][1::2]] for name in rows}
    return Worlds(
        without=opened(rows, limits, prepare), with_person=opened(more, limits, prepare), prepared=prepare
    )


def opened(
    rows: dict[str, list[dict]], limits: dict[str, Limits], prepare: bool = False
) -> dict[str, Table | PublicTable]:
    """The tables of some rows, with their declarations, all in one database."""
    connection = ibis.duckdb.connect()
    tables: dict[str, Table | PublicTable] = dict(PUBLIC)
    for name, schema in SCHEMAS.items():
        has_person = "patient" in schema.names
        tables[name] = Table(
            created(connection, name, pyarrow.Table.from_pylist(rows[name], schema=schema)),
            person="patient" if has_person else EACH_ROW,
            limits=limits[name] if has_person else None,
            columns={one: known for one, known in DECLARED.items() if one in schema.names},
            prepare=prepare and name == "visits",
        )
    return tables


def created(
    connection: ibis.BaseBackend, name: str, rows: pyarrow.Table | None = None
) -> ibis.expr.types.Table:
    """A table of a connection, made of rows if there are any."""
    with warnings.catch_warnings():  # Ibis uses a method that newer DuckDBs deprecate
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        return connection.table(name) if rows is None else connection.create_table(name, rows)
