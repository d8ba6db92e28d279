"""Spark as an engine: rows stay where Spark reads them, and only totals are collected.

A table is a frame of a Spark session, or a table of an Ibis connection to one. A frame must stand for the
rows of a table: Spark evaluates it again for every statement, so one that draws at random, or that
takes the first rows of something, has no fixed rows to protect.

Statements run in a separate session, not in the one that a table came from: it reads the same data, but its
settings are ours alone, set before every statement, and it never is the active session of the process.
Nothing in the text of a statement is replaced, it is in UTC, its conversions give NULL if they have no
result, and names are exact, independent of the settings of other sessions. Columns are read by rule:

- Text is compared by code point in spite of its collation, and the padding of char(n) is removed.
- A TIMESTAMP is a point in time, a TIMESTAMP_NTZ a date and time of day.
- Types that requests do not know can only be tested for NULL.

Everything then is in its normal form (`normal_forms`).
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

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
from discreet.errors import ParameterError

__all__ = ["fetch", "from_frame", "is_frame", "normalized", "own_session", "present_values", "store_table"]

_SETTINGS = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    # Ancient days in files are read as they are written, where Spark would ask which calendar was meant.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    # Spark derives filters from every pair of equal expressions: exponentially many for a join of six tables,
    # which took all memory of the driver (TPC-H Q5; 13 s without).
    "spark.sql.constraintPropagation.enabled": "false",
    # It also writes down the plan of every statement and keeps a thousand of them, of megabytes each.
    "spark.sql.maxPlanStringLength": "1000",
}
_EXCLUDED = "spark.sql.optimizer.excludedRules"
_WHILE_PLANNED = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
"""It calculates joins of small tables while it plans, row by row: 44 of the 70 seconds of TPC-H Q21."""
_OF_MEANING = (
    "ansi.",
    "decimalOperations.",
    "groupBy",
    "legacy.",
    "orderBy",
    "parser.",
    "session.",
    "variable.",
)
"""How the names of settings that change what a statement means go on after ``spark.sql.``."""
_sessions: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_sessions_lock = threading.Lock()
_KINDS = {
    "boolean": dt.boolean,
    "byte": dt.int8,
    "short": dt.int16,
    "integer": dt.int32,
    "long": dt.int64,
    "float": dt.float32,
    "double": dt.float64,
    "date": dt.date,
    "timestamp": dt.Timestamp(timezone="UTC", scale=6),
    "timestamp_ntz": dt.Timestamp(scale=6),
}
_MOMENTS = {"date": "DATE", "timestamp": "TIMESTAMP_LTZ", "timestamp_ntz": "TIMESTAMP_NTZ"}
_CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"


def is_frame(source: object) -> bool:
    """Return whether a source is a frame of a Spark session."""
    return type(source).__name__ == "DataFrame" and type(source).__module__.startswith("pyspark.sql.")


def from_frame(frame: object) -> Table:
    """Give a frame a name that all sessions know."""
    session = frame.sparkSession  # type: ignore[attr-defined]

    def opened() -> Table:
        place, name = _shared(frame, session)
        backend = ibis.pyspark.connect(own_session(session))
        # The columns are read by `normalized`: Ibis would make the place of such views the current one.
        return ops.DatabaseTable(name, sch.Schema({}), backend, ops.Namespace(database=place)).to_expr()

    return run_guarded(opened, _unreadable)


def own_session(session: Any) -> Any:
    """Return our own session for a user's session, or a session that is already ours."""
    with _sessions_lock:
        if session in _sessions.values():
            return session
        if session not in _sessions:
            _sessions[session] = _made(session)
        return _sessions[session]


def _made(session: Any) -> Any:
    """Make a session that reads what another does; settings that say what a statement means are ours."""
    made = session.newSession()
    for name, value in session.conf.getAll.items():
        if not name.startswith("spark.sql.") or not made.conf.isModifiable(name):
            continue
        if name.removeprefix("spark.sql.").startswith(_OF_MEANING):
            made.conf.unset(name)
        else:
            made.conf.set(name, value)
    excluded = made.conf.get(_EXCLUDED, "").split(",")
    made.conf.set(_EXCLUDED, ",".join(sorted({*filter(None, excluded), _WHILE_PLANNED})))
    _settle(made)
    return made


def _settle(session: Any) -> None:
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)


