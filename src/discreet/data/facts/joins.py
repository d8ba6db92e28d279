"""What is public about joins: which columns are equated, which are added, whether rows can multiply."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.data.facts.merged_columns import check_together
from discreet.data.facts.persons import Tables
from discreet.data.language.column_facts import ColumnFacts, Columns, types_of
from discreet.data.language.public_rows import PublicRows
from discreet.data.language.relations import Equality, JoinPublic
from discreet.data.language.types import Type, column_type
from discreet.data.tables.public_rows import table_of_rows
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UndeclaredColumn, UnsupportedQuery
from discreet.records import dataclass

__all__ = [
    "Added",
    "added_columns",
    "as_floats",
    "check_equalities",
    "is_unique_join",
    "most_matches",
    "public_table",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The columns of a public table, and those that a join adds."""

    known: dict[str, ColumnFacts]
    columns: tuple[Equality, ...]


def public_table(name: str | PublicRows, tables: Tables) -> PublicTable:
    """Return a public table or, of public rows, one that holds them; refuse an unknown name."""
    if isinstance(name, PublicRows):
        return table_of_rows(name)
    found = tables.get(name)
    if isinstance(found, PublicTable):
        return found
    public = sorted(one for one, table in tables.items() if isinstance(table, PublicTable))
    if found is None:
        raise UndeclaredColumn(
            f"there is no such public table; known public tables: {', '.join(public) or 'none'}"
        )
    raise UnsupportedQuery(
        "a private table is joined as if it were public; join it on the person, who must be equal on "
        f"both sides; in Python, join(clinic.table({name!r}))"
    )


def added_columns(relation: JoinPublic, tables: Tables) -> Added:
    """Return what a join with a public table adds: by default all columns that are not equated."""
    public = public_table(relation.table, tables)
    equated = {part.right for part in relation.on}
    added = relation.columns
    if added is None:
        added = tuple(Equality(left=name, right=name) for name in public.schema if name not in equated)
    needed = {column.right for column in added}
    known = {
        name: public.facts(name) if name in needed else ColumnFacts(type=kind)
        for name, kind in public.schema.items()
    }
    return Added(known=known, columns=added)


def check_equalities(on: Iterable[Equality], left: Columns, right: Columns) -> None:
    """Refuse columns that do not exist, or that cannot be equal."""
    for part in on:
        kinds = (column_type(part.left, types_of(left)), column_type(part.right, types_of(right)))
        if Type.OTHER in kinds or not (kinds[0] is kinds[1] or all(kind.is_number for kind in kinds)):
            raise UnsupportedQuery(
                f"a join equates {kinds[0].value} with {kinds[1].value}; equate columns of one type"
            )

        check_together((left[part.left], right[part.right]), "a join equates")


def as_floats(left: Type, right: Type) -> bool:
    """Return whether two columns are compared as doubles: only if one of them holds doubles."""
    return Type.FLOAT in (left, right)


def is_unique_join(relation: JoinPublic, columns: Columns, tables: Tables) -> bool:
    """Return whether every row finds at most one row of the public table, by the content of that table."""
    return most_matches(relation, columns, tables) <= 1


def most_matches(relation: JoinPublic, columns: Columns, tables: Tables) -> int:
    """Return how many rows of the public table one row finds at most, by the content of that table."""
    public = public_table(relation.table, tables)
    return public.most_equal(
        (part.right, as_floats(columns[part.left].type, public.schema[part.right])) for part in relation.on
    )
