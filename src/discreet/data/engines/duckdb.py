"""The embedded engine: DuckDB, isolated once the rows are loaded.

Each table gets its own database in memory. After loading, the database can read no file (except the
Parquet file it was opened on), load no extension, and its settings are locked. Frames and
CSV files are copied in, so that later changes to them are not seen; a Parquet file is read in place.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import duckdb
import ibis
import ibis.expr.operations as ops
import pyarrow
from ibis.expr.types import Table
from ibis.formats.pyarrow import PyArrowData

from discreet.data.engines.base import Shape, run_guarded
from discreet.data.engines.duckdb_meanings import check_meanings
from discreet.data.language.types import Type
from discreet.data.reading import normal_forms
from discreet.data.reading.csv_format import Csv
from discreet.data.reading.csv_records import Records, header
from discreet.data.reading.lost import Lost
from discreet.data.reading.object_forms import from_pandas
from discreet.data.reading.parquet_files import TRUSTS_FILES, settle_file, settle_later
from discreet.data.reading.written_forms import count_forms
from discreet.errors import ParameterError

__all__ = [
    "check_names",
    "fetch",
    "from_csv",
    "from_frame",
    "from_parquet",
    "lost",
    "normalized",
    "present_values",
    "query_frames",
    "store_table",
]

_NAME = "rows"
_COMPRESSED = "discreet_compressed"
_CLOSED = (
    "threads = 1",
    "python_enable_replacements = false",
    "enable_external_access = false",
    "lock_configuration = true",
)
"""Settings under which a statement reads the frames that it was given, and nothing else."""
_own: weakref.WeakSet[ibis.BaseBackend] = weakref.WeakSet()
"""The connections that were made here."""
_PLACES = """
SELECT database_name, schema_name FROM duckdb_tables() WHERE lower(table_name) = lower(?)
UNION ALL SELECT database_name, schema_name FROM duckdb_views() WHERE lower(view_name) = lower(?)
"""
_TYPES = {
    Type.BOOLEAN: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
    Type.INSTANT: "TIMESTAMPTZ",
}
_lost: WeakKeyDictionary[ibis.BaseBackend, Lost] = WeakKeyDictionary()
"""What was left out when the rows of a connection were copied in."""


def from_parquet(path: Path) -> Table:
    """Open a Parquet file in place. Its columns have the types that the file states."""
    connection = _connect()
    place = _named(connection, path)
    table = run_guarded(
        lambda: connection.read_parquet(place, table_name=_NAME, hive_partitioning=False), _unreadable
    )
    settle_later(connection, place, _NAME)
    _turn_off(connection, TRUSTS_FILES)
    _close_off(connection, place)
    check_names(table.columns)
    return table


def from_csv(form: Csv, types: Mapping[str, Type]) -> Table:
    """Load CSV files, written as the owner states, a record on every line.

    The types of columns are the ones declared, never guessed from the data: a value that does not
    convert is NULL, and a column without a declared type is text. Lines that are not records are left out
    (`csv_records`).
    """
    connection = _connect()
    for path in form.paths:
        _existing(path)
    names = header(form)
    check_names(names)
    form.check_columns(names)
    records = Records(form=form, names=names)
    reader = pyarrow.RecordBatchReader.from_batches(records.schema(), records.all_batches())
    run_guarded(lambda: connection.con.register("lines", reader), _unreadable)
    run_guarded(lambda: connection.raw_sql("CREATE TABLE text AS SELECT * FROM lines"), _unreadable)
    connection.con.unregister("lines")
    kinds = {name: types.get(name, Type.TEXT) for name in names}
    read = {name: form.converted(name, _identifier(name), kind, _TYPES[kind]) for name, kind in kinds.items()}
    columns = ", ".join(f"{expression} AS {_identifier(name)}" for name, expression in read.items())
    run_guarded(
        partial(connection.raw_sql, f"CREATE TABLE {_NAME} AS SELECT {columns} FROM text"),  # noqa: S608
        _unreadable,
    )

    def count(aggregates: str, table: str = "text") -> tuple[int, ...]:
        found: tuple[int, ...] = connection.raw_sql(f"SELECT {aggregates} FROM {table}").fetchone()  # noqa: S608
        return found

    present = ", ".join(f"count({_identifier(name)})" for name in names)
    counts = zip(names, count(present), count(present, _NAME), strict=True)
    lost = {name: before - after for name, before, after in counts if before != after}
    written = count_forms(count, {name: (_identifier(name), read[name]) for name in lost})
    connection.raw_sql("DROP TABLE text")
    _lost[connection] = records.lost(lost, written)
    _close_off(connection)
    return run_guarded(lambda: connection.table(_NAME), _unreadable)


def from_frame(frame: object, types: Mapping[str, Type]) -> Table:
    """Copy in a frame of pandas, Polars, Arrow or anything else that exports Arrow streams.

    A column of no type (every value missing) takes the one declared, and so does one of Python objects. In
    pandas NaN means missing, so it arrives as NULL.
    """
    from discreet.data.reading.arrow_forms import lost_values, normal

    given = run_guarded(lambda: _to_arrow(frame, types), _unreadable)
    check_names(given.column_names)
    arrow = run_guarded(lambda: normal(given, types), _unreadable)
    connection = _connect()
    table = run_guarded(lambda: connection.create_table(_NAME, arrow), _unreadable)
    _lost[connection] = Lost(values=lost_values(given, arrow))
    _close_off(connection)
    return table


def lost(backend: ibis.BaseBackend) -> Lost | None:
    """Return what was left out when rows were copied in; None if rows stay in place."""
    return _lost.get(backend)


def normalized(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return the columns of a table in their normal forms.

    Text of a connection that is not ours may have a collation, under which different texts are equal;
    converting it through bytes removes it.
    """
    foreign = backend not in _own
    if foreign:
        check_meanings(backend)
        table = _placed(table, backend)
    plain = {name: table[name] for name in table.columns}
    if foreign:
        plain |= {
            name: _decoded(_encoded(table[name])) for name, kind in table.schema().items() if kind.is_string()
        }
    return table.select(**{name: normal_forms.duckdb(column) for name, column in plain.items()})


