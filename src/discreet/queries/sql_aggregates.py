"""Aggregates of SQL."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.data import Aggregate, AggregateFunction
from discreet.data.expressions import Column
from discreet.errors import UnsupportedQuery
from discreet.queries.sql_conditions import unwrapped
from discreet.queries.sql_literals import is_literal
from discreet.queries.sql_refusals import (
    AGGREGATES,
    calculated,
    check_parts,
    function_name,
    refused,
    refused_node,
)

__all__ = ["aggregate_of", "default_name"]

_FUNCTIONS: dict[type[exp.Expression], AggregateFunction] = {
    exp.Count: AggregateFunction.COUNT,
    exp.Sum: AggregateFunction.SUM,
    exp.Avg: AggregateFunction.MEAN,
}


def aggregate_of(node: exp.Expression, columns: Callable[[exp.Column], Column]) -> Aggregate:
    """Return the aggregate that a node of SELECT means, or refuse it.

    Parameters
    ----------
    node : sqlglot expression
        An item of SELECT that is no plain column.
    columns : callable
        Returns the column that a node names, or refuses it.
    """
    if type(node) not in _FUNCTIONS:
        if not isinstance(node, exp.AggFunc | exp.Window | exp.Filter) and node.find(*_FUNCTIONS):
            raise calculated()
        if is_literal(node):
            raise refused("a constant in SELECT", "leave it out, and ask for keys and aggregates")
        raise refused_node(node, AGGREGATES)
    check_parts(node, "this", "big_int")
    function = _FUNCTIONS[type(node)]
    operand = node.args.get("this")
    operand = None if operand is None else unwrapped(operand)
    if type(operand) is exp.Column:
        return Aggregate(function=function, operand=columns(operand))
    if function is AggregateFunction.COUNT and operand is not None and _counts_rows(operand):
        return Aggregate(function=function)
    raise _no_column(node, operand)


def default_name(aggregate: Aggregate) -> str:
    """Return the name of an aggregate that has none."""
    if not isinstance(aggregate.operand, Column):
        return "count"
    word = "avg" if aggregate.function is AggregateFunction.MEAN else aggregate.function.value
    return f"{word}_{aggregate.operand.name}"


def _counts_rows(operand: exp.Expression) -> bool:
    if isinstance(operand, exp.Star):
        check_parts(operand)
        return True
    return is_literal(operand) and not isinstance(operand, exp.Null)


def _no_column(node: exp.Expression, operand: exp.Expression | None) -> UnsupportedQuery:
    if operand is None:
        return refused("an aggregate of nothing", "write COUNT(*), or SUM(x) of a column")
    if isinstance(operand, exp.Distinct | exp.Order):
        return refused_node(operand)
    if operand.find(exp.AggFunc):
        return refused("an aggregate of an aggregate", "ask for one, and calculate with the answer")
    return refused(
        f"{function_name(node)} of an expression",
        "take it of one column, such as SUM(cost), and calculate with the answer",
    )
