"""PostgreSQL as an engine: rows stay in the database, and statements run in read-only transactions.

A table is named by the address of its database and a fragment, ``postgresql://host/clinic#visits``, or
comes as a table of an Ibis connection. Its columns are read by rule:

- Text of every kind (char(n), without its padding, citext, enumerations, UUIDs) is compared by code point.
- Decimals of more than 38 digits, or of no stated precision, are doubles; in others NaN is NULL.
- A domain is its base type; other types can only be tested for NULL.

Everything then is in its normal form (`normal_forms`).
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import pyarrow
from ibis.expr.types import Table

from discreet.data.engines.base import Shape, run_guarded
from discreet.data.engines.duckdb import check_names
from discreet.data.engines.stored_columns import count_columns, read_columns
from discreet.data.reading.normal_forms import sql_form
from discreet.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    import psycopg

__all__ = ["fetch", "from_url", "normalized", "present_values", "store_table"]

_BATCH = 65_536
_MOST_DIGITS = 38
_SETTINGS = (
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL transform_null_equals = off",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO'",
)
"""What statements mean, and how their results are spelled, for any settings of the connection."""
_READ_ONLY = "SET TRANSACTION READ ONLY"
_COLUMNS = """
SELECT a.attname,
       CASE WHEN t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace OR t.typname = 'citext' THEN t.typname
            ELSE '' END,
       t.typtype,
       CASE WHEN b.typnamespace = 'pg_catalog'::pg_catalog.regnamespace OR b.typname = 'citext' THEN b.typname
            WHEN b.typnamespace IS NOT NULL THEN '' END,
       b.typtype,
       CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd'
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname = %(name)s AND n.nspname = %(schema)s
ORDER BY a.attnum
"""
_Described: TypeAlias = tuple[str, str, str, str | None, str | None, int]
"""A column: its name, its type and kind of type, the same of the base of a domain, the type's modifier.

Types that are not PostgreSQL's own have no name here: anybody may call an enumeration int8."""
_TEXTS = frozenset({"text", "varchar", "bpchar", "name", "citext", "uuid"})
_PLAIN = {
    "bool": dt.boolean,
    "int2": dt.int16,
    "int4": dt.int32,
    "int8": dt.int64,
    "float4": dt.float32,
    "float8": dt.float64,
}
_MOMENTS = {
    "date": dt.date,
    "timestamp": dt.Timestamp(scale=6),
    "timestamptz": dt.Timestamp(timezone="UTC", scale=6),
}


def from_url(url: str) -> Table:
    """Open a table by the address of its database and a fragment that names it, with its schema if need be.

    Everything before the fragment is for the PostgreSQL library. In the fragment a dot
    ends the name of a schema; a dot within a name is written ``%2E``.
    """
    address, _, fragment = url.partition("#")
    names = [unquote(part) for part in fragment.split(".")]
    if not all(names) or len(names) > 2:
        raise ParameterError(
            "source",
            "does not name a table of the database",
            "postgresql://host/database#table or …#schema.table",
        )
    backend = run_guarded(lambda: _connected(address), _unreachable)
    place = ops.Namespace(database=names[0] if names[1:] else None)
    # The columns are read by `normalized`: Ibis does not know every type.
    return ops.DatabaseTable(names[-1], sch.Schema({}), backend, place).to_expr()


