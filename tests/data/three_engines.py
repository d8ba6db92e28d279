"""The three engines as tests see them: what starts them, and how rows get into them."""

from __future__ import annotations

import logging
import os
import shutil
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import ibis
import pyarrow
from hypothesis import HealthCheck, Phase, given, settings

from discreet.data import EACH_ROW, Table
from discreet.data.engines.base import fetch
from effort import examples

DUCKDB, POSTGRES, SPARK = "duckdb", "postgres", "spark"

WIDER = {
    pyarrow.uint8(): pyarrow.int16(),
    pyarrow.uint16(): pyarrow.int32(),
    pyarrow.uint32(): pyarrow.int64(),
    pyarrow.uint64(): pyarrow.decimal128(20, 0),
}
"""Engines but DuckDB have no unsigned integers."""


@dataclass(frozen=True)
class Engine:
    """An engine that is running.

    Attributes
    ----------
    source : callable
        Load an Arrow table; return what `Table` takes.
    examples : int
        How many generated examples one test can afford.
    """

    name: str
    source: Callable[[pyarrow.Table], object]
    examples: int
    close: Callable[[], object] = lambda: None

    def table(self, arrow: pyarrow.Table, *, person: object = EACH_ROW, **declared: object) -> Table:
        """Load a table and declare it."""
        return Table(self.source(arrow), person=person, **declared)

    def values(self, table: Table, **columns: Callable[..., object]) -> dict[str, list[object]]:
        """Compute columns from the rows of a table that has a column of numbers "row", in its order."""
        rows = table._relation
        selected = {name: make(rows) for name, make in columns.items()}
        found = fetch(rows.select(row=rows["row"], **selected).order_by("row"), table._backend)
        return {name: found[name].to_pylist() for name in columns}


def embedded() -> Engine:
    return Engine(DUCKDB, lambda arrow: arrow, 12)


COLUMN_TYPES = {
    pyarrow.bool_(): "boolean",
    pyarrow.int8(): "smallint",
    pyarrow.int16(): "smallint",
    pyarrow.int32(): "integer",
    pyarrow.int64(): "bigint",
    pyarrow.float32(): "real",
    pyarrow.float64(): "double precision",
    pyarrow.string(): 'text COLLATE "unicode"',  # a collation with an order of its own
    pyarrow.date32(): "date",
    pyarrow.timestamp("us"): "timestamp",
    pyarrow.timestamp("us", "UTC"): "timestamptz",
}


def postgres(address: str) -> Engine:
    """An engine over one connection to a PostgreSQL server."""
    import psycopg

    connection = psycopg.connect(address, autocommit=True)
    backend = ibis.postgres.from_connection(connection)

    def source(arrow: pyarrow.Table) -> object:
        arrow = widened(arrow)
        name = f"rows {uuid.uuid4().hex}"
        columns = ", ".join(f"{quoted(field.name)} {column_type(field.type)}" for field in arrow.schema)
        with connection.cursor() as cursor, connection.transaction():
            cursor.execute(f"CREATE TABLE {quoted(name)} ({columns})")
            with cursor.copy(f"COPY {quoted(name)} FROM STDIN") as copy:
                for row in zip(*(column.to_pylist() for column in arrow.columns), strict=True):
                    copy.write_row(row)
        return backend.table(name)

    return Engine(POSTGRES, source, 15, connection.close)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def column_type(kind: pyarrow.DataType) -> str:
    if pyarrow.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return COLUMN_TYPES[kind]


def widened(arrow: pyarrow.Table) -> pyarrow.Table:
    for place, field in enumerate(arrow.schema):
        if field.type in WIDER:
            column = arrow.column(place)
            arrow = arrow.set_column(place, field.name, pyarrow.array(column.to_pylist(), WIDER[field.type]))
    return arrow


def spark() -> Engine:
    """An engine over the Spark session of this process."""
    session = start_spark()

    def source(arrow: pyarrow.Table) -> object:
        return session.createDataFrame(widened(arrow))

    return Engine(SPARK, source, 3, session.stop)


def start_spark() -> object:
    from pyspark.sql import SparkSession

    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=home and os.path.join(home, "bin")) is None:
        raise FileNotFoundError("java")  # Spark itself would leave open files behind
    logging.getLogger("py4j").setLevel(logging.ERROR)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[1]").appName("tests of discreet")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Spark keeps what its parser learned of every statement: half a gigabyte after all tests.
            "spark.driver.memory": "2g",
            "spark.sql.maxPlanStringLength": "1000",  # values of 11 million characters are written into plans
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.session.timeZone": "Asia/Taipei",  # the engine must set its own
            "spark.sql.timestampType": "TIMESTAMP_NTZ",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # statements are short
            "spark.log.level": "OFF",
            "spark.sql.ui.retainedExecutions": "1",
        }.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def generated(engine, *arguments):
    """Run a check on generated examples, as many as the engine can afford: none to make failures smaller."""
    chosen = settings(
        max_examples=examples(engine.examples),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    return lambda check: chosen(given(*arguments)(check))()


TEXTS = [
    "",
    " ",
    "A",
    "B",
    "Z",
    "_",
    "a",
    "a ",
    "a\t",
    "ab",
    "b",
    "ä",
    "a\u0308",
    "ÿ",
    "ż",
    "日本",
    "\U0001f4b6",
    "\uffee",
]
