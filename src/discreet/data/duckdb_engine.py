"""The embedded engine: DuckDB, closed to the world once the rows are in it.

Each table gets a database of its own in memory. After loading, the database can read no file (but the
Parquet file it was opened on), load no extension, and its settings are locked. Frames and
CSV files are copied in, so that later changes to them are not seen; a Parquet file is read where it lies.
"""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import duckdb
import ibis
import ibis.expr.datatypes as dt
import pyarrow
from ibis.backends.duckdb.converter import DuckDBPyArrowData
from ibis.expr.types import Table

from discreet.data.engine import guarded
from discreet.data.schema import Type
from discreet.errors import ParameterError

__all__ = ["check_names", "fetched", "from_csv", "from_frame", "from_parquet", "kept", "normalized"]

_NAME = "rows"
_MOST_DIGITS = 38
_own: weakref.WeakSet[ibis.BaseBackend] = weakref.WeakSet()
"""The connections that were made here."""
_OF_MEANING = (
    "Calendar",
    "TimeZone",
    "active_grammar_extensions",
    "allow_parser_override_extension",
    "current_dialect",
    "default_collation",
    "default_null_order",
    "default_order",
    "dialect_compatibility_mode",
    "disable_timestamptz_casts",
    "error_on_division_by_zero",
    "ieee_floating_point_ops",
    "integer_division",
    "legacy_disable_null_type",
    "old_implicit_casting",
    "order_by_non_integer_literal",
    "preserve_identifier_case",
    "regex_match_operator_semantics",
    "scalar_subquery_error_on_multiple_rows",
)
"""The settings that change what a statement means. A version of DuckDB need not have all of them."""
_TYPES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.INSTANT: "TIMESTAMPTZ",
}
_ARROW_TYPES = {
    Type.BOOLEAN: pyarrow.bool_(),
    Type.INTEGER: pyarrow.int64(),
    Type.FLOAT: pyarrow.float64(),
    Type.TEXT: pyarrow.string(),
    Type.DATE: pyarrow.date32(),
    Type.TIMESTAMP: pyarrow.timestamp("us"),
    Type.INSTANT: pyarrow.timestamp("us", "UTC"),
}


def from_parquet(path: Path) -> Table:
    """Open a Parquet file where it lies. Its columns have the types that the file states."""
    connection = _connect()
    place = _named(connection, path)
    table = guarded(
        lambda: connection.read_parquet(place, table_name=_NAME, hive_partitioning=False), _unreadable
    )
    _close_off(connection, place)
    check_names(table.columns)
    return table


def from_csv(path: Path, types: Mapping[str, Type]) -> Table:
    """Load a CSV file: commas, double quotes, UTF-8, the names in the first line.

    The types of columns are the ones declared, never guessed from the data: a value that does not
    convert is NULL, and a column without a declared type is text.
    """
    connection = _connect()
    place = _named(connection, path)
    names = guarded(lambda: _header(place), _unreadable)
    check_names(names)
    layout = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in names)
    columns = ", ".join(
        f"TRY_CAST({_identifier(name)} AS {_TYPES[types.get(name, Type.TEXT)]}) AS {_identifier(name)}"
        for name in names
    )
    reader = (
        f"read_csv({_quoted(place)}, auto_detect = false, header = true, delim = ',', quote = '\"', "
        f"escape = '\"', columns = {{{layout}}})"
    )
    # As text first: the reader would take over conversions, and fail where TRY_CAST gives NULL.
    for statement in (
        f"CREATE TABLE text AS SELECT * FROM {reader}",  # noqa: S608
        f"CREATE TABLE {_NAME} AS SELECT {columns} FROM text",  # noqa: S608
        "DROP TABLE text",
    ):
        guarded(partial(connection.raw_sql, statement), _unreadable)
    _close_off(connection)
    return guarded(lambda: connection.table(_NAME), _unreadable)


def from_frame(frame: object, types: Mapping[str, Type]) -> Table:
    """Copy in a frame of pandas, Polars, Arrow or anything else that exports Arrow streams.

    A column of no type (every value missing) takes the one declared. In pandas NaN means
    missing, so it arrives as NULL.
    """
    arrow = guarded(lambda: _plain(_to_arrow(frame), types), _unreadable)
    check_names(arrow.column_names)
    connection = _connect()
    table = guarded(lambda: connection.create_table(_NAME, arrow), _unreadable)
    _close_off(connection)
    return table


