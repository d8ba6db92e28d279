"""Columns that lead to a person without naming one: keys of parent rows, by what owners declared.

If ``lineitem`` belongs to persons through ``orders``, rows of both with the same order are rows of one
person, and so are two rows of ``lineitem``. A join that equates such columns is a join within a person, as it
is written. What is true of equal keys holds of columns that are renamed, selected or joined along.

Nothing about privacy rests on this: `JoinPersons` equates persons in any case. It says when that leaves out
nothing which the join has. (Proof: ownership, lemma 3.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from discreet.data.facts.persons import Tables, person_columns, private_table
from discreet.data.facts.question_tables import found_once
from discreet.data.language.expressions import Column
from discreet.data.language.relations import (
    Derive,
    JoinPersons,
    PerPerson,
    Project,
    Relation,
    Source,
    sources,
)
from discreet.data.tables.table import Table
from discreet.records import dataclass

__all__ = [
    "ForeignKey",
    "are_of_one_person",
    "foreign_keys",
    "parents_of",
    "shared_key",
    "tell_persons_apart",
]

_MOST_SPELLINGS = 64
"""A key whose columns have more names than this in one relation is known by these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """Columns that hold the key of a parent row, or the parent row's own key.

    Attributes
    ----------
    table : str
        The table of the parent rows.
    key : tuple of str
        The columns of the key there.
    columns : tuple of str
        The same here, in the same order.
    optional : bool
        Whether an outer join brought it, so that it may be NULL.
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    optional: bool = False


@found_once
def foreign_keys(relation: Relation, tables: Tables) -> frozenset[ForeignKey]:
    """Return the keys of parent rows that a relation holds: who has one row with such a key has all."""
    if isinstance(relation, Source):
        return frozenset(_declared(relation.table, tables))
    below = [foreign_keys(source, tables) for source in sources(relation)]
    if isinstance(relation, Project | Derive):
        calculated = {column.name.lower() for column in relation.columns}
        names = {
            column: [] if isinstance(relation, Project) or column.lower() in calculated else [column]
            for one in below[0]
            for column in one.columns
        }
        for column in relation.columns:
            if isinstance(column.expression, Column) and column.expression.name in names:
                names[column.expression.name].append(column.name)
        return frozenset(_called(below[0], names))
    if isinstance(relation, PerPerson):
        return frozenset(one for one in below[0] if set(one.columns) <= set(relation.keys))
    if isinstance(relation, JoinPersons):
        right = _called(below[1], _brought(relation, tables))
        return below[0] | frozenset(replace(one, optional=True) if relation.outer else one for one in right)
    return frozenset.intersection(*below)


def are_of_one_person(
    pairs: Iterable[tuple[str, str]], left: frozenset[ForeignKey], right: frozenset[ForeignKey]
) -> bool:
    """Return whether rows that are equal in pairs of columns are of one person: a whole key is equal."""
    equal = set(pairs)
    return any(
        set(zip(one.columns, other.columns, strict=True)) <= equal
        for one in left
        for other in right
        if (one.table, one.key) == (other.table, other.key)
    )


def tell_persons_apart(columns: Iterable[str], relation: Relation, tables: Tables) -> bool:
    """Return whether rows that are equal in some columns are of one person.

    They are if the person is among them, or a whole key that is never NULL because of an outer join.
    """
    chosen = set(columns)
    if person_columns(relation, tables) & chosen:
        return True
    keys = foreign_keys(relation, tables)
    return any(set(one.columns) <= chosen and not one.optional for one in keys)


def shared_key(
    left: frozenset[ForeignKey], right: frozenset[ForeignKey]
) -> tuple[tuple[str, str], ...] | None:
    """Return columns of either side that would have to be equal for rows to be of one person, if any are."""
    found = sorted(
        tuple(zip(one.columns, other.columns, strict=True))
        for one in left
        for other in right
        if (one.table, one.key) == (other.table, other.key)
    )
    return found[0] if found else None


def parents_of(name: str, tables: Tables) -> frozenset[str]:
    """Return the tables through which the rows of a table have their persons."""
    table = tables.get(name)
    if not isinstance(table, Table) or table._through is None:
        return frozenset()
    parent = table._through.table
    return frozenset({parent}) | parents_of(parent, tables)


def _declared(name: str, tables: Tables) -> Iterator[ForeignKey]:
    """Yield the keys of a table: those that others refer to, and those of its parents that it holds."""
    table = private_table(name, tables)
    for other in tables.values():
        through = other._through if isinstance(other, Table) else None
        if through is not None and through.table == name:
            yield ForeignKey(table=name, key=through.to, columns=through.to)
    if table._through is not None:
        names = {there: [here] for here, there in zip(table._through.on, table._through.to, strict=True)}
        yield from _called(_declared(table._through.table, tables), names)


def _called(keys: Iterable[ForeignKey], names: Mapping[str, list[str]]) -> Iterator[ForeignKey]:
    """Yield keys under the new names of their columns, those of which a column is lost left out."""
    for one in keys:
        spellings = product(*(names.get(column, ()) for column in one.columns))
        for columns, _ in zip(spellings, range(_MOST_SPELLINGS), strict=False):
            yield replace(one, columns=columns)


def _brought(relation: JoinPersons, tables: Tables) -> dict[str, list[str]]:
    """Return what columns of the right are called in a join, also as those of the left that equal them."""
    names: dict[str, list[str]] = {}
    if relation.columns is not None:
        for column in relation.columns:
            names.setdefault(column.right, []).append(column.left)
    else:
        hidden = {part.right for part in relation.on} | person_columns(relation.right, tables)
        held = {column for one in foreign_keys(relation.right, tables) for column in one.columns}
        names = {column: [column] for column in held - hidden}
    if not relation.outer:
        for part in relation.on:
            names.setdefault(part.right, []).append(part.left)
    return names
