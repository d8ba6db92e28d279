"""What Ibis writes for each engine, corrected where the same expression would mean something else.

Every file above builds one Ibis expression for all engines; the compilers of the dialects (`corrections`,
and one file for each engine) make it mean the same. Literals come from requests and from keys that were
chosen from the data, so they can contain anything; the dialects also write them so that nothing in them
means anything to an engine, whatever its settings are.
"""

from __future__ import annotations

from importlib import import_module

import sqlglot
import sqlglot.expressions as sge
from ibis import BaseBackend
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.expr.types import Table
from sqlglot.dialects.dialect import Dialect

from discreet.data.engines.corrections import LOT

__all__ = ["LOT", "compiler_of", "dialect_of", "statement"]

_FILES = {"duckdb": "duckdb_dialect", "postgres": "postgres_dialect", "pyspark": "spark_dialect"}


def compiler_of(engine: str) -> SQLGlotCompiler:
    """Return what makes a statement of an expression, by the name of an engine. It loads when it is used."""
    return import_module(f"discreet.data.engines.{_FILES[engine]}").COMPILER


def dialect_of(engine: str) -> type[Dialect] | str:
    """Return how the statements of an engine are spelled."""
    found: type[Dialect] | str = import_module(f"discreet.data.engines.{_FILES[engine]}").DIALECT
    return found


def statement(table: Table, backend: BaseBackend) -> str:
    """Return the statement that computes a table."""
    written = compiler_of(backend.name).to_sqlglot(table)
    if backend.name == "duckdb":
        _compute_once(written)
    dialect = dialect_of(backend.name)
    return str(written.sql(dialect=dialect, copy=False, unsupported_level=sqlglot.ErrorLevel.RAISE))


def _compute_once(written: sge.Expression) -> None:
    """Have DuckDB keep what is used twice, if it is more than a scan, instead of computing it twice."""
    for part in written.find_all(sge.CTE):
        if part.this.find(sge.Group, sge.Join, sge.SetOperation, sge.Window) is not None:
            part.set("materialized", True)
