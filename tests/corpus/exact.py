"""The exact answers: the same text, run by plain DuckDB on the same rows."""

# ruff: noqa: S608

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import duckdb
from tests.corpus.reading import CorpusQuery
from tests.corpus.worlds import world

SCHEMAS = ("cdm", "public", "analytics")
"""Prefixes that queries write before tables."""
UNITS = r"(year|quarter|month|week|day|hour|minute|second)"
IN_WORDS_OF_DUCKDB = (
    (re.compile(rf"\bDATEDIFF\({UNITS},", re.IGNORECASE), r"DATEDIFF('\1',"),
    (re.compile(rf"\bDATEADD\({UNITS}, (-?\d+), ([\w.]+)\)", re.IGNORECASE), r"(\3 + INTERVAL (\2) \1)"),
    (re.compile(r"\bNVL\("), "COALESCE("),
)
"""What DuckDB spells in another way, and nothing else."""


@dataclass(frozen=True)
class Answer:
    """Columns by name, in order, and rows."""

    names: tuple[str, ...]
    rows: list[tuple[object, ...]]


@cache
def connection(name: str) -> duckdb.DuckDBPyConnection:
    """Return a database that holds a world."""
    made = duckdb.connect()
    made.execute("SET TimeZone = 'UTC'")
    for schema in SCHEMAS:
        made.execute(f"CREATE SCHEMA {schema}")
    for table, arrow in world(name).rows.items():
        made.register("arriving", arrow)
        made.execute(f"CREATE TABLE {table} AS SELECT * FROM arriving")
        for schema in SCHEMAS:
            made.execute(f"CREATE VIEW {schema}.{table} AS SELECT * FROM main.{table}")
    return made


def exact(query: CorpusQuery) -> Answer:
    """Run a query as it is."""
    cursor = connection(query.world).cursor()
    sql = query.exact_sql
    for pattern, words in IN_WORDS_OF_DUCKDB:
        sql = pattern.sub(words, sql)
    found = cursor.execute(sql)
    return Answer(tuple(column[0] for column in found.description), found.fetchall())
