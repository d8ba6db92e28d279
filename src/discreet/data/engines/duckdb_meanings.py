"""Whether statements mean on a connection to DuckDB what they mean on a fresh one."""

from __future__ import annotations

from contextlib import closing
from functools import cache

import duckdb
import ibis

from discreet.errors import ParameterError

__all__ = ["check_meanings"]

_OF_MEANING = (
    "Calendar",
    "TimeZone",
    "active_grammar_extensions",
    "allow_parser_override_extension",
    "current_dialect",
    "default_collation",
    "default_null_order",
    "default_order",
    "dialect_compatibility_mode",
    "disable_timestamptz_casts",
    "error_on_division_by_zero",
    "ieee_floating_point_ops",
    "integer_division",
    "legacy_disable_null_type",
    "old_implicit_casting",
    "order_by_non_integer_literal",
    "preserve_identifier_case",
    "regex_match_operator_semantics",
    "scalar_subquery_error_on_multiple_rows",
)
"""The settings that change what a statement means. A version of DuckDB need not have all of them."""


def check_meanings(backend: ibis.BaseBackend) -> None:
    """Refuse a connection that gives statements another meaning than a fresh one does.

    Its settings and macros belong to the user who opened it, and may be locked, so they are not changed here.
    A macro takes precedence over the function or operator of its name, in every statement.
    """
    shadowing = sorted(_functions(backend.con, "NOT internal") & _usual_functions())
    if shadowing:
        raise ParameterError(
            "source",
            f"is a table of a connection with macros in place of {', '.join(shadowing)}",
            "a connection whose macros do not replace functions",
        )
    found, usual = _settings(backend.con), _usual_settings()
    changed = sorted(name for name in found if found[name] != usual.get(name, found[name]))
    if changed:
        raise ParameterError(
            "source",
            f"is a table of a connection that sets {', '.join(changed)}",
            "a connection that leaves this setting as it is",
        )


@cache
def _usual_settings() -> dict[str, object]:
    with closing(ibis.duckdb.connect().con) as connection:
        return _settings(connection)


@cache
def _usual_functions() -> frozenset[str]:
    with closing(ibis.duckdb.connect().con) as connection:
        return _functions(connection, "internal")


def _functions(connection: duckdb.DuckDBPyConnection, condition: str) -> frozenset[str]:
    """Return names of functions, in small letters. The statement calls none that could be a macro."""
    rows = connection.execute(f"SELECT function_name FROM duckdb_functions() WHERE {condition}")  # noqa: S608
    return frozenset(name.lower() for (name,) in rows.fetchall())


def _settings(connection: duckdb.DuckDBPyConnection) -> dict[str, object]:
    rows = connection.execute(
        "SELECT name, value FROM duckdb_settings() WHERE list_contains(?, name)", [list(_OF_MEANING)]
    ).fetchall()
    return {name: "" if value in {None, "binary"} else value for name, value in rows}
