"""Engines: where private rows are stored, and the one way in which results come back.

Ibis speaks to the engine. Where engines differ, or Ibis means different things on them, the files named for
an engine make up for it, in three places: columns are brought to common types when a table is opened
(`normalized`), `dialects` writes the statements, and settings hold while a statement
runs. So one expression gives the same values on every engine, and no other file asks which engine it is.

What an engine says when it fails may contain values from the data, so `run_guarded` lets neither its words
nor its exception pass.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import ibis
import ibis.expr.datatypes as dt
import pyarrow
from ibis.expr.operations import DatabaseTable, InMemoryTable, PhysicalTable
from ibis.expr.schema import Schema
from ibis.expr.types import Column, Table, Value

from discreet.data.engines.column_types import to_agreed_types
from discreet.data.engines.dialects import LOT, statement
from discreet.data.language.types import Type
from discreet.errors import EngineFailed, ParameterError
from discreet.records import dataclass

__all__ = [
    "LARGEST_TOTAL",
    "Shape",
    "await_table",
    "backend_of",
    "bounded_total",
    "count_present",
    "double",
    "exclusive",
    "fetch",
    "keep",
    "lot",
    "normalized",
    "public_type",
    "run",
    "run_guarded",
    "sql_of",
    "total",
    "written",
]

T = TypeVar("T")

ENGINES = ("duckdb", "postgres", "pyspark")
"""The engines on which the behavior suite passes."""

LARGEST_TOTAL = 1 << 62
"""Totals are clamped to this magnitude, the largest that mechanisms take."""

_locks: WeakKeyDictionary[object, threading.Lock] = WeakKeyDictionary()
_locks_lock = threading.Lock()


class _Awaited(Protocol):
    """A table that is made when it is first read."""

    def draw(self) -> None:
        """Make it, unless it was made."""


_awaited: WeakValueDictionary[str, _Awaited] = WeakValueDictionary()


def run_guarded(work: Callable[[], T], failure: Callable[[], Exception]) -> T:
    """Do some work; if it fails, raise `failure()` without the cause.

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
    """Return the connection of an Ibis table, if its engine is supported.

    Only tables (and views) of the engine are taken. An expression over them may have a LIMIT, a sample or a
    window in it, where one person's rows affect those of another.
    """
    if not isinstance(table.op(), PhysicalTable):
        raise ParameterError(
            "source", "is an expression over tables", "a table itself; put conditions into the request"
        )
    backend = run_guarded(
        table.get_backend,
        lambda: ParameterError("source", "is not bound to an engine", "a table of a connection"),
    )
    if backend.name not in ENGINES:
        raise ParameterError(
            "source", f"is a table of {backend.name}, which is not supported", f"one of {', '.join(ENGINES)}"
        )
    return backend


class _Engine(Protocol):
    """What a file named for an engine provides."""

    def normalized(self, table: Table, backend: ibis.BaseBackend) -> Table:
        """Return a table's columns in the types that all engines share."""

    def present_values(self, table: Table, backend: ibis.BaseBackend) -> Table:
        """Return how many stored values are not NULL, for each column in order, as one row."""

    def fetch(self, shape: Shape, statement: str, backend: ibis.BaseBackend) -> pyarrow.Table:
        """Run the statement that computes a table of public values and private aggregates."""

    def store_table(self, name: str, shape: Shape, statement: str, backend: ibis.BaseBackend) -> None:
        """Keep what a statement computes under a name, for this connection alone."""


def _engine(backend: ibis.BaseBackend) -> _Engine:
    if backend.name == "postgres":
        from discreet.data.engines import postgres

        return postgres
    if backend.name == "pyspark":
        from discreet.data.engines import spark

        return spark
    from discreet.data.engines import duckdb

    return duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is known of a statement beside its text. It refers to no connection.

    Attributes
    ----------
    schema : Ibis schema
        The columns that it gives.
    listed : tuple of tables in memory
        The public values that it reads, which live as long as they are referred to.
    stored : tuple of str
        The tables of the engine that it reads.
    """

    schema: Schema
    listed: tuple[InMemoryTable, ...]
    stored: tuple[str, ...]


def fetch(table: Table, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Compute a table of aggregates; one at a time on each connection. Awaited tables are made first."""
    return run(*written(table, backend), backend)


