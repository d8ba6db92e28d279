"""The exact answers: the same text, run by plain DuckDB on the same rows."""

# ruff: noqa: S608

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import duckdb
import sqlglot
from sqlglot import exp
from tests.corpus.column_kinds import is_over_answers, items_of, ranked
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
    """Columns by name, in order, and rows.

    Attributes
    ----------
    values : list of dicts
        For each row, by the places of quantiles and extremes, all values that one is chosen from, in order.
    """

    names: tuple[str, ...]
    rows: list[tuple[object, ...]]
    values: list[dict[int, list[float]]]


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
    places, sql = _with_values(sql, world(query.world).persons)
    found = cursor.execute(sql)
    names = [column[0] for column in found.description]
    shown = len(names) - len(places)
    rows = found.fetchall()
    return Answer(
        tuple(names[:shown]),
        [row[:shown] for row in rows],
        [dict(zip(places, map(_sorted, row[shown:]), strict=True)) for row in rows],
    )


def _with_values(sql: str, persons: Container[str]) -> tuple[list[int], str]:
    """Return the places of quantiles and extremes, and a query that lists their values as well."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    if not isinstance(tree, exp.Select) or is_over_answers(tree, persons):
        return [], sql
    found = {place: ranked(item) for place, item in enumerate(items_of(tree, len(tree.expressions)))}
    lists = {place: one.operand for place, one in found.items() if one is not None}
    for operand in lists.values():
        tree.append("expressions", exp.Anonymous(this="LIST", expressions=[operand.copy()]))
    return list(lists), tree.sql("duckdb") if lists else sql


def _sorted(values: list[object] | None) -> list[float]:
    return sorted(float(one) for one in values or () if isinstance(one, int | float | Decimal))
