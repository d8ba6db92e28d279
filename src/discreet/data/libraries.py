"""The libraries that tables are read with: DuckDB, Ibis, Arrow, sqlglot. The extra ``tables`` brings them.

Accounting, mechanisms and audits need none of them, so that they can be left out. The packages that are
written in Ibis load this module first, so that whoever opens a table without them reads what to install.
"""

from __future__ import annotations

from importlib.util import find_spec

from discreet.errors import MissingExtra

__all__ = ["require_libraries"]

LIBRARIES = ("duckdb", "ibis", "pyarrow", "sqlglot")


def require_libraries() -> None:
    """Refuse if a library for tables is not installed; none is loaded by this.

    Raises
    ------
    MissingExtra
        With the first library that is missing.
    """
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise MissingExtra(library, "tables")