def present_values(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return how many stored values are not NULL, for each column in order, as one row."""
    return table.aggregate(**{f"n{place}": table[name].count() for place, name in enumerate(table.columns)})


def _placed(table: Table, backend: ibis.BaseBackend) -> Table:
    """Return a table by its full name, so that no table that is made later stands for it."""
    origin = table.op()
    if not isinstance(origin, ops.DatabaseTable):
        return table
    stated = origin.namespace
    [here] = backend.con.execute("SELECT current_database(), current_schema()").fetchall()
    listed = {
        (catalog, schema)
        for catalog, schema in backend.con.execute(_PLACES, [origin.name, origin.name]).fetchall()
        if stated.catalog in {None, catalog} and stated.database in {None, schema}
    }
    if not listed:
        return table
    if len(listed) > 1:
        listed = {next((place for place in (("temp", "main"), here) if place in listed), ("", ""))}
    [(catalog, schema)] = listed
    if not catalog:
        raise ParameterError("source", "has a name that several tables have", "its schema and database too")
    place = ops.Namespace(catalog=catalog, database=schema)
    return ops.DatabaseTable(origin.name, origin.schema, backend, place).to_expr()


@ibis.udf.scalar.builtin(name="encode")  # type: ignore[untyped-decorator]
def _encoded(text: str) -> bytes:  # type: ignore[empty-body]
    """Return the bytes of a text."""


@ibis.udf.scalar.builtin(name="decode")  # type: ignore[untyped-decorator]
def _decoded(content: bytes) -> str:  # type: ignore[empty-body]
    """Return the text of some bytes."""


def fetch(shape: Shape, statement: str, backend: ibis.BaseBackend) -> pyarrow.Table:
    """Run a statement and take its rows as Arrow."""
    _make_ready(shape, backend)
    return PyArrowData.convert_table(backend.con.sql(statement).to_arrow_table(), shape.schema)


def store_table(name: str, shape: Shape, statement: str, backend: ibis.BaseBackend) -> None:
    """Keep what a statement computes in a temporary table; compressed, if the connection is ours.

    DuckDB groups compressed text by the number of a text in its dictionary, and other text by every letter.
    It compresses what is attached, not what is temporary; a view gives the table the name that it would have.
    """
    _make_ready(shape, backend)
    if backend not in _own:
        backend.con.execute(f"CREATE TEMPORARY TABLE {_identifier(name)} AS {statement}")
        return
    kept = f"{_COMPRESSED}.{_identifier(name)}"
    for step in (
        f"ATTACH IF NOT EXISTS ':memory:' AS {_COMPRESSED} (COMPRESS)",
        f"CREATE OR REPLACE TABLE {kept} AS {statement}",
        f"CHECKPOINT {_COMPRESSED}",
        f"CREATE OR REPLACE TEMPORARY VIEW {_identifier(name)} AS SELECT * FROM {kept}",  # noqa: S608
    ):
        backend.con.execute(step)


def _make_ready(shape: Shape, backend: ibis.BaseBackend) -> None:
    """Check the connection, and give it the lists that a statement reads."""
    if backend not in _own:
        check_meanings(backend)
    settle_file(backend)
    for listed in shape.listed:
        backend._register_in_memory_tables(listed.to_expr())


def check_names(names: object) -> None:
    """Refuse names of columns that are missing, repeated, or differ only in upper and lower case."""
    listed = list(names)  # type: ignore[call-overload]
    if not listed or not all(isinstance(name, str) and name and "\0" not in name for name in listed):
        raise ParameterError("source", "has a column without a name", "a name for every column")
    if len({name.lower() for name in listed}) != len(listed):
        raise ParameterError(
            "source", "has two columns with the same name, apart from case", "distinct names"
        )


def query_frames(statement: str, frames: Mapping[str, pyarrow.Table]) -> pyarrow.Table:
    """Return the rows that a statement gives in a database of nothing but some frames, or refuse it."""

    def rows() -> pyarrow.Table:
        with duckdb.connect() as connection:
            for name, frame in frames.items():
                connection.register(name, frame)
            for setting in _CLOSED:
                connection.execute(f"SET {setting}")
            found: pyarrow.Table = connection.sql(statement).to_arrow_table()
            whole = [pyarrow.types.is_decimal(one.type) and one.type.scale == 0 for one in found.schema]
            columns = [
                column.cast(pyarrow.int64()) if is_whole else column
                for column, is_whole in zip(found.columns, whole, strict=True)
            ]
            return pyarrow.table(columns, names=found.column_names)

    return run_guarded(
        rows, lambda: ParameterError("statement", "cannot be calculated", "one over these frames")
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


def _turn_off(connection: ibis.BaseBackend, steps: Sequence[str]) -> None:
    known = {name for (name,) in connection.raw_sql("SELECT name FROM duckdb_optimizers()").fetchall()}
    connection.raw_sql(f"SET disabled_optimizers = '{','.join(step for step in steps if step in known)}'")


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
    place = _existing(path)
    directory = tempfile.mkdtemp(prefix="discreet-")
    weakref.finalize(connection, _remove, directory, os.getpid())
    link = os.path.join(directory, f"rows{path.suffix.lower()}")
    run_guarded(lambda: os.symlink(place, link), _unreadable)
    return link


def _existing(path: Path) -> str:
    place = os.path.abspath(path)
    if not os.path.isfile(place):
        raise ParameterError("source", "is not a file", "the path of a Parquet or CSV file")
    return place


def _to_arrow(frame: object, types: Mapping[str, Type]) -> pyarrow.Table:
    library = type(frame).__module__.split(".")[0]
    if library == "pandas":
        return from_pandas(frame, types)
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    return pyarrow.table(frame).replace_schema_metadata(None)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreadable() -> ParameterError:
    return ParameterError("source", "could not be read", "a Parquet or CSV file, a frame, or an Ibis table")