def written(table: Table, backend: ibis.BaseBackend) -> tuple[str, Shape]:
    """Return the statement that computes a table, and what else is known of it. This reads nothing."""
    shape = Shape(
        schema=table.schema(),
        listed=tuple(table.op().find(InMemoryTable)),
        stored=tuple(part.name for part in table.op().find(DatabaseTable)),
    )
    return sql_of(table, backend), shape


def run(text: str, shape: Shape, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Run a statement that was written before; one at a time on each connection."""
    _make_awaited(shape)
    with exclusive(backend):
        return run_guarded(lambda: _engine(backend).fetch(shape, text, backend), EngineFailed)


def _make_awaited(shape: Shape) -> None:
    """Make the tables that a statement reads and that are made when they are first read."""
    for name in shape.stored:
        awaited = _awaited.get(name)
        if awaited is not None:
            awaited.draw()


def await_table(name: str, made: _Awaited) -> None:
    """Have a table made before the first statement that reads it."""
    _awaited[name] = made


def keep(name: str, table: Table, backend: ibis.BaseBackend) -> None:
    """Compute a table and keep it in the engine, under a name, for this connection alone.

    Awaited tables are made first.
    """
    text, shape = written(table, backend)
    _make_awaited(shape)
    with exclusive(backend):
        run_guarded(lambda: _engine(backend).store_table(name, shape, text, backend), EngineFailed)


def exclusive(backend: ibis.BaseBackend) -> threading.Lock:
    """Return the lock under which one thread at a time uses a connection, or a session of Spark."""
    shared: object = backend
    if backend.name == "pyspark":
        from discreet.data.engines.spark import own_session

        shared = own_session(backend._session)
    with _locks_lock:
        return _locks.setdefault(shared, threading.Lock())


def sql_of(table: Table, backend: ibis.BaseBackend) -> str:
    """Return the statement that `fetch` would send."""
    return run_guarded(lambda: statement(table, backend), EngineFailed)


def normalized(table: Table, backend: ibis.BaseBackend, whole: Mapping[str, bool]) -> Table:
    """Return the columns of a table in the types that all engines share.

    What is text on any engine is text that compares by code point; points in time are whole
    microseconds, and NULL beyond their range; numbers have the types of `column_types`.

    Parameters
    ----------
    table : Ibis table
        The table as it is stored.
    backend : Ibis connection
        Where it is.
    whole : mapping of names to booleans
        The columns that were declared to be integers, and whether those beyond 64 bits are clipped.
    """
    return to_agreed_types(_engine(backend).normalized(table, backend), whole)


def count_present(table: Table, backend: ibis.BaseBackend) -> list[int]:
    """Return how many values of each column are not NULL as they are stored: private, for the owner only."""
    counts = run_guarded(lambda: _engine(backend).present_values(table, backend), EngineFailed)
    (row,) = fetch(counts, backend).to_pylist()
    return [int(number) for number in row.values()]


@ibis.udf.scalar.builtin(name=LOT)  # type: ignore[untyped-decorator]
def lot(text: str) -> int:  # type: ignore[empty-body]
    """Return the first 60 bits of the MD5 digest of a text, as an integer: the same on every engine."""


def double(number: float) -> Value:
    """Return a literal of double precision.

    It travels as text: where engines read the digits of a number as a decimal, its
    conversion to a double is not always the nearest one.
    """
    return ibis.literal(repr(float(number))).cast("float64")


def total(column: Column) -> Value:
    """Return the sum of a column of integers of at most 54 bits, or of such sums, in a type that holds it.

    DuckDB adds 64-bit integers in 128 bits, PostgreSQL and Spark (by its dialect here) in
    decimals of 38 digits or more. No engine holds 2^63 rows, so 117 bits are enough and nothing overflows.
    """
    return column.sum()


def bounded_total(column: Column, window: object = None) -> Value:
    """Return the sum of some totals, clamped to 2^62 in magnitude; 0 without rows.

    Clamping never increases the distance of two numbers.
    """
    summed = total(column) if window is None else total(column).over(window)
    clamped = ibis.least(ibis.greatest(ibis.coalesce(summed, 0), -LARGEST_TOTAL), LARGEST_TOTAL)
    # Ibis takes the sum for a 64-bit integer already; the way over a decimal makes it one.
    return clamped.cast("decimal(38, 0)").cast("int64")


def public_type(kind: dt.DataType) -> Type:
    """Return the public type of an engine's type."""
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
