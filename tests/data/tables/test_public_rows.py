"""Public rows of a plan are the table that they were taken of."""

from __future__ import annotations

import datetime

import pyarrow
import pytest

from discreet.data.language.expressions import literal
from discreet.data.language.public_rows import LARGEST_PUBLIC_ROWS, PublicColumn, PublicRows
from discreet.data.language.types import Type
from discreet.data.tables.public_rows import rows_of_table, table_of_rows
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery

MOMENT = datetime.datetime(2026, 1, 31, 12, 0, 0, 5)
FRAME = pyarrow.table(
    {
        "a": [3, None, -(2**63)],
        "b": [0.1, 5e-324, None],
        "c": [True, None, False],
        "d": [datetime.date(2026, 1, 31), None, datetime.date(1, 1, 1)],
        "e": [MOMENT, None, MOMENT],
        "f": [None, "ö'", ""],
        "g": pyarrow.array([MOMENT, None, MOMENT], type=pyarrow.timestamp("us", "UTC")),
    }
)


def test_rows_go_there_and_back():
    table = PublicTable(FRAME)
    again = table_of_rows(rows_of_table(table))
    assert again.schema == table.schema
    assert sorted(map(str, again._rows().to_pylist())) == sorted(map(str, table._rows().to_pylist()))
    assert rows_of_table(again) == rows_of_table(table)


def test_rows_without_any_value_keep_their_types():
    table = PublicTable(pyarrow.table({"a": pyarrow.array([], type=pyarrow.float64())}))
    assert table_of_rows(rows_of_table(table)).schema == {"a": Type.FLOAT}


def test_what_a_plan_cannot_hold_is_refused():
    with pytest.raises(UnsupportedQuery, match="NaN"):
        rows_of_table(PublicTable(pyarrow.table({"a": [float("inf")]})))
    with pytest.raises(UnsupportedQuery, match="more than 5000 rows"):
        rows_of_table(PublicTable(pyarrow.table({"a": list(range(LARGEST_PUBLIC_ROWS + 1))})))
    column = PublicColumn(name="a", type=Type.INTEGER)
    with pytest.raises(UnsupportedQuery, match="not of their types"):
        table_of_rows(PublicRows(columns=(column,), rows=((literal("canary"),),)))
    for rows in (((literal(1), literal(2)),), (literal(1),)):
        with pytest.raises(UnsupportedQuery, match="wrong type"):
            PublicRows(columns=(column,), rows=rows)
    with pytest.raises(UnsupportedQuery, match="wrong type"):
        PublicRows(columns=(column, column), rows=())
