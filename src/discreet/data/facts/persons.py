"""The person of a row: which relations have a person, and which of their columns hold that person.

A person may be one value of a column, or each row may be a separate person. In the second case nothing
shows later that two rows come from one, so anything that makes several rows from one, or one from several, is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from discreet.data.facts.question_tables import found_once
from discreet.data.language.declarations import EACH_ROW
from discreet.data.language.expressions import Column
from discreet.data.language.relations import (
    Derive,
    JoinPersons,
    PerPerson,
    Project,
    Relation,
    Source,
    Union,
    sources,
    sources_of,
    walk_relation,
)
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.errors import UndeclaredColumn, UnsupportedQuery

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["Tables", "check_persons", "has_person", "person_columns", "private_table", "public_alone"]

Tables: TypeAlias = "Mapping[str, Table | PublicTable]"
"""Declared tables by name: private ones, and public ones to join with."""


def private_table(name: str, tables: Tables) -> Table:
    """Return a private table, or refuse an unknown name."""
    found = tables.get(name)
    if isinstance(found, PublicTable):
        raise public_alone()
    if found is None:
        private = sorted(one for one, table in tables.items() if not isinstance(table, PublicTable))
        raise UndeclaredColumn(f"there is no such table; known tables: {', '.join(private) or 'none'}")
    if found._through is not None and found._ownership is None:
        raise UnsupportedQuery(
            "the persons of a table come through another one, and are not known without it; ask a Curator "
            "that has both"
        )
    return found


def public_alone() -> UnsupportedQuery:
    """Return the refusal of a question about public tables alone."""
    return UnsupportedQuery(
        "a public table is asked as if it were private, which would cost budget; "
        "public: read it directly, or JOIN it to a private table"
    )


@found_once
def has_person(relation: Relation, tables: Tables) -> bool:
    """Return whether rows have a person column, instead of each being a separate person."""
    return all(private_table(name, tables).person is not EACH_ROW for name in sources_of(relation))


@found_once
def person_columns(relation: Relation, tables: Tables) -> frozenset[str]:
    """Return the visible columns that hold the person of every row, and nothing else."""
    if isinstance(relation, Source):
        person = private_table(relation.table, tables).person
        return frozenset({person} if isinstance(person, str) else ())
    below = [person_columns(source, tables) for source in sources(relation)]
    if isinstance(relation, Project | Derive):
        calculated = {column.name.lower() for column in relation.columns}
        kept = {name for name in below[0] if name.lower() not in calculated}
        renamed = {
            column.name
            for column in relation.columns
            if isinstance(column.expression, Column) and column.expression.name in below[0]
        }
        return frozenset(renamed if isinstance(relation, Project) else kept | renamed)
    if isinstance(relation, PerPerson):
        return below[0] & frozenset(relation.keys)
    if isinstance(relation, JoinPersons):
        added = () if relation.outer else relation.columns or ()
        return below[0] | {column.left for column in added if column.right in below[1]}
    return frozenset.intersection(*below)


def check_persons(relation: Relation, tables: Tables) -> None:
    """Refuse a relation in which the person of a row is not known.

    A join or a union combines rows of a person from several tables, in which person columns must have values
    of one type.
    """
    names = sources_of(relation)
    kinds = {_person_type(private_table(name, tables)) for name in names}
    if len(kinds) > 1:
        each = ", ".join(f"{name!r}" for name in names)
        raise UnsupportedQuery(
            f"the persons of {each} are of different types, so that persons cannot be matched; "
            "ask about one table, or have their owner declare person columns of one type"
        )
    if has_person(relation, tables):
        return
    for node in walk_relation(relation):
        if isinstance(node, Union):
            read = [name for source in node.sources for name in sources_of(source)]
            if any(one == other for one, other in pairwise(sorted(read))):
                raise no_person("a union of a table with itself")
            if _share_rows([private_table(name, tables) for name in read]):
                raise no_person("a union of tables that read the same rows")
        elif isinstance(node, JoinPersons):
            raise no_person("a join of private tables")


def _share_rows(tables: list[Table]) -> bool:
    """Return whether two of some tables are one, or are known to read the same rows."""
    from discreet.data.tables.origins import overlap

    return len({id(table) for table in tables}) < len(tables) or overlap(table._origins for table in tables)


def no_person(what: str) -> UnsupportedQuery:
    """Return the refusal of something that needs a person column."""
    return UnsupportedQuery(
        f"{what} needs to know which rows belong to one person, and here each row is a separate person; "
        "ask without it, or have the owner declare a person column"
    )


def _person_type(table: Table) -> object:
    """Return what must agree: the type and, for decimals, whose scales differ, the engine's own."""
    if not isinstance(table.person, str):
        return EACH_ROW
    kind = table.schema[table.person]
    return table._relation.schema()[table.person] if kind is Type.DECIMAL else kind
