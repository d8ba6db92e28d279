"""Conditions of SQL as expressions of the plan.

The walk knows a closed list of nodes; all others are refused by name. Meaning is that of
`discreet.data.expressions`, and where SQL's engines differ it is fixed like this:

- Precedence, from tight to loose: unary ``-``; ``* /``; ``+ -``; comparisons, IN, BETWEEN and IS; NOT;
  AND; OR. A condition inside a comparison needs parentheses, since engines disagree about ``a = b IS NULL``.
- ``/`` divides numbers as decimals, also integers: ``7 / 2`` is 3.5. Division by 0 is NULL.
- ``-x`` is ``0 - x``. Constants are calculated exactly, before anything is compared.
- ``!=`` is ``<>``, ``==`` is ``=``. A comparison with NULL is refused, since it is never true.
- ``x BETWEEN a AND b`` is ``x >= a AND x <= b``. ``x NOT IN (...)`` leaves out the rows in which x is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from discreet.data import literal
from discreet.data.expressions import (
    LARGEST_DEPTH,
    And,
    Arithmetic,
    ArithmeticOperator,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.rational import rational
from discreet.queries.sql_literals import is_literal, literal_of
from discreet.queries.sql_refusals import check_parts, no_aggregate_here, refused, refused_node

__all__ = ["Columns", "condition_of", "unwrapped"]

Columns = Callable[[exp.Column], Expression]
"""What finds the column that a node names."""

_COMPARISONS: dict[type[exp.Expression], Comparison] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.UNEQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.AT_MOST,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.AT_LEAST,
}
_ARITHMETIC: dict[type[exp.Expression], ArithmeticOperator] = {
    exp.Add: ArithmeticOperator.ADD,
    exp.Sub: ArithmeticOperator.SUBTRACT,
    exp.Mul: ArithmeticOperator.MULTIPLY,
    exp.Div: ArithmeticOperator.DIVIDE,
}
_CONDITIONS = (*_COMPARISONS, exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between)


def condition_of(node: exp.Expression, columns: Columns) -> Expression:
    """Return the expression that a condition of SQL means, or refuse what is outside the language.

    Parameters
    ----------
    node : sqlglot expression
        What follows WHERE.
    columns : callable
        Returns the column that a node names, or refuses it.
    """
    return _Walk(columns).expression(node, 0)


class _Walk:
    """One walk down a syntax tree."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def expression(self, node: exp.Expression, depth: int) -> Expression:
        if depth > LARGEST_DEPTH:
            raise UnsupportedQuery(
                f"the condition is nested more than {LARGEST_DEPTH} levels deep; write it flatter, "
                "for instance with IN instead of many comparisons"
            )
        below, kind = depth + 1, type(node)
        if isinstance(node, exp.Paren):
            check_parts(node, "this")
            return self.expression(node.this, depth)
        if is_literal(node):
            return literal_of(node)
        if isinstance(node, exp.Column):
            return self._columns(node)
        if kind in _COMPARISONS:
            check_parts(node, "this", "expression")
            return Compare(
                operator=_COMPARISONS[kind],
                left=self.operand(node.this, below),
                right=self.operand(node.expression, below),
            )
        if kind in _ARITHMETIC:
            # sqlglot notes what its own dialects do about division; here it is always the same
            check_parts(node, "this", "expression", "typed", "safe")
            left, right = self.operand(node.this, below), self.operand(node.expression, below)
            return _calculated(_ARITHMETIC[kind], left, right)
        if kind is exp.Neg:
            check_parts(node, "this")
            return _calculated(ArithmeticOperator.SUBTRACT, literal(0), self.operand(node.this, below))
        return self.condition(node, below)

    def condition(self, node: exp.Expression, below: int) -> Expression:
        kind = type(node)
        if kind in {exp.And, exp.Or}:
            operands = tuple(self.expression(operand, below) for operand in _operands(node))
            return And(operands=operands) if kind is exp.And else Or(operands=operands)
        if kind is exp.Not:
            check_parts(node, "this")
            return Not(operand=self.expression(node.this, below))
        if kind is exp.Is:
            check_parts(node, "this", "expression")
            if not isinstance(node.expression, exp.Null):
                raise refused(
                    "IS with something other than NULL", "write x = TRUE, x IS NULL or x IS NOT NULL"
                )
            return IsNull(operand=self.operand(node.this, below))
        if kind is exp.Between:
            check_parts(node, "this", "low", "high")
            value = self.operand(node.this, below)
            low, high = (self.operand(node.args[end], below) for end in ("low", "high"))
            return And(
                operands=(
                    Compare(operator=Comparison.AT_LEAST, left=value, right=low),
                    Compare(operator=Comparison.AT_MOST, left=value, right=high),
                )
            )
        if kind is exp.In:
            check_parts(node, "this", "expressions")
            listed = tuple(self.listed(value, below) for value in node.expressions)
            return IsIn(operand=self.operand(node.this, below), values=listed)
        if isinstance(node, exp.AggFunc):
            raise no_aggregate_here("WHERE")
        raise refused_node(node)

    def operand(self, node: exp.Expression, depth: int) -> Expression:
        if isinstance(node, _CONDITIONS):
            raise refused(
                "a condition inside a comparison",
                "put it in parentheses, as in (a = b) IS NULL, or write AND",
            )
        return self.expression(node, depth)

    def listed(self, node: exp.Expression, depth: int) -> Literal:
        value = self.operand(node, depth)
        if not isinstance(value, Literal):
            raise refused("IN with something other than constants", "write x = y OR x = z")
        return value


def unwrapped(node: exp.Expression) -> exp.Expression:
    """Return what stands in any number of parentheses."""
    while isinstance(node, exp.Paren):
        check_parts(node, "this")
        node = node.this
    return node


def _operands(node: exp.Expression) -> list[exp.Expression]:
    """Return the operands of a chain of ANDs or ORs, which the parser nests to the left, link by link."""
    kind, operands = type(node), []
    while type(node) is kind:
        check_parts(node, "this", "expression")
        operands.append(node.expression)
        node = node.this
    return [node, *reversed(operands)]


def _calculated(operator: ArithmeticOperator, left: Expression, right: Expression) -> Expression:
    numbers = [side.value for side in (left, right) if isinstance(side, Literal) and side.type.is_number]
    if len(numbers) < 2:
        return Arithmetic(operator=operator, left=left, right=right)
    one, other = (Fraction(number) for number in numbers)  # type: ignore[arg-type]
    if operator is ArithmeticOperator.DIVIDE and other == 0:
        raise UnsupportedQuery("a constant is divided by 0, which has no value; leave the condition out")
    result = {
        ArithmeticOperator.ADD: lambda: one + other,
        ArithmeticOperator.SUBTRACT: lambda: one - other,
        ArithmeticOperator.MULTIPLY: lambda: one * other,
        ArithmeticOperator.DIVIDE: lambda: one / other,
    }[operator]()
    try:
        return literal(rational(result, "a constant"))
    except ParameterError:
        pass
    raise UnsupportedQuery("a constant has too many digits; write it like 40, 0.5 or 1e3")
