"""What a subquery inside an expression is about: its own rows, and how they are connected to the row around.

With v the row around it and d a row inside, what WHERE says inside is cut at every AND: what is about d
alone filters the rows inside, columns of d and v that are equal are pairs, and what is left is about both. A
name means a column inside, and only failing that one around: as in SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from discreet.data.facts.persons import Tables
from discreet.data.language.expressions import Expression
from discreet.queries.sql.formulas.expressions import unwrapped
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.join_steps import JoinStep, owners
from discreet.queries.sql.tables.joins import PublicItem, conjuncts
from discreet.queries.sql.tables.public_subquery import calculated_item, public_items
from discreet.queries.sql.tables.scope import Field, FoundColumn, Scope
from discreet.records import dataclass

__all__ = [
    "EqualPair",
    "Inside",
    "RowReader",
    "aggregates",
    "columns_in",
    "is_about_row",
    "read_inside",
    "select_of",
]

GROUPED = ("group", "having", "qualify", "windows")
_PARTS = ("expressions", "from", "joins", "where", "distinct", "with", "limit")


class RowReader(Protocol):
    """What reads FROM and WHERE: `from_clause.FromClause`."""

    tables: Tables

    def within(self, query: exp.Expression) -> RowReader:
        """Return a reader that also knows the queries of WITH."""

    def steps(self, select: exp.Select) -> list[JoinStep]:
        """Return FROM as it was written."""

    def joined(self, steps: Sequence[JoinStep], select: exp.Select) -> Scope:
        """Return the rows of these steps that WHERE lets pass."""

    def table(self, node: exp.Table) -> Scope | PublicItem:
        """Return what a table in FROM is."""

    def condition(self, node: exp.Expression, scope: Scope) -> Expression:
        """Return what a condition means over some rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualPair:
    """A column around that equals one inside."""

    around: str
    within: Field


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inside:
    """What a subquery is about.

    Attributes
    ----------
    rows : Scope or PublicItem
        Its rows that meet what is said about them alone.
    fields : tuple of Field
        The columns inside, by the names that they have there.
    pairs : tuple of EqualPair
        What is equal besides.
    rest : tuple of sqlglot expressions
        Further conditions about both; columns around it are `FoundColumn`.
    compared : tuple of EqualPair or sqlglot expression
        For every operand of IN, the pair or the further condition that it became.
    """

    rows: Scope | PublicItem
    fields: tuple[Field, ...]
    pairs: tuple[EqualPair, ...]
    rest: tuple[exp.Expression, ...] = ()
    compared: tuple[EqualPair | exp.Expression, ...] = ()


def read_inside(
    query: exp.Select, operands: Sequence[exp.Expression], around: Scope, rows: RowReader
) -> Inside:
    """Return what a subquery is about, or refuse it.

    Parameters
    ----------
    query : sqlglot Select
        The subquery.
    operands : sequence of sqlglot expressions
        What IN compares with its columns, in order; of EXISTS, nothing.
    around : Scope
        The rows around it.
    rows : RowReader
        What reads the rows inside.
    """
    select = query.copy()
    check_parts(select, *_PARTS)
    if select.args.get("limit") is not None and operands:
        raise refused("LIMIT in a subquery", "leave it out: every row of the subquery counts")
    reader = rows.within(select)
    steps = reader.steps(select)
    where = select.args.get("where")
    said = [] if where is None else [node.copy() for node in conjuncts(where.this)]
    outer = [_found(node.copy(), (), around) for node in operands]
    items = _items(select, steps, len(operands))
    asked = [exp.EQ(this=one, expression=x) for one, x in zip(items, outer, strict=True)]
    both: list[exp.Expression] = []
    local: list[exp.Expression] = []
    for node in (*said, *asked):
        one = _found(node, steps, around)
        (both if _is_about_both(one) else local).append(one)
    select.set("where", exp.Where(this=exp.and_(*local, copy=False)) if local else None)
    inside: Scope | PublicItem
    fields: tuple[Field, ...]
    if all(isinstance(step.item.rows, PublicItem) for step in steps):
        inside, fields = _public(select, both, steps, reader)
    else:
        inside = reader.joined(steps, select)
        fields = inside.fields
    read = [_pair(node, fields) or node for node in both]
    return Inside(
        rows=inside,
        fields=fields,
        pairs=tuple(dict.fromkeys(one for one in read if isinstance(one, EqualPair))),
        rest=tuple(one for one in read if not isinstance(one, EqualPair)),
        compared=tuple(read[len(read) - len(asked) :]) if len(asked) <= len(read) else (),
    )


