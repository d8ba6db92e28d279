"""Scalar subqueries over public tables alone: constants, calculated when the statement is read."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from sqlglot import exp

from discreet.data.facts.persons import Tables
from discreet.data.tables.public_rows import rows_of_table
from discreet.queries.sql.rows.from_clause import FromClause
from discreet.queries.sql.rows.subqueries import subquery
from discreet.queries.sql.syntax.refusals import refused
from discreet.queries.sql.tables.public_subquery import calculated_item, public_items

__all__ = ["is_in_expression", "with_constants"]


def with_constants(tree: exp.Expression, tables: Tables) -> exp.Expression:
    """Return a statement with a literal in place of each scalar subquery over public tables alone."""
    rows, found = FromClause(tables, subquery), tree.copy()
    for node in list(found.find_all(exp.Subquery)):
        if not is_in_expression(node):
            continue
        items = public_items(node.this, rows.table)
        if items is None:
            continue
        listed = rows_of_table(calculated_item(node.this, items, "").public)
        if len(listed.columns) != 1 or len(listed.rows) > 1:
            raise refused(
                "a subquery in an expression that gives several rows or columns",
                "select one aggregate without GROUP BY, such as MAX(x)",
            )
        node.replace(_literal(listed.rows[0][0].value if listed.rows else None))
    return found


def is_in_expression(node: exp.Subquery) -> bool:
    """Return whether a subquery stands in an expression, rather than for a table or a list."""
    return not isinstance(
        node.parent,
        exp.From | exp.Join | exp.In | exp.Subquery | exp.Table | exp.CTE | exp.Exists | exp.SetOperation,
    )


def _literal(value: object) -> exp.Expression:
    """Return a value as SQL writes it."""
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Fraction):
        size = -value if value < 0 else value
        number = exp.Literal.number(str(size) if isinstance(size, int) else repr(float(size)))
        return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number
    if type(value) is date:
        return exp.Cast(this=exp.Literal.string(value.isoformat()), to=exp.DataType.build("date"))
    if isinstance(value, str):
        return exp.Literal.string(value)
    raise refused("a subquery in an expression that gives this type", "write the value itself")
