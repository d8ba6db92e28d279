"""Queries without unused columns of the person.

SQL must list the person in GROUP BY of a subquery, where a dataframe says per_person. One row per person
and keys is the same rows either way; if nothing above reads the column, it is removed, so that both are
one query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from discreet.data.facts.persons import Tables, person_columns
from discreet.data.language.expressions import Expression, columns_of
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Filter,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Project,
    Relation,
    Source,
    Union,
    Window,
)
from discreet.queries.question.query import Query

__all__ = ["prune_person_keys"]


def prune_person_keys(query: Query, tables: Tables) -> Query:
    """Return the query with every person's column that only a subquery's GROUP BY names left out."""
    operands = [one for _, aggregate in query.outputs for one in aggregate.operands]
    needed = _read([*(key.expression for key in query.keys), *operands])
    relation = _trimmed(query.relation, needed, tables)
    return query if relation == query.relation else replace(query, relation=relation)


def _read(expressions: Iterable[Expression]) -> frozenset[str]:
    return frozenset[str]().union(*(columns_of(expression) for expression in expressions))


def _trimmed(relation: Relation, needed: frozenset[str] | None, tables: Tables) -> Relation:
    """Return a relation of which only some columns are read; all, if `needed` is None."""
    if isinstance(relation, Source):
        return relation
    if isinstance(relation, Union):
        return replace(relation, sources=tuple(_trimmed(source, None, tables) for source in relation.sources))
    if isinstance(relation, JoinPersons):
        return _trimmed_join(relation, needed, tables)
    if isinstance(relation, PerPerson):
        if needed is not None:
            idle = person_columns(relation.source, tables) - needed
            relation = replace(relation, keys=tuple(key for key in relation.keys if key not in idle))
        below = frozenset(relation.keys) | {one.column for one in relation.columns if one.column is not None}
    elif isinstance(relation, Project):
        below = _read(column.expression for column in relation.columns)
    elif needed is None:
        return replace(relation, source=_trimmed(relation.source, None, tables))
    else:
        below = needed | _own(relation)
    return replace(relation, source=_trimmed(relation.source, below, tables))


def _own(relation: Filter | Derive | JoinPublic | Distinct | Window) -> frozenset[str]:
    """Return the columns that a relation itself reads."""
    if isinstance(relation, Filter):
        return columns_of(relation.condition)
    if isinstance(relation, Derive):
        return _read(column.expression for column in relation.columns)
    if isinstance(relation, JoinPublic):
        return frozenset(part.left for part in relation.on)
    if isinstance(relation, Window):
        ordered = {part.column for part in relation.order}
        return frozenset({*relation.partition, *ordered, *((relation.column,) if relation.column else ())})
    return frozenset()


def _trimmed_join(relation: JoinPersons, needed: frozenset[str] | None, tables: Tables) -> Relation:
    left = None if needed is None else needed | {part.left for part in relation.on}
    right = frozenset(part.right for part in relation.on)
    if relation.columns is not None:
        right |= {column.right for column in relation.columns}
    elif needed is None:
        return replace(
            relation, left=_trimmed(relation.left, None, tables), right=_trimmed(relation.right, None, tables)
        )
    else:
        right |= needed - person_columns(relation.right, tables)
    return replace(
        relation, left=_trimmed(relation.left, left, tables), right=_trimmed(relation.right, right, tables)
    )
