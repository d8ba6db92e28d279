"""What Ibis writes for each engine, corrected where the same expression would mean something else.

Every file above builds one Ibis expression for all engines; the compilers of the dialects (`corrections`,
and one file for each engine) make it mean the same. Literals come from requests and from keys that were
chosen from the data, so they can contain anything; the dialects also write them so that nothing in them
means anything to an engine, whatever its settings are.
"""

from __future__ import annotations

from typing import Protocol

import sqlglot
import sqlglot.expressions as sge
from ibis import BaseBackend
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.expr.types import Table
from sqlglot.dialects.dialect import Dialect

from discreet.data.engines.corrections import LOT

__all__ = ["LOT", "dialect_of", "statement"]


class _Dialect(Protocol):
    """What a file of a dialect provides."""

    COMPILER: SQLGlotCompiler
    """Makes a statement of an expression."""
    DIALECT: type[Dialect] | str
    """How the statement is spelled."""


def dialect_of(engine: str) -> _Dialect:
    """Return the dialect of an engine, which loads when it is used."""
    if engine == "postgres":
        from discreet.data.engines import postgres_dialect

        return postgres_dialect
    if engine == "pyspark":
        from discreet.data.engines import spark_dialect

        return spark_dialect
    from discreet.data.engines import duckdb_dialect

    return duckdb_dialect


def statement(table: Table, backend: BaseBackend) -> str:
    """Return the statement that computes a table."""
    dialect = dialect_of(backend.name)
    written = dialect.COMPILER.to_sqlglot(table)
    if backend.name == "duckdb":
        _compute_once(written)
    return str(written.sql(dialect=dialect.DIALECT, copy=False, unsupported_level=sqlglot.ErrorLevel.RAISE))


def _compute_once(written: sge.Expression) -> None:
    """Have DuckDB keep what is used twice, if it is more than a scan, instead of computing it twice."""
    for part in written.find_all(sge.CTE):
        if part.this.find(sge.Group, sge.Join, sge.SetOperation, sge.Window) is not None:
            part.set("materialized", True)
