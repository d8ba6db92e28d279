"""IN with a subquery on a public table: the values that it lists, as constants.

What a public table holds is public, so ``x IN (SELECT name FROM cities WHERE region = 'Asia')`` is a list of
constants. With NULLs it means what it does in SQL: if one is listed, a value that is not listed makes the
condition NULL, so that NOT IN is never TRUE; a list of nothing makes it FALSE, even for NULL.
"""

from __future__ import annotations

from math import isfinite

from sqlglot import exp

from discreet.data import literal
from discreet.data.facts.conditions.key_narrowing import is_exact
from discreet.data.facts.type_check import check_condition
from discreet.data.language.evaluation import value_of
from discreet.data.language.expressions import (
    And,
    Case,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    When,
    columns_of,
    walk,
)
from discreet.data.language.relations import Source
from discreet.queries.sql.formulas.expressions import condition_of, unwrapped
from discreet.queries.sql.syntax.refusals import refused
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.scope import ColumnsInSight, Field, Scope

__all__ = ["listed_values", "membership_condition", "single_column"]

_LARGEST_LIST = 5_000
_JOIN = "JOIN the public table instead"
_PARTS = {"kind", "expressions", "from", "from_", "where", "distinct"}


def membership_condition(operand: Expression, values: list[object]) -> Expression:
    """Return the condition that an operand is one of some values, NULL among them or not."""
    known = tuple(literal(value) for value in values if value is not None)
    found: Expression = IsIn(operand=operand, values=known) if known else literal(False)
    if len(known) == len(values):
        return found
    return Case(branches=(When(condition=found, value=literal(True)),), otherwise=literal(None))


def listed_values(select: exp.Select, item: PublicItem) -> list[object] | None:
    """Return the distinct values that a SELECT of one column of a public table lists.

    None if that takes more than comparisons with constants: then it is calculated like any other subquery on
    public tables.

    Parameters
    ----------
    select : sqlglot Select
        SELECT column FROM table, with or without WHERE and DISTINCT.
    item : PublicItem
        The table.
    """
    if any(value and name not in _PARTS for name, value in select.args.items()):
        return None
    fields = tuple(Field(table=item.alias, name=name, column=name) for name in item.public.schema)
    scope = Scope(relation=Source(table=item.alias or "public"), fields=fields)
    if len(select.expressions) != 1:
        raise refused("IN with a subquery of several columns", "select one")
    node = select.expressions[0]
    node = unwrapped(node.this if isinstance(node, exp.Alias) else node)
    if type(node) is not exp.Column:
        return None
    column = scope.column(node)
    where = select.args.get("where")
    if where is not None and where.find(exp.Query) is not None:
        return None
    columns = ColumnsInSight(scope=scope, schema=lambda: item.public.schema)
    condition = None if where is None else condition_of(where.this, columns)
    if condition is not None:
        check_condition(condition, item.public.schema)
        if not _decided(condition, item):
            return None
    read = {column.name} | (set() if condition is None else columns_of(condition))
    rows = item.public._rows().select(sorted(read)).to_pylist()
    passed = [row for row in rows if condition is None or value_of(condition, row) is True]
    return _distinct([row[column.name] for row in passed])


def single_column(item: PublicItem) -> list[object]:
    """Return the distinct values of rows that have one column."""
    if len(item.public.schema) != 1:
        raise refused("IN with a subquery of several columns", "select one")
    (name,) = item.public.schema
    return _distinct(item.public._rows().column(name).to_pylist())


def _distinct(listed: list[object]) -> list[object]:
    values = list(dict.fromkeys(listed))
    if len(values) > _LARGEST_LIST:
        raise refused(f"IN with a subquery of more than {_LARGEST_LIST} values", _JOIN)
    if any(isinstance(value, float) and not isfinite(value) for value in values):
        raise refused("IN with a subquery that lists NaN or infinity", "leave them out")
    return values


def _decided(condition: Expression, item: PublicItem) -> bool:
    """Return whether a condition can be worked out here exactly as an engine would."""
    for node in walk(condition):
        if isinstance(node, Compare | IsIn):
            operand = node.left if isinstance(node, Compare) else node.operand
            known = isinstance(operand, Column) and is_exact(node, item.public.schema[operand.name])
            if not known:
                return False
        elif not isinstance(node, Column | Literal | IsNull | And | Or | Not):
            return False
    return True