def is_about_row(query: exp.Select, around: Scope, rows: RowReader) -> bool:
    """Return whether WHERE of a subquery names a column of the row around it."""
    where = query.args.get("where")
    if where is None or not (query.args.get("from_") or query.args.get("from")):
        return False
    select = query.copy()
    steps = rows.within(select).steps(select)
    return _is_about_both(_found(select.args["where"].this, steps, around))


def select_of(node: exp.Expression) -> exp.Select | None:
    """Return the SELECT in some parentheses that takes rows as they are; None of others."""
    while isinstance(node, exp.Subquery):
        check_parts(node, "this")
        node = node.this
    if not isinstance(node, exp.Select) or any(node.args.get(part) for part in GROUPED):
        return None
    return None if aggregates(node) else node


def aggregates(select: exp.Select) -> bool:
    """Return whether an item of SELECT aggregates rows."""
    return any(
        one.find_ancestor(exp.Select) is select
        for item in select.expressions
        for one in item.find_all(exp.AggFunc)
    )


def columns_in(node: exp.Expression) -> Iterator[exp.Column]:
    """Yield the columns that a condition names outside subqueries."""
    for one in node.walk(prune=lambda part: isinstance(part, exp.Query)):
        if isinstance(one, exp.Column):
            yield one


def _is_about_both(node: exp.Expression) -> bool:
    return any(isinstance(one, FoundColumn) for one in columns_in(node))


def _found(node: exp.Expression, steps: Sequence[JoinStep], around: Scope) -> exp.Expression:
    """Return an expression in which the columns around it, which nothing inside is called, are found."""
    nested = {id(part) for query in node.find_all(exp.Query) for part in query.walk()}

    def found(one: exp.Expression) -> exp.Expression:
        if id(one) in nested or type(one) is not exp.Column or owners(one, steps) or not around.has(one):
            return one
        return FoundColumn.of(around.field(one).column)

    read: exp.Expression = node.transform(found, copy=False)
    return read


def _items(select: exp.Select, steps: Sequence[JoinStep], wanted: int) -> list[exp.Expression]:
    """Return the columns of a subquery that IN compares."""
    if not wanted:
        return []
    items = [one.this if isinstance(one, exp.Alias) else one for one in select.expressions]
    if len(items) == 1 and isinstance(items[0], exp.Star):
        items = [_named(field) for step in steps for field in step.item.fields]
    if len(items) != wanted:
        raise refused("IN with a subquery of more or fewer columns", "select as many as there are before IN")
    return [unwrapped(item).copy() for item in items]


def _named(field: Field) -> exp.Column:
    column = exp.Column(this=exp.to_identifier(field.name, quoted=True))
    if field.table:
        column.set("table", exp.to_identifier(field.table, quoted=True))
    return column


def _public(
    select: exp.Select, both: Sequence[exp.Expression], steps: Sequence[JoinStep], rows: RowReader
) -> tuple[PublicItem, tuple[Field, ...]]:
    """Return the rows of a subquery on public tables alone, with the columns that conditions name."""
    sight = Scope(relation=None, fields=tuple(field for step in steps for field in step.item.fields))  # type: ignore[arg-type]
    named = [node for one in both for node in columns_in(one) if not isinstance(node, FoundColumn)]
    called = list(dict.fromkeys(sight.field(node) for node in named))
    if not called:
        raise refused("a subquery on public tables that says nothing about the row", "leave it out")
    fields = tuple(replace(field, column=f"column {place}") for place, field in enumerate(called))
    bare = select.copy()
    bare.set("distinct", exp.Distinct())
    bare.set("limit", None)
    bare.set("expressions", [exp.alias_(_named(field), field.column, quoted=True) for field in fields])
    items = public_items(bare, rows.table)
    if items is None:
        raise refused("this subquery on public tables", "write the tables one after the other")
    return calculated_item(bare, items, ""), fields


def _pair(node: exp.Expression, fields: Sequence[Field]) -> EqualPair | None:
    """Return the columns that a condition equates; None of another one."""
    if type(node) is not exp.EQ:
        return None
    check_parts(node, "this", "expression")
    sides = [unwrapped(node.this), unwrapped(node.expression)]
    for one, other in (sides, reversed(sides)):
        if isinstance(one, FoundColumn) and type(other) is exp.Column:
            scope = Scope(relation=None, fields=tuple(fields))  # type: ignore[arg-type]
            return EqualPair(around=str(one.name), within=scope.field(other))
    return None
