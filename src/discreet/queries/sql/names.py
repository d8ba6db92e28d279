"""Which table or column a name in SQL means.

A quoted name is exact. A name without quotes means the one of exactly its spelling or, failing that,
the only one that differs in upper and lower case alone. What is not found is not repeated: annnnn
undeclared name may be text in the wrong quotes.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data import Schema
from discreet.data.facts.persons import Tables
from discreet.data.language.types import Type, suggestion
from discreet.errors import UndeclaredColumn, UnsupportedQuery

__all__ = ["column_named", "same", "table_named"]


def table_named(name: str, *, quoted: bool, tables: Tables) -> str:
    """Return the declared table that a name means, or say which there are."""
    found = _found(name, quoted, tables)
    if found is None:
        known = suggestion(name, dict.fromkeys(tables, Type.OTHER)) if tables else "none"
        raise UndeclaredColumn(f"there is no such table; known tables: {known}")
    return found


def column_named(name: str, *, quoted: bool, schema: Schema) -> str:
    """Return the column that a name means, or say which there are."""
    found = _found(name, quoted, schema)
    if found is None:
        quotes = "; text is written in single quotes, as in 'x'" if quoted else ""
        raise UndeclaredColumn(f"there is no such column; known columns: {suggestion(name, schema)}{quotes}")
    return found


def same(name: str, *, quoted: bool, other: str) -> bool:
    """Return whether a name means a thing that is called `other`."""
    return name == other or (not quoted and name.lower() == other.lower())


def _found(name: str, quoted: bool, known: Mapping[str, object]) -> str | None:
    if name in known:
        return name
    alike = [] if quoted else [one for one in known if one.lower() == name.lower()]
    if len(alike) > 1:
        raise UnsupportedQuery(
            "a name fits several that differ in upper and lower case alone; "
            "write it in double quotes, in exactly its own case"
        )
    return alike[0] if alike else None