@contextmanager
def _inactive(session: Any) -> Iterator[None]:
    """Leave the active session of the process what it was.

    Spark makes a session active that is given rows, and code that asks for the active one, to change its
    settings or to drop its views, must not get ours.
    """
    kind, machine = type(session), getattr(session, "_jvm", None)
    if machine is None:  # a session by a connection, of which the process knows nothing
        yield
        return
    sessions = kind._get_j_spark_session_class(machine)
    active, before = kind._activeSession, sessions.getActiveSession()
    try:
        yield
    finally:
        kind._activeSession = active
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _shared(frame: Any, session: Any) -> tuple[str, str]:
    """Give a frame a name that our session knows too."""
    name = f"discreet_{uuid4().hex}"
    frame.createGlobalTempView(name)
    return session.conf.get("spark.sql.globalTempDatabase"), name


def normalized(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return the columns of a table in the types that all engines share."""
    place, fields = _described(table, backend)
    written = [(field.name, *_read(field)) for field in fields]
    return read_columns(place, written, _quoted, backend)


def present_values(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return how many stored values are not NULL, for each column in order, as one row."""
    place, fields = _described(table, backend)
    return count_columns(place, [field.name for field in fields], _quoted, backend)


def _described(table: Table, backend: ibis.BaseBackend) -> tuple[str, list[Any]]:
    """Return where a table is, as SQL names it, and its columns."""
    origin, session = table.op(), backend._session
    own = run_guarded(lambda: own_session(session), _unreadable)
    place = _place(origin.namespace.catalog, origin.namespace.database, origin.name)
    if session is not own:
        if "${" in place:  # which that session may replace, even if ours does not
            raise ParameterError(
                "source", "is a table with '${' in its name", "another name, or a frame of it"
            )
        place = _place(*run_guarded(lambda: _shared(session.table(place), session), _unreadable))
    fields = run_guarded(lambda: own.table(place).schema.fields, _unreadable)
    check_names([field.name for field in fields])
    return place, fields


def fetch(shape: Shape, statement: str, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Run a statement and take its rows in batches."""
    with _prepared(shape, backend) as session:
        found = session.sql(statement).toArrow()
    return found.cast(pyarrow.schema([(name, kind.to_pyarrow()) for name, kind in shape.schema.items()]))


def store_table(name: str, shape: Shape, statement: str, backend: ibis.BaseBackend) -> None:
    """Keep what a statement computes as a checkpoint, which is never computed again."""
    with _prepared(shape, backend) as session:
        session.sql(statement).localCheckpoint(eager=True).createTempView(name)


@contextmanager
def _prepared(shape: Shape, backend: ibis.BaseBackend) -> Iterator[Any]:
    """Return our session, with the lists that a statement needs."""
    session: Any = own_session(backend._session)
    with warnings.catch_warnings():
        # Spark leaves a socket to the collector of garbage: where warnings are errors it would fail.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            _settle(session)
            with _inactive(session):
                for one in shape.listed:
                    arrow = one.data.to_pyarrow(one.schema)
                    session.createDataFrame(arrow).createOrReplaceTempView(one.name)
            yield session
        finally:
            for one in shape.listed:
                session.catalog.dropTempView(one.name)


def _read(field: object) -> tuple[str, dt.DataType]:
    """Return how a column is read and the type that this gives."""
    name, kind = _quoted(field.name), field.dataType  # type: ignore[attr-defined]
    word = kind.typeName()
    if word in _KINDS:
        return sql_form(name, _KINDS[word], moment=_MOMENTS.get(word, "")), _KINDS[word]
    if word == "string":
        characters = field.metadata.get(_CHARACTERS, "")  # type: ignore[attr-defined]
        read = name if kind.simpleString() == word else f"{name} COLLATE UTF8_BINARY"
        read = f"try_validate_utf8({read})"
        return sql_form(f"rtrim({read})" if characters.startswith("char") else read, dt.string), dt.string
    if word.startswith("decimal"):
        return name, dt.Decimal(kind.precision, kind.scale)
    return sql_form(name, dt.binary, empty="X''"), dt.binary


def _place(*names: str | None) -> str:
    return ".".join(_quoted(name) for name in names if name is not None)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _unreadable() -> ParameterError:
    return ParameterError(
        "source", "could not be read", "a frame or table of a Spark session that is running"
    )