def normalized(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return a table in which identifiers are text and points in time are whole microseconds.

    A point in time beyond the range of microseconds becomes NULL, and so does an integer of 128 bits that 38
    digits do not hold. Text of a connection that is not ours may
    have a collation, under which different texts are equal; by way of bytes it loses it.
    """
    foreign = backend not in _own
    if foreign:
        _check_settings(backend)
    changed = {}
    for name, kind in table.schema().items():
        if kind.is_string() and foreign:
            changed[name] = _decoded(_encoded(table[name]))
        elif kind.is_uuid():
            changed[name] = table[name].cast("string")
        elif kind.is_decimal() and kind.precision == _MOST_DIGITS and kind.scale == 0:
            # By way of text, since Ibis takes an integer of 128 bits for such a decimal already.
            changed[name] = table[name].cast("string").try_cast(kind)
        elif kind.is_timestamp() and kind.scale not in {None, 6}:
            changed[name] = table[name].try_cast(dt.Timestamp(timezone=kind.timezone, scale=6))
    return table.mutate(**changed) if changed else table


@ibis.udf.scalar.builtin(name="encode")  # type: ignore[untyped-decorator]
def _encoded(text: str) -> bytes:  # type: ignore[empty-body]
    """Return the bytes of a text."""


@ibis.udf.scalar.builtin(name="decode")  # type: ignore[untyped-decorator]
def _decoded(content: bytes) -> str:  # type: ignore[empty-body]
    """Return the text of some bytes."""


def _check_settings(backend: ibis.BaseBackend) -> None:
    """Refuse a connection that is set to give statements another meaning than a fresh one does.

    Its settings belong to whoever opened it, and may be locked, so that they are not changed here.
    """
    found, usual = _settings(backend.con), _usual_settings()
    changed = sorted(name for name in found if found[name] != usual.get(name, found[name]))
    if changed:
        raise ParameterError(
            "source",
            f"is a table of a connection that sets {', '.join(changed)}",
            "a connection that leaves this setting as it is",
        )


@cache
def _usual_settings() -> dict[str, object]:
    with closing(ibis.duckdb.connect().con) as connection:
        return _settings(connection)


def _settings(connection: duckdb.DuckDBPyConnection) -> dict[str, object]:
    rows = connection.execute(
        "SELECT name, value FROM duckdb_settings() WHERE list_contains(?, name)", [list(_OF_MEANING)]
    ).fetchall()
    return {name: "" if value in {None, "binary"} else value for name, value in rows}


def fetched(table: Table, statement: str, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Run a statement and take its rows as Arrow."""
    if backend not in _own:
        _check_settings(backend)
    backend._run_pre_execute_hooks(table)
    found = backend.con.sql(statement).to_arrow_table()
    return table.__pyarrow_result__(found, data_mapper=DuckDBPyArrowData)


def kept(name: str, table: Table, statement: str, backend: ibis.BaseBackend) -> None:
    """Keep what a statement computes in a temporary table."""
    backend._run_pre_execute_hooks(table)
    backend.con.execute(f"CREATE TEMPORARY TABLE {_identifier(name)} AS {statement}")


def check_names(names: object) -> None:
    """Refuse names of columns that are missing, repeated, or differ only in upper and lower case."""
    listed = list(names)  # type: ignore[call-overload]
    if not listed or not all(isinstance(name, str) and name and "\0" not in name for name in listed):
        raise ParameterError("source", "has a column without a name", "a name for every column")
    if len({name.lower() for name in listed}) != len(listed):
        raise ParameterError(
            "source", "has two columns of one name, or that differ only in case", "distinct names"
        )


def _connect() -> ibis.BaseBackend:
    spill = tempfile.mkdtemp(prefix="discreet-")
    connection = ibis.duckdb.connect(temp_directory=spill)
    weakref.finalize(connection, _remove, spill, os.getpid())
    _own.add(connection)
    return connection


def _remove(spill: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not take its parent's space away
        shutil.rmtree(spill, ignore_errors=True)


def _close_off(connection: ibis.BaseBackend, readable: str | None = None) -> None:
    allowed = "" if readable is None else _quoted(readable)
    for setting in (
        f"allowed_paths = [{allowed}]",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.raw_sql(f"SET {setting}")


def _named(connection: ibis.BaseBackend, path: Path) -> str:
    """Return a name under which DuckDB reads one file, that which a path names.

    In a path it would read patterns (``*``, ``?``, ``[…]``) and columns (``year=2026/``), so that it is given
    a link that has none of them.
    """
    place = os.path.abspath(path)
    if not os.path.isfile(place):
        raise ParameterError("source", "is no file", "the path of a Parquet or CSV file")
    directory = tempfile.mkdtemp(prefix="discreet-")
    weakref.finalize(connection, _remove, directory, os.getpid())
    link = os.path.join(directory, f"rows{path.suffix.lower()}")
    guarded(lambda: os.symlink(place, link), _unreadable)
    return link


def _header(place: str) -> list[str]:
    with open(place, encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, strict=True))


def _to_arrow(frame: object) -> pyarrow.Table:
    library = type(frame).__module__.split(".")[0]
    if library == "pandas":
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    return pyarrow.table(frame)


def _plain(table: pyarrow.Table, types: Mapping[str, Type]) -> pyarrow.Table:
    """Spell out dictionaries, whose values would become part of the schema, and settle unknown types."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pyarrow.types.is_dictionary(column.type):
            kind = column.type.value_type
            kind = pyarrow.large_string() if pyarrow.types.is_string_view(kind) else kind
            chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
            column = pyarrow.chunked_array(chunks, kind)
        if pyarrow.types.is_null(column.type):
            column = column.cast(_ARROW_TYPES[types.get(name, Type.TEXT)])
        table = table.set_column(place, name, column)
    return table.replace_schema_metadata(None)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreadable() -> ParameterError:
    return ParameterError("source", "could not be read", "a Parquet or CSV file, a frame, or an Ibis table")
