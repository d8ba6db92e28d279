"""Parquet files in DuckDB: read in place if every value can be read, else copied value by value.

DuckDB fails on text that is not UTF-8, on times that do not fit microseconds, and on a time of day beyond
midnight. Before the first statement over a file all values of such types are therefore read once. If
DuckDB fails, the rows are copied in through Arrow instead, where these values become NULL and all others stay
unchanged: the table is the same function of the file either way.

The file also says what its least and largest values are, and some writers leave NaN out of that. Nothing is
concluded from it: the steps of the optimizer that do so are off.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import ibis
import pyarrow
from pyarrow import types

__all__ = ["TRUSTS_FILES", "settle_file", "settle_later"]

TRUSTS_FILES = ("filter_pushdown", "join_filter_pushdown", "row_group_pruner")
"""Steps of DuckDB's optimizer that leave out parts of a file by what it says of itself."""

_SAFE = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
    | {"HUGEINT", "FLOAT", "DOUBLE", "DATE", "DECIMAL"}
)
"""Types of which DuckDB reads every value."""
_BATCH = 1 << 14
_SOURCE, _COPY = "discreet_source", "discreet_copy"

_unsettled: WeakKeyDictionary[ibis.BaseBackend, tuple[str, str]] = WeakKeyDictionary()
"""By connection: the file and the name of the view on it, until its values were read once."""


def settle_later(backend: ibis.BaseBackend, place: str, name: str) -> None:
    """Have a file checked before the first statement that reads its view."""
    _unsettled[backend] = place, name


def settle_file(backend: ibis.BaseBackend) -> None:
    """Make sure that no value of the connection's file can make a statement fail."""
    if backend not in _unsettled:
        return
    place, name = _unsettled[backend]
    layout = {column: kind for column, kind, *_ in backend.con.execute(f'DESCRIBE "{name}"').fetchall()}
    doubtful = [column for column, kind in layout.items() if kind.partition("(")[0] not in _SAFE]
    if doubtful and not _reads(backend, name, doubtful):
        _copy(backend, place, name, layout)
    del _unsettled[backend]


def _reads(backend: ibis.BaseBackend, name: str, columns: list[str]) -> bool:
    listed = ", ".join(map(_identifier, columns))
    try:
        backend.con.execute(f'SELECT bit_xor(hash({listed})) FROM "{name}"').fetchall()  # noqa: S608
    except Exception:  # its words may hold a value
        return False
    return True


def _copy(backend: ibis.BaseBackend, place: str, name: str, layout: dict[str, str]) -> None:
    """Put a table of the file's values in place of the view."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(place) as file:
        batches = _normal_batches(file, layout)
        first = next(batches)
        reader = pyarrow.RecordBatchReader.from_batches(
            first.schema, (batch for part in ([first], batches) for batch in part)
        )
        backend.con.register(_SOURCE, reader)
        columns = ", ".join(
            f"TRY_CAST({_identifier(column)} AS {kind}) AS {_identifier(column)}"
            if types_agree
            else _identifier(column)
            for (column, kind), types_agree in zip(
                layout.items(), (not types.is_binary(one.type) for one in first.schema), strict=True
            )
        )
        backend.con.execute(f"CREATE OR REPLACE TABLE {_COPY} AS SELECT {columns} FROM {_SOURCE}")  # noqa: S608
        backend.con.unregister(_SOURCE)
    backend.con.execute(f'DROP VIEW "{name}"')
    backend.con.execute(f'ALTER TABLE {_COPY} RENAME TO "{name}"')


def _normal_batches(
    file: pyarrow.parquet.ParquetFile, layout: dict[str, str]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows in normal form, a file that DuckDB stops at has some; its texts are texts here, too."""
    from discreet.data.reading.arrow_forms import normal, text_form

    for batch in file.iter_batches(_BATCH):
        table = pyarrow.Table.from_batches([batch])
        for place, kind in enumerate(layout.values()):
            column = table.column(place)
            if kind == "VARCHAR" and types.is_binary(column.type):
                table = table.set_column(place, table.field(place).name, text_form(column))
        yield from normal(table, {}).combine_chunks().to_batches()


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
