"""Rows for trusted code lie within the declaration on every engine, and a person has few enough of them."""

from __future__ import annotations

import datetime
import math
from collections import Counter

import pyarrow
import pytest

from data.three_engines import embedded
from discreet.data import EACH_ROW, Bounds, Dates, Keys, Limits, Type
from discreet.data.bounding.declared_rows import declared_rows
from discreet.errors import ParameterError

DAY = datetime.date(2026, 3, 5)
HARD = pyarrow.table(
    {
        "who": pyarrow.array([1, 2, 3, 4, 5, None], pyarrow.int64()),
        "age": pyarrow.array([30, -5, 10**18, None, 110, 7], pyarrow.int64()),
        "cost": pyarrow.array([0.26, -1e300, math.inf, math.nan, 99.99, 1.0], pyarrow.float64()),
        "city": pyarrow.array(["Oslo", "oslo", None, "Rome", "", "Oslo"], pyarrow.string()),
        "day": pyarrow.array([DAY, datetime.date(1, 1, 1), None, DAY, DAY, DAY], pyarrow.date32()),
        "note": pyarrow.array(["a", None, "b", "", "c", "d"], pyarrow.string()),
        "secret": pyarrow.array(list("uvwxyz"), pyarrow.string()),
    }
)
COLUMNS = {
    "age": Bounds(0, 110),
    "cost": Bounds(0, 50, step=0.25),
    "city": Keys(["Oslo", "Rome"]),
    "day": Dates(DAY, DAY),
    "note": Type.TEXT,
}
EXPECTED = [
    {"who": 1, "age": 30, "cost": 0.25, "city": "Oslo", "day": DAY, "note": "a"},
    {"who": 2, "age": 0, "cost": 0.0, "city": None, "day": None, "note": None},
    {"who": 3, "age": 110, "cost": 50.0, "city": None, "day": None, "note": "b"},
    {"who": 4, "age": None, "cost": None, "city": "Rome", "day": DAY, "note": ""},
    {"who": 5, "age": 110, "cost": 50.0, "city": None, "day": DAY, "note": "c"},
]


def test_values_are_those_that_were_declared(engine):
    table = engine.table(HARD, person="who", limits=Limits(rows=1), columns=COLUMNS)
    rows = declared_rows(table).to_pylist()
    assert sorted(rows, key=lambda row: row["who"]) == EXPECTED


def test_where_each_row_is_a_person_all_rows_stay(engine):
    table = engine.table(HARD, person=EACH_ROW, columns={"age": Bounds(0, 110)})
    assert Counter(declared_rows(table)["age"].to_pylist()) == {30: 1, 0: 1, 110: 2, None: 1, 7: 1}


@pytest.mark.parametrize("limits", [Limits(rows=3), Limits(groups=3, rows_per_group=1)])
@pytest.mark.parametrize("prepare", [False, True])
def test_nobody_has_more_rows_than_the_limits_say(engine, limits, prepare):
    people = [person for person in range(1, 8) for _ in range(person)]
    arrow = pyarrow.table({"who": people, "age": [7] * len(people)})
    table = engine.table(arrow, person="who", limits=limits, columns={"age": Bounds(0, 110)}, prepare=prepare)
    assert Counter(declared_rows(table)["who"].to_pylist()) == {one: min(one, 3) for one in range(1, 8)}


def test_a_table_without_declared_columns_has_nothing_to_hand_out():
    table = embedded().table(HARD, person=EACH_ROW)
    with pytest.raises(ParameterError, match="no declared column"):
        declared_rows(table)
    persons = embedded().table(HARD, person="who", limits=Limits(rows=1))
    assert declared_rows(persons).column_names == ["who"]
