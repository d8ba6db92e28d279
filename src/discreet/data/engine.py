"""Engines: where private rows live, and the one way by which results come back.

Ibis speaks to the engine; everything that differs between engines is in this file and in the files
named for an engine. What an engine says when it fails may hold values from the data, so
`guarded` lets neither its words nor its exception pass.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import ibis
import ibis.expr.datatypes as dt
import pyarrow
from ibis.expr.operations import PhysicalTable
from ibis.expr.types import Column, Table, Value

from discreet.data.schema import Type
from discreet.errors import EngineFailed, ParameterError

__all__ = [
    "LARGEST_INTEGER",
    "backend_of",
    "bounded_total",
    "digest",
    "double",
    "fetch",
    "guarded",
    "normalized",
    "public_type",
    "sql_of",
    "total",
]

T = TypeVar("T")

ENGINES = ("duckdb",)
"""The engines on which the behavior suite passes."""

LARGEST_INTEGER = 1 << 62
"""Totals are clamped to this magnitude, the largest that mechanisms take."""

_locks: WeakKeyDictionary[object, threading.Lock] = WeakKeyDictionary()
_locks_lock = threading.Lock()


def guarded(work: Callable[[], T], failure: Callable[[], Exception]) -> T:
    """Do some work; if it fails, raise `failure()` with no trace of why.

    The new exception is raised outside the handler, so that it does not even refer to the old
    one as its context.
    """
    try:
        with warnings.catch_warnings():
            # Ibis uses a method that newer DuckDBs deprecate: where warnings are errors it would fail.
            warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
            return work()
    except Exception:  # noqa: S110
        pass
    raise failure()


def backend_of(table: Table) -> ibis.BaseBackend:
    """Return the connection of an Ibis table, if it is one of an engine that is supported.

    Only tables (and views) of the engine are taken. An expression over them may have a LIMIT, a sample or a
    window in it, where one person's rows decide about those of another.
    """
    if not isinstance(table.op(), PhysicalTable):
        raise ParameterError(
            "source", "is an expression over tables", "a table itself; put conditions into the request"
        )
    backend = guarded(
        table.get_backend,
        lambda: ParameterError("source", "is bound to no engine", "a table of a connection"),
    )
    if backend.name not in ENGINES:
        raise ParameterError(
            "source", f"is a table of {backend.name}, which is not supported", f"one of {', '.join(ENGINES)}"
        )
    return backend


def fetch(table: Table, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Compute a table of aggregates; one at a time on each connection."""
    with _locks_lock:
        lock = _locks.setdefault(backend, threading.Lock())
    with lock:
        return guarded(lambda: backend.to_pyarrow(table), EngineFailed)


def sql_of(table: Table, backend: ibis.BaseBackend) -> str:
    """Return the statement that `fetch` would send."""
    return str(guarded(lambda: ibis.to_sql(table, dialect=backend.name), EngineFailed))


@ibis.udf.scalar.builtin(name="md5")  # type: ignore[untyped-decorator]
def digest(text: str) -> str:  # type: ignore[empty-body]
    """Return the MD5 digest of a text in lower-case hexadecimal: the same on every engine."""


def double(number: float) -> Value:
    """Return a literal of double precision.

    It travels as text: where engines read the digits of a number as a decimal, its
    conversion to a double is not always the nearest one.
    """
    return ibis.literal(repr(float(number))).cast("float64")


def total(column: Column) -> Value:
    """Return the sum of a column of integers of at most 54 bits, or of such sums, in a type that holds it.

    DuckDB adds 64-bit integers in 128 bits, PostgreSQL in decimals. No engine holds 2^63 rows, so 117 bits
    are enough and nothing overflows.
    """
    return column.sum()


def bounded_total(column: Column) -> Value:
    """Return the sum of some totals, clamped to 2^62 in magnitude; 0 without rows.

    Clamping brings no two numbers further apart.
    """
    return ibis.least(ibis.greatest(ibis.coalesce(total(column), 0), -LARGEST_INTEGER), LARGEST_INTEGER)


def public_type(kind: dt.DataType) -> Type:
    """Return what requests may know of an engine's type."""
    if kind.is_timestamp():
        return Type.TIMESTAMP if kind.timezone is None else Type.INSTANT
    for test, found in (
        (kind.is_boolean, Type.BOOLEAN),
        (kind.is_integer, Type.INTEGER),
        (kind.is_decimal, Type.DECIMAL),
        (kind.is_floating, Type.FLOAT),
        (kind.is_string, Type.TEXT),
        (kind.is_date, Type.DATE),
    ):
        if test():
            return found
    return Type.OTHER


def normalized(table: Table) -> Table:
    """Return a table in which identifiers are text and points in time are whole microseconds.

    A point in time beyond the range of microseconds becomes NULL.
    """
    changed = {}
    for name, kind in table.schema().items():
        if kind.is_uuid():
            changed[name] = table[name].cast("string")
        elif kind.is_timestamp() and kind.scale not in {None, 6}:
            changed[name] = table[name].try_cast(dt.Timestamp(timezone=kind.timezone, scale=6))
    return table.mutate(**changed) if changed else table
