"""Parts of a statement: the tables of a FROM clause, queries of WITH, and subqueries in expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from sqlglot import exp

from discreet.queries.sql.answers.answer_scope import AnswerScope
from discreet.queries.sql.formulas.aggregates import is_aggregate
from discreet.queries.sql.rows.public_scalars import is_in_expression
from discreet.queries.sql.tables.scope import is_quoted

__all__ = [
    "ASK_FIRST",
    "WithQueries",
    "has_no_from",
    "is_beside_aggregates",
    "is_scalar_of",
    "items_of_from",
    "named_query",
    "without_joins",
]

ASK_FIRST = (
    "ask for the number first, and write what was released in its place: what is measured here is paid for "
    "before that answer is known"
)
"""What to do instead of measuring with an answer of the same statement."""

WithQueries: TypeAlias = Mapping[str, tuple[bool, AnswerScope | exp.CTE]]
"""The queries of WITH: answers, and those that are rows, as they were written."""


def has_no_from(select: exp.Select) -> bool:
    """Return whether a SELECT reads no table."""
    return not (select.args.get("from_") or select.args.get("from"))


def items_of_from(select: exp.Select) -> list[exp.Expression]:
    """Return the tables and subqueries of FROM and JOIN, those in parentheses included."""
    clause = select.args.get("from_") or select.args.get("from")
    pending = [] if clause is None else [clause.this]
    pending += [join.this for join in select.args.get("joins") or ()]
    found = []
    while pending:
        node = pending.pop(0)
        pending += [join.this for join in node.args.get("joins") or ()]
        if type(node) is exp.Paren or (
            type(node) is exp.Subquery and isinstance(node.this, exp.Table | exp.Subquery)
        ):
            pending.append(node.this)
        else:
            found.append(node)
    return found


def without_joins(node: exp.Expression) -> exp.Expression:
    """Return a table or subquery of FROM without the joins that follow it."""
    if not node.args.get("joins"):
        return node
    bare = node.copy()
    bare.set("joins", None)
    return bare


def named_query(node: exp.Table, queries: WithQueries) -> AnswerScope | exp.CTE | None:
    """Return the query of WITH that a table in FROM names."""
    if node.args.get("db") or not isinstance(node.this, exp.Identifier):
        return None
    name, quoted = node.this.name, is_quoted(node.this)
    for known, (exactly, found) in reversed(list(queries.items())):
        if known == name or (not quoted and not exactly and known.lower() == name.lower()):
            return found
    return None


def is_scalar_of(node: exp.Subquery, select: exp.Select) -> bool:
    """Return whether a subquery of a SELECT itself, not of one inside it, stands in an expression."""
    return node.find_ancestor(exp.Select) is select and is_in_expression(node)


def is_beside_aggregates(node: exp.Expression, select: exp.Select) -> bool:
    """Return whether an expression is in SELECT, HAVING or ORDER BY, and not inside an aggregate."""
    one: exp.Expression | None = node
    while one is not None and one is not select:
        if is_aggregate(one) or isinstance(one, exp.Where | exp.Group | exp.Join):
            return False
        one = one.parent
    return True
