"""Public rows of a plan as a public table, and back."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING

from discreet.data.language.expressions import literal
from discreet.data.language.public_rows import LARGEST_PUBLIC_ROWS, PublicColumn, PublicRows
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UnsupportedQuery

if TYPE_CHECKING:
    import pyarrow

__all__ = ["arrow_type", "rows_of_table", "table_of_rows"]


@lru_cache(maxsize=64)
def table_of_rows(rows: PublicRows) -> PublicTable:
    """Return a public table of the rows that a plan holds, or refuse values that are not of their types."""
    import pyarrow

    columns = {}
    try:
        for place, column in enumerate(rows.columns):
            values = [_plain(row[place].value, column.type) for row in rows.rows]
            columns[column.name] = pyarrow.array(values, type=arrow_type(column.type))
        return PublicTable(pyarrow.table(columns))
    except (pyarrow.ArrowException, KeyError, OverflowError, TypeError):
        pass
    raise UnsupportedQuery("a plan holds public rows whose values are not of their types; build it anew")


def rows_of_table(table: PublicTable) -> PublicRows:
    """Return the content of a public table as rows of a plan, sorted; no more than a plan may hold."""
    arrow = table._rows()
    if arrow.num_rows > LARGEST_PUBLIC_ROWS:
        raise UnsupportedQuery(
            f"a subquery on public tables gives more than {LARGEST_PUBLIC_ROWS} rows; narrow it with WHERE, "
            "or join the public tables themselves"
        )
    listed = [tuple(row.values()) for row in arrow.to_pylist()]
    if any(isinstance(value, float) and not isfinite(value) for row in listed for value in row):
        raise UnsupportedQuery("a subquery on public tables gives NaN or infinity; leave them out with WHERE")
    listed.sort(key=lambda row: [(value is None, str(type(value)), str(value)) for value in row])
    return PublicRows(
        columns=tuple(PublicColumn(name=name, type=kind) for name, kind in table.schema.items()),
        rows=tuple(tuple(literal(value) for value in row) for row in listed),
    )


def _plain(value: object, kind: Type) -> object:
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and kind is Type.FLOAT:
        return float(value)
    return value


def arrow_type(kind: Type) -> pyarrow.DataType:
    """Return the type of Arrow that holds values of a type."""
    import pyarrow

    return {
        Type.INTEGER: pyarrow.int64(),
        Type.FLOAT: pyarrow.float64(),
        Type.BOOLEAN: pyarrow.bool_(),
        Type.DATE: pyarrow.date32(),
        Type.TIMESTAMP: pyarrow.timestamp("us"),
        Type.INSTANT: pyarrow.timestamp("us", "UTC"),
        Type.TEXT: pyarrow.string(),
    }[kind]
