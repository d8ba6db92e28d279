"""Columns of Python objects take the declared type, and each object counts by itself."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal

import numpy as np
import pandas
import pytest

from discreet.data import Bounds, Dates, Keys, Limits, Table, Type
from discreet.data.reading.object_forms import of_objects

DAY = datetime.date(2026, 1, 31)
NOON = datetime.datetime(2026, 1, 31, 12)


class Hostile:
    """An object whose methods all fail."""

    def __eq__(self, other):
        raise RuntimeError("private")

    __hash__ = None

    def __str__(self):
        raise RuntimeError("private")


OBJECTS = [
    "a",
    "\ud800",
    7,
    np.int64(8),
    2**70,
    1.5,
    np.float32(2.5),
    float("nan"),
    Decimal("3.5"),
    Decimal("NaN"),
    10**400,
    True,
    np.bool_(False),
    DAY,
    NOON,
    NOON.replace(tzinfo=datetime.UTC),
    pandas.Timestamp(NOON),
    pandas.NaT,
    pandas.NA,
    None,
    b"a",
    [1],
    np.array([1, 2]),
    uuid.UUID(int=5),
    Hostile(),
    1j,
]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Type.TEXT, ["a", "7", "8", str(2**70), str(10**400), "2026-01-31", str(uuid.UUID(int=5))]),
        (Type.INTEGER, [7, 8]),
        (Type.FLOAT, [7.0, 8.0, 2.0**70, 1.5, 2.5, 3.5, float("inf")]),
        (Type.BOOLEAN, [True, False]),
        (Type.DATE, [DAY, DAY, DAY, DAY]),
        (Type.TIMESTAMP, [NOON, NOON]),
        (Type.INSTANT, [NOON.replace(tzinfo=datetime.UTC)]),
    ],
)
def test_what_is_of_the_type_stays_and_the_rest_is_missing(kind, expected):
    found = of_objects(OBJECTS, kind).to_pylist()
    assert len(found) == len(OBJECTS)
    assert [value for value in found if value is not None] == expected


DECLARED = {
    "age": Bounds(0, 110),
    "cost": Bounds(0, 9, step=0.5),
    "city": Keys(["Oslo"]),
    "day": Dates(DAY, DAY),
    "ok": Type.BOOLEAN,
}


def opened(more: list[object]) -> Table:
    rows = [["p", 40, 2.5, "Oslo", DAY, True, "x"], [9, 41, 3, "Rome", DAY, False, "y"]]
    frame = pandas.DataFrame(
        [*rows, *([value] * 7 for value in more)],
        columns=["id", "age", "cost", "city", "day", "ok", "note"],
        dtype=object,
    )
    return Table(frame, person="id", limits=Limits(rows=1), columns=DECLARED)


@pytest.mark.few(8)
@pytest.mark.parametrize("index", range(len(OBJECTS)))
def test_an_object_changes_neither_types_nor_the_values_of_others(index):
    alone, beside = opened([]), opened([OBJECTS[index]])
    assert alone.schema == beside.schema
    assert beside._rows().to_pylist()[:2] == alone._rows().to_pylist()


def test_categories_of_objects_and_texts_of_python():
    frame = pandas.DataFrame(
        {
            "id": pandas.Series(["a", 3, "b"], dtype=object).astype("category"),
            "t": pandas.Series(["x", None, "\ud800"], dtype=object).astype(pandas.StringDtype("python")),
        }
    )
    table = Table(frame, person="id", limits=Limits(rows=1))
    rows = sorted(table._rows().to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": "3", "t": None}, {"id": "a", "t": "x"}, {"id": "b", "t": None}]
