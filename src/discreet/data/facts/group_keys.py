"""The keys of a query: declared, implied or listed by its own conditions, without those no row can have.

The key is followed down the relation, through calculations, to every filter and join that its rows have
passed. What is learned there depends only on the query, on declarations and on public tables.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from discreet.data.facts.joins import public_table
from discreet.data.facts.key_narrowing import Narrowing, replaced
from discreet.data.facts.persons import Tables, person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import ColumnFacts, Columns
from discreet.data.language.declarations import Keys
from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Filter,
    JoinPersons,
    JoinPublic,
    Named,
    PerPerson,
    Project,
    Relation,
    Window,
)
from discreet.errors import ParameterError, UnsupportedQuery

__all__ = ["facts_of_keys"]


def facts_of_keys(
    relation: Relation, keys: Sequence[Named], listed: Container[str], tables: Tables
) -> Columns:
    """Return what is public about the keys of a query, by their names.

    Keys that conditions rule out are not among those of a column; where none were declared, those that
    conditions list are. A person column has none.

    Parameters
    ----------
    relation : Relation
        The rows that are grouped.
    keys : sequence of Named
        What they are grouped by.
    listed : container of names
        Keys whose values the query itself lists: these are taken as they are.
    tables : mapping of names to tables
        What is declared.

    Raises
    ------
    UnsupportedQuery
        If conditions leave nothing of declared keys, so that no row could be in a group.
    """
    if not keys:
        return {}
    grouped = Project(source=relation, columns=tuple(keys))
    columns, persons = columns_of_relation(grouped, tables), person_columns(grouped, tables)
    settled = {name for name in persons if columns[name].keys is None}
    return {
        key.name: columns[key.name]
        if key.name in settled or key.name in listed
        else _narrowed(key, columns[key.name], relation, tables)
        for key in keys
    }


def _narrowed(key: Named, facts: ColumnFacts, relation: Relation, tables: Tables) -> ColumnFacts:
    narrowing = Narrowing()
    _follow(narrowing, key.expression, relation, tables)
    values = narrowing.of(facts.keys)
    if values is None:
        return facts
    if not values:
        raise UnsupportedQuery(
            f"the conditions leave none of the keys of {key.name!r}, so that every group would be empty; "
            "ask about others, or without GROUP BY"
        )
    try:
        return replace(facts, keys=Keys(values))
    except ParameterError:  # NULL alone
        return facts


def _follow(narrowing: Narrowing, expression: Expression, relation: Relation, tables: Tables) -> None:
    """Learn from everything below what an expression over a relation can be."""
    while True:
        if isinstance(relation, Filter):
            columns = columns_of_relation(relation.source, tables)
            narrowing.under(relation.condition, expression, columns)
        elif isinstance(relation, Project | Derive):
            try:
                expression = replaced(
                    expression, {Column(name=one.name): one.expression for one in relation.columns}
                )
            except UnsupportedQuery:  # written out it would be too long
                return
        elif isinstance(relation, JoinPublic | JoinPersons):
            below = _joined(narrowing, expression, relation, tables)
            if below is None:
                return
            expression, relation = below
            continue
        elif isinstance(relation, PerPerson):
            if not columns_of(expression) <= set(relation.keys):
                return
        elif isinstance(relation, Window):
            if relation.name in columns_of(expression):
                return
        elif not isinstance(relation, Distinct):
            return
        relation = relation.source


def _joined(
    narrowing: Narrowing, expression: Expression, relation: JoinPublic | JoinPersons, tables: Tables
) -> tuple[Expression, Relation] | None:
    """Learn from what a join equates; return the side that an expression is of, if rows of it were met."""
    left = relation.source if isinstance(relation, JoinPublic) else relation.left
    known, read = columns_of_relation(left, tables), columns_of(expression)
    if read <= known.keys():
        if not relation.outer:
            for part in relation.on:
                if expression == Column(name=part.left):
                    _equated(narrowing, known[part.left], relation, part.right, tables)
        return expression, left
    if relation.outer or read & known.keys():
        return None
    added = relation.columns
    names = {name: name for name in read} if added is None else {one.left: one.right for one in added}
    for part in relation.on:
        if isinstance(expression, Column) and names.get(expression.name) == part.right:
            narrowing.present()
    if isinstance(relation, JoinPublic):
        return None
    meanings: dict[Expression, Expression] = {
        Column(name=name): Column(name=names[name]) for name in read if name in names
    }
    return replaced(expression, meanings), relation.right


def _equated(
    narrowing: Narrowing,
    left: ColumnFacts,
    relation: JoinPublic | JoinPersons,
    right: str,
    tables: Tables,
) -> None:
    """Learn that a column equals one of the other side, which is not NULL."""
    narrowing.present()
    if isinstance(relation, JoinPublic):
        other = public_table(relation.table, tables).facts(right)
        if other.type is left.type and other.keys is not None:
            narrowing.among(other.keys)
