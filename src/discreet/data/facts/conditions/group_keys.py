"""The keys of a query: declared, implied or listed by its own conditions, without those no row can have.

The key is followed down the relation, through calculations, to every filter and join that its rows have
passed. What is learned there depends only on the query, on declarations and on public tables.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TypeAlias

from discreet.data.facts.conditions.joined_narrowing import PublicSide, equated_columns, rewritten
from discreet.data.facts.conditions.key_narrowing import Narrowing, conjuncts_of, replaced
from discreet.data.facts.inferred import completed
from discreet.data.facts.joins import public_table
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

__all__ = ["LARGEST_USUAL", "facts_of_keys"]

LARGEST_USUAL = 4096
"""How many numbers that are counted of each person may serve as keys: more lines than that nobody reads."""


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
        else _known(key, columns[key.name], relation, tables)
        for key in keys
    }


def _known(key: Named, facts: ColumnFacts, relation: Relation, tables: Tables) -> ColumnFacts:
    """Return the facts of a key with what conditions say of it; what is counted of each person has few keys.

    A number or a sum of a person's rows is a key up to what a person within the limits of every table can
    have. Persons with more are in no group, as with any other key.
    """
    found = _narrowed(key, facts, relation, tables)
    if (
        found.keys is not None
        or facts.usual is None
        or facts.usual.upper_steps - facts.usual.lower_steps > LARGEST_USUAL
    ):
        return found
    counted = completed(replace(facts, bounds=facts.usual)).keys
    return found if counted is None else _narrowed(key, replace(facts, keys=counted), relation, tables)


def _narrowed(key: Named, facts: ColumnFacts, relation: Relation, tables: Tables) -> ColumnFacts:
    narrowing = Narrowing()
    _follow(narrowing, key.expression, relation, tables)
    values = narrowing.of(facts.keys)
    if values is None or (facts.keys is not None and tuple(values) == facts.keys.values):
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


def _follow(
    narrowing: Narrowing,
    expression: Expression,
    relation: Relation,
    tables: Tables,
    conditions: Sequence[Expression] = (),
) -> None:
    """Learn from everything below what an expression over a relation can be.

    All `conditions`, in the columns of the relation, are TRUE of the rows that matter.
    """
    while True:
        if isinstance(relation, Filter):
            columns = columns_of_relation(relation.source, tables)
            narrowing.under(relation.condition, expression, columns)
            conditions = [*conditions, *conjuncts_of(relation.condition)]
        elif isinstance(relation, Project | Derive):
            meanings: dict[Expression, Expression] = {
                Column(name=one.name): one.expression for one in relation.columns
            }
            try:
                expression = replaced(expression, meanings)
            except UnsupportedQuery:  # written out it would be too long
                return
            conditions = rewritten(conditions, meanings, columns_of_relation(relation.source, tables))
        elif isinstance(relation, JoinPublic | JoinPersons):
            below = _joined(narrowing, expression, relation, tables, conditions)
            if below is None:
                return
            expression, relation, conditions = below
            continue
        elif isinstance(relation, PerPerson):
            if not columns_of(expression) <= set(relation.keys):
                return
            conditions = [one for one in conditions if columns_of(one) <= set(relation.keys)]
        elif isinstance(relation, Window):
            if relation.name in columns_of(expression):
                return
            conditions = [one for one in conditions if relation.name not in columns_of(one)]
        elif not isinstance(relation, Distinct):
            return
        relation = relation.source


_Side: TypeAlias = tuple[Expression, Relation, Sequence[Expression]]


def _joined(
    narrowing: Narrowing,
    expression: Expression,
    relation: JoinPublic | JoinPersons,
    tables: Tables,
    conditions: Sequence[Expression],
) -> _Side | None:
    """Learn from what a join equates; return the side that an expression is of, if rows of it were met."""
    left = relation.source if isinstance(relation, JoinPublic) else relation.left
    known, read = columns_of_relation(left, tables), columns_of(expression)
    of_left = read <= known.keys()
    if of_left and not relation.outer:
        for part in relation.on:
            if expression == Column(name=part.left):
                _equated(narrowing, known[part.left], relation, part.right, tables)
    if relation.outer:
        return (expression, left, rewritten(conditions, {}, known)) if of_left else None
    if isinstance(relation, JoinPublic):
        PublicSide.of(relation, known, tables).teach(narrowing, expression, conditions)
        others = {name: public_table(relation.table, tables).facts(name) for name in _right_of(relation)}
    else:
        others = dict(columns_of_relation(relation.right, tables))
    equal = equated_columns(relation, known, others)
    of_equal: dict[Expression, Expression] = {
        Column(name=seen): Column(name=name) for name, _, seen in equal if seen is not None
    }
    conditions_of_left = rewritten(conditions, of_equal, known)
    if of_left:
        for one in conditions_of_left:
            narrowing.under(one, expression, known)
        if isinstance(relation, JoinPersons):
            for name, other, _ in equal:
                if expression == Column(name=name):
                    _follow(narrowing, Column(name=other), relation.right, tables)
        return expression, left, conditions_of_left
    if read & known.keys():
        return None
    equal_on_left = of_equal, left, conditions_of_left
    return _on_the_right(narrowing, expression, relation, tables, conditions=conditions, equal=equal_on_left)


def _on_the_right(
    narrowing: Narrowing,
    expression: Expression,
    relation: JoinPublic | JoinPersons,
    tables: Tables,
    *,
    conditions: Sequence[Expression],
    equal: tuple[dict[Expression, Expression], Relation, Sequence[Expression]],
) -> _Side | None:
    """Learn about a column that a join adds; return its side, if that is private."""
    of_equal, left, conditions_of_left = equal
    added, read = relation.columns, columns_of(expression)
    names = {name: name for name in read} if added is None else {one.left: one.right for one in added}
    for part in relation.on:
        if isinstance(expression, Column) and names.get(expression.name) == part.right:
            narrowing.present()
    if expression in of_equal:
        _follow(narrowing, of_equal[expression], left, tables, conditions_of_left)
    if isinstance(relation, JoinPublic):
        return None
    meanings: dict[Expression, Expression] = {
        Column(name=name): Column(name=names[name]) for name in read if name in names
    }
    right = columns_of_relation(relation.right, tables)
    if added is not None:
        below = rewritten(conditions, {Column(name=one.left): Column(name=one.right) for one in added}, right)
    else:
        below = []
    return replaced(expression, meanings), relation.right, below


def _right_of(relation: JoinPublic) -> set[str]:
    return {part.right for part in relation.on}


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