def normalized(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return the columns of a table in the types that all engines share."""
    place, columns = _described(table, backend)
    written = [(column[0], *_read(column)) for column in columns]
    return read_columns(place, written, _quoted, backend)


def present_values(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return how many stored values are not NULL, for each column in order, as one row."""
    place, columns = _described(table, backend)
    return count_columns(place, [column[0] for column in columns], _quoted, backend)


def _described(table: Table, backend: ibis.BaseBackend) -> tuple[str, list[_Described]]:
    """Return where a table is, as SQL names it, and its columns."""
    origin = table.op()
    schema = origin.namespace.database
    if backend.con.info.parameter_status("server_encoding") != "UTF8":
        raise _unreachable()
    schema, columns = run_guarded(lambda: _columns(backend, origin.name, schema), _unknown)
    if not columns:
        raise _unknown()
    check_names([column[0] for column in columns])
    return f"{_quoted(schema)}.{_quoted(origin.name)}", columns


def fetch(shape: Shape, statement: str, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Run a statement in a read-only transaction, and take its rows in batches."""
    schema = _arrow_schema(shape)
    with _prepared(shape, backend) as cursor:
        cursor.execute(_READ_ONLY)
        return pyarrow.Table.from_batches(_batches(cursor.stream(statement), schema), schema)


def store_table(name: str, shape: Shape, statement: str, backend: ibis.BaseBackend) -> None:
    """Keep what a statement computes in a temporary table."""
    with _prepared(shape, backend) as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {_quoted(name)} AS {statement}")
        cursor.execute(f"ANALYZE {_quoted(name)}")


@contextmanager
def _prepared(shape: Shape, backend: ibis.BaseBackend) -> Iterator[psycopg.Cursor]:
    """Begin a transaction with our settings and the lists that a statement needs."""
    connection = backend.con
    with connection.transaction(), _cursor(connection) as cursor:
        for setting in _SETTINGS:
            cursor.execute(setting)
        for listed in shape.listed:
            _copy_in(cursor, listed, backend)
        yield cursor


def _cursor(connection: psycopg.Connection) -> psycopg.Cursor:
    """Return a plain cursor: that of the connection may read placeholders itself, or make dicts of rows."""
    import psycopg
    from psycopg.rows import tuple_row

    return psycopg.Cursor(connection, row_factory=tuple_row)


def _connected(address: str) -> ibis.BaseBackend:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    connection = psycopg.connect(address, autocommit=True)
    backend = ibis.postgres.from_connection(connection)
    weakref.finalize(backend, connection.close)
    return backend


def _columns(backend: ibis.BaseBackend, name: str, schema: str | None) -> tuple[str, list[_Described]]:
    connection = backend.con
    with connection.transaction(), _cursor(connection) as cursor:
        if schema is None:
            found = cursor.execute(
                "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
                "ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)",
                (_quoted(name),),
            ).fetchone()
            assert found is not None  # noqa: S101
            schema = found[0]
        return schema, list(cursor.execute(_COLUMNS, {"name": name, "schema": schema}).fetchall())


def _read(described: _Described) -> tuple[str, dt.DataType]:
    """Return how a column is read and the type that this gives."""
    name, own, own_kind, base, base_kind, modifier = described
    column, kind, category = _quoted(name), own if base is None else base, base_kind or own_kind
    if kind in _PLAIN:
        return column if base is None else f"{column}::{kind}", _PLAIN[kind]
    if kind in _TEXTS or category == "e":
        return f'({sql_form(f"{column}::text", dt.string)}) COLLATE "C"', dt.string
    if kind in _MOMENTS:
        return sql_form(f"{column}::{kind}", _MOMENTS[kind], moment=kind), _MOMENTS[kind]
    if kind == "numeric":
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
        if modifier >= 0 and precision <= _MOST_DIGITS and scale <= precision:
            return f"NULLIF({column}::numeric({precision}, {scale}), 'NaN')", dt.Decimal(precision, scale)
        return _as_double(column), dt.float64
    return sql_form(column, dt.binary, empty="''::bytea"), dt.binary


def _as_double(column: str) -> str:
    """Return the double next to a decimal of any size; if there is none, PostgreSQL itself would fail."""
    return (
        f"CASE WHEN {column} = 'NaN' THEN 'NaN' "
        f"WHEN abs({column}) >= {2**1024 - 2**970}::numeric THEN CASE WHEN {column} > 0 "
        f"THEN 'Infinity'::float8 ELSE '-Infinity'::float8 END "
        f"WHEN abs({column}) < '2.5e-324'::numeric THEN 0 ELSE {column}::float8 END"
    )


def _copy_in(cursor: psycopg.Cursor, listed: ops.InMemoryTable, backend: ibis.BaseBackend) -> None:
    """Copy a table of public values into one that lasts as long as the transaction."""
    columns = ", ".join(
        f"{_quoted(name)} {backend.compiler.type_mapper.to_string(kind)}"
        + (' COLLATE "C"' if kind.is_string() else "")
        for name, kind in listed.schema.items()
    )
    name = _quoted(listed.name)
    cursor.execute(f"CREATE TEMPORARY TABLE {name} ({columns}) ON COMMIT DROP")
    with cursor.copy(f"COPY pg_temp.{name} FROM STDIN") as copy:
        for batch in listed.data.to_pyarrow(listed.schema).to_batches():
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                copy.write_row(row)


def _batches(rows: Iterator[Sequence[object]], schema: pyarrow.Schema) -> Iterator[pyarrow.RecordBatch]:
    while chunk := list(itertools.islice(rows, _BATCH)):
        columns = zip(*chunk, strict=True)
        arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        yield pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _arrow_schema(shape: Shape) -> pyarrow.Schema:
    return pyarrow.schema([(name, kind.to_pyarrow()) for name, kind in shape.schema.items()])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreachable() -> ParameterError:
    return ParameterError(
        "source",
        "could not be reached",
        "the address of a PostgreSQL database in UTF-8 that you may connect to",
    )


def _unknown() -> ParameterError:
    return ParameterError(
        "source", "does not name a table of the database", "postgresql://host/database#table"
    )
