"""FULL JOIN of private tables, and LEFT JOIN with conditions about both sides: within one person.

A FULL JOIN B ON p is A LEFT JOIN B ON p and, under it, the rows of B that match none of A, with NULL in the
columns of A. All of them are a person's own rows. The column that USING makes one holds what either side has.

A LEFT JOIN B ON p AND q, where q is about A or about both, numbers the rows of A within their person, joins
and filters them, and joins what is left of B back to the numbers: a row of A that finds nothing stays once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from discreet.data import literal
from discreet.data.facts.persons import Tables
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.expressions import Column, Expression, IsNull
from discreet.data.language.relations import (
    Equality,
    JoinPersons,
    Named,
    Order,
    PerPerson,
    Project,
    Relation,
    Union,
    Window,
    WindowFunction,
)
from discreet.data.language.types import Type
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import filtered
from discreet.queries.sql.syntax.names import same
from discreet.queries.sql.syntax.refusals import refused
from discreet.queries.sql.tables.join_order import Placed
from discreet.queries.sql.tables.join_steps import JoinKind
from discreet.queries.sql.tables.joins import PublicItem, equated_fields, join_rows, without_person
from discreet.queries.sql.tables.scope import Field, Scope, is_quoted

__all__ = ["full_join", "join_under_conditions", "numbered_rows"]

_LONE = (
    "rows of a public table that match nobody belong to nobody; write LEFT JOIN with the private rows first"
)


def full_join(left: Scope | PublicItem, right: Scope | PublicItem, join: exp.Join, tables: Tables) -> Scope:
    """Return the rows of a FULL JOIN of private tables, by columns that are equal, the persons among them."""
    if not isinstance(left, Scope) or not isinstance(right, Scope):
        raise refused("FULL JOIN with a public table", _LONE)
    pairs = equated_fields(join, left, right)
    further = without_person(pairs, left, right, tables)
    taken: set[str] = set()
    sides = [_comparable(scope, tables) for scope in (left, right)]
    names = [{field: take_name(field.name, taken) for field in fields} for fields in sides]
    merged = [(one, other, take_name(one.name, taken)) for one, other in pairs if _is_used(one, other, join)]
    on = tuple(Equality(left=one.column, right=other.column) for one, other in further)
    brought = tuple(Equality(left=f"{names[1][field]} of right", right=field.column) for field in sides[1])
    both = JoinPersons(left=left.relation, right=right.relation, on=on, columns=brought, outer=True)
    first = [
        *(_named(names[0][field], field.column) for field in sides[0]),
        *(_named(names[1][field], f"{names[1][field]} of right") for field in sides[1]),
        *(_named(name, one.column) for one, _, name in merged),
    ]
    lone = _unmatched(right.relation, left.relation, pairs, further)
    lost = tuple(Equality(left=f"{names[0][field]} of left", right=field.column) for field in sides[0])
    nothing = filtered(left.relation, literal(False))
    alone = JoinPersons(left=lone, right=nothing, columns=lost, outer=True)
    second = [
        *(_named(names[0][field], f"{names[0][field]} of left") for field in sides[0]),
        *(_named(names[1][field], field.column) for field in sides[1]),
        *(_named(name, other.column) for _, other, name in merged),
    ]
    relation = Union(
        sources=(
            Project(source=both, columns=tuple(first)),
            Project(source=alone, columns=tuple(second)),
        )
    )
    used = {field for one, other, _ in merged for field in (one, other)}
    fields = [Field(table="", name=one.name, column=name) for one, _, name in merged]
    fields += [
        replace(field, column=listed[field], qualified=field.qualified or field in used)
        for side, listed in zip(sides, names, strict=True)
        for field in side
    ]
    return Scope(relation=relation, fields=tuple(fields))


def numbered_rows(relation: Relation, tables: Tables) -> tuple[Window, str]:
    """Return rows with a number within their person, by which rows that differ are told apart."""
    known = columns_of_relation(relation, tables)
    ordered = [name for name, facts in known.items() if facts.type not in {Type.OTHER, Type.NULL}]
    if not ordered:
        raise refused("a condition about rows that cannot be compared", "select a column that can")
    number = take_name("row", {name.lower() for name in known})
    window = Window(
        source=relation,
        name=number,
        function=WindowFunction.ROW_NUMBER,
        order=(Order(column=ordered[0]),),
    )
    return window, number


def join_under_conditions(
    left: Scope,
    placed: Placed,
    select: exp.Select,
    tables: Tables,
    condition: Callable[[exp.Expression, Scope], Expression],
) -> Scope:
    """Return the rows of a LEFT, SEMI or ANTI JOIN whose ON has conditions about both sides."""
    window, number = numbered_rows(left.relation, tables)
    calling = select.copy()
    said = [node.copy() for node in placed.rest]
    where = calling.args.get("where")
    calling.set("where", exp.Where(this=exp.and_(*said, *([] if where is None else [where.this]))))
    inner = placed.join.copy()
    inner.set("side", None)
    met = join_rows(Scope(relation=window, fields=left.fields), inner, placed.rows, calling, tables)
    relation = met.relation
    for node in placed.rest:
        relation = filtered(relation, condition(node, met))
    on = (Equality(left=number, right=number),)
    if placed.kind is JoinKind.SEMI:
        found = PerPerson(source=relation, keys=(number,), columns=())
        return Scope(relation=JoinPersons(left=window, right=found, on=on), fields=left.fields)
    taken = {name.lower() for name in columns_of_relation(window, tables)}
    added = met.fields[len(left.fields) :]
    names = {column: take_name(column, taken) for column in dict.fromkeys(field.column for field in added)}
    brought = tuple(Equality(left=name, right=column) for column, name in names.items())
    joined = JoinPersons(left=window, right=relation, on=on, columns=brought, outer=True)
    fields = (*left.fields, *(replace(field, column=names[field.column]) for field in added))
    return Scope(relation=joined, fields=fields)


def _unmatched(
    rows: Relation,
    others: Relation,
    pairs: list[tuple[Field, Field]],
    further: list[tuple[Field, Field]],
) -> Relation:
    """Return the rows of the right that no row of the left matches."""
    keys = tuple(dict.fromkeys(one.column for one, _ in pairs))
    met = PerPerson(source=others, keys=keys, columns=())
    on = tuple(Equality(left=other.column, right=one.column) for one, other in further)
    flag = "matched by left"
    joined = JoinPersons(
        left=rows, right=met, on=on, columns=(Equality(left=flag, right=keys[0]),), outer=True
    )
    return filtered(joined, IsNull(operand=Column(name=flag)))


def _comparable(scope: Scope, tables: Tables) -> list[Field]:
    """Return the columns in sight that can stand under each other."""
    known = columns_of_relation(scope.relation, tables)
    return [field for field in scope.fields if known[field.column].type not in {Type.OTHER, Type.NULL}]


def _is_used(one: Field, other: Field, join: exp.Join) -> bool:
    return one.name.lower() == other.name.lower() and any(
        same(name.name, quoted=is_quoted(name), other=one.name) for name in join.args.get("using") or ()
    )


def _named(name: str, column: str) -> Named:
    return Named(name=name, expression=Column(name=column))
