"""Which table or column a name in SQL means.

A quoted name is exact. A name without quotes means the one of exactly its spelling or, failing that,
the only one that differs in upper and lower case alone. What is not found is repeated only if it was written
without quotes, since an undeclared name in double quotes may be text in the wrong ones, and only without long
numbers, which may belong to a literal that ran into it.

Tables are declared without schemas, so that of ``clinic.visits`` the last part counts. A query in which
two schemas have a table of one name means two tables, of which only one is declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from discreet.data import Schema
from discreet.data.facts.persons import Tables
from discreet.data.language.types import Type, suggestion
from discreet.errors import UndeclaredColumn, UnsupportedQuery

__all__ = ["check_schemas", "column_named", "same", "table_named"]

_LONGEST_WORD = 100
_LONG_NUMBER = re.compile("[0-9]{5}")


def table_named(name: str, *, quoted: bool, tables: Tables) -> str:
    """Return the declared table that a name means, or say which there are."""
    found = _found(name, quoted, tables)
    if found is None:
        known = suggestion(name, dict.fromkeys(tables, Type.OTHER)) if tables else "none"
        raise UndeclaredColumn(f"there is no {_word('table', name, quoted)}; known tables: {known}")
    return found


def column_named(name: str, *, quoted: bool, schema: Schema) -> str:
    """Return the column that a name means, or say which there are."""
    found = _found(name, quoted, schema)
    if found is None:
        quotes = "; text is written in single quotes, as in 'x'" if quoted else ""
        word = _word("column", name, quoted)
        raise UndeclaredColumn(f"there is no {word}; known columns: {suggestion(name, schema)}{quotes}")
    return found


def check_schemas(query: exp.Expression) -> None:
    """Refuse a query that names tables of different schemas that have the same name."""
    known: dict[str, list[tuple[str, ...]]] = {}
    for table in query.find_all(exp.Table):
        parts = (table.args.get("catalog"), table.args.get("db"))
        schema = tuple(part.name.lower() for part in parts if isinstance(part, exp.Expression))
        for other in known.setdefault(table.name.lower(), []):
            shared = min(len(schema), len(other))
            if schema[len(schema) - shared :] != other[len(other) - shared :]:
                raise UnsupportedQuery(
                    "two schemas have a table of the same name, and only one is declared; "
                    "write the declared name of the table alone"
                )
        known[table.name.lower()].append(schema)


def same(name: str, *, quoted: bool, other: str) -> bool:
    """Return whether a name means a thing that is called `other`."""
    return name == other or (not quoted and name.lower() == other.lower())


def _word(kind: str, name: str, quoted: bool) -> str:
    """Name what was not found, unless it may be text in the wrong quotes."""
    plain = not quoted and 0 < len(name) <= _LONGEST_WORD and name.isidentifier()
    return f"{kind} {name!r}" if plain and not _LONG_NUMBER.search(name) else f"such {kind}"


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
