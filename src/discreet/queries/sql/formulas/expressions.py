"""Expressions of SQL as expressions of the plan.

The walk knows a closed list of nodes; all others are refused by name. Meaning is that of
`discreet.data.language.expressions`, and where SQL's engines differ it is fixed like this:

- Precedence, from tight to loose: unary ``-``; ``* /``; ``+ -``; comparisons, IN, BETWEEN and IS; NOT;
  AND; OR. A condition inside a comparison needs parentheses, since engines disagree about ``a = b IS NULL``.
- ``/`` divides numbers as decimals, also integers: ``7 / 2`` is 3.5. Division by 0 is NULL.
- ``-x`` is ``0 - x``. Constants are calculated exactly, before anything is compared.
- A constant has the type of what it is compared with (`conversions`). Two constants are compared while the
  text is read, so that ``1 = 1 AND c`` is ``c``.
- ``!=`` is ``<>``, ``==`` is ``=``. A comparison with NULL is refused, since it is never true.
- ``x BETWEEN a AND b`` is ``x >= a AND x <= b``. ``x NOT IN (...)`` leaves out the rows in which x is NULL.
- ``x IS TRUE`` is ``COALESCE(x, FALSE)``; ``a IS NOT DISTINCT FROM b`` says that they are equal or both NULL.
- ``CASE x WHEN 1 ...`` is ``CASE WHEN x = 1 ...``; ``IF(c, a, b)`` is ``CASE WHEN c THEN a ELSE b END``.
- ``%`` binds as tightly as ``*``; where the parser would read it differently, parentheses are asked for.
- `functions` has the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, runtime_checkable

from sqlglot import exp

from discreet.data import literal
from discreet.data.language.evaluation import value_of
from discreet.data.language.expressions import (
    LARGEST_DEPTH,
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    When,
)
from discreet.data.language.functions.conditional import COALESCE
from discreet.data.language.types import Type, comparable
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.rational import rational
from discreet.queries.sql.formulas.conversions import CAST_TYPES, conversion_to, converted
from discreet.queries.sql.formulas.date_functions import interval_sum
from discreet.queries.sql.formulas.functions import call_of, refused_function
from discreet.queries.sql.formulas.literals import is_literal, literal_of
from discreet.queries.sql.syntax.refusals import check_parts, no_aggregate_here, refused

__all__ = [
    "ColumnLookup",
    "Members",
    "TypedLookup",
    "condition_of",
    "expression_of",
    "is_folded",
    "unwrapped",
]

ColumnLookup = Callable[[exp.Column], Expression]
"""What finds the column that a node names."""


@runtime_checkable
class TypedLookup(Protocol):
    """A `ColumnLookup` that knows the types of columns, too."""

    def type_of(self, expression: Expression) -> Type | None:
        """Return the type of an expression over the columns, if it has one."""


Members = Callable[[Expression, exp.Expression], Expression]
"""What reads a subquery in IN."""

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
_CONDITIONS = (
    *_COMPARISONS,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.ILike,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
)
_LENGTH_DIGITS = 9
_WRITTEN_TYPES = {
    **dict.fromkeys(("INT", "BIGINT"), Type.INTEGER),
    **dict.fromkeys(("DOUBLE", "FLOAT"), Type.FLOAT),
    **dict.fromkeys(("TEXT", "VARCHAR"), Type.TEXT),
    **dict.fromkeys(("DECIMAL", "BIGDECIMAL"), Type.DECIMAL),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), Type.TIMESTAMP),
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
    "TIMESTAMPTZ": Type.INSTANT,
}


def expression_of(node: exp.Expression, columns: ColumnLookup, members: Members | None = None) -> Expression:
    """Return the expression that a calculation or condition of SQL means, or refuse it.

    Parameters
    ----------
    node : sqlglot expression
        What is in SELECT, WHERE or GROUP BY, or in an aggregate.
    columns : callable
        Returns the column that a node names, or refuses it. If it is a `TypedLookup`, constants are converted
        to the types of what they are compared with.
    members : callable, optional
        Returns the condition that an operand is among what a subquery lists, or refuses it; by default all
        are.
    """
    return _Walk(columns, members).expression(node, 0)


def condition_of(node: exp.Expression, columns: ColumnLookup, members: Members | None = None) -> Expression:
    """Return the expression that a condition of SQL means; `type_check` refuses others."""
    return expression_of(node, columns, members)


class _Walk:
    """One walk down a syntax tree."""

    def __init__(self, columns: ColumnLookup, members: Members | None) -> None:
        self._columns, self._members = columns, members

    def expression(self, node: exp.Expression, depth: int) -> Expression:
        if depth > LARGEST_DEPTH:
            raise UnsupportedQuery(
                f"the expression is nested more than {LARGEST_DEPTH} levels deep; write it flatter, "
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
            left, right = self.operand(node.this, below), self.operand(node.expression, below)
            return self.compared(_COMPARISONS[kind], left, right)
        if kind in _ARITHMETIC:
            # sqlglot notes what its own dialects do about division; here it is always the same
            check_parts(node, "this", "expression", "typed", "safe")
            moved = interval_sum(node, lambda part: self.expression(part, below))
            if moved is not None:
                return moved
            left, right = self.operand(node.this, below), self.operand(node.expression, below)
            return _calculated(_ARITHMETIC[kind], left, right)
        if kind is exp.Neg:
            check_parts(node, "this")
            return _calculated(ArithmeticOperator.SUBTRACT, literal(0), self.operand(node.this, below))
        if kind is exp.Case or kind is exp.If:
            return self.case(node, below)
        if kind is exp.Cast or kind is exp.TryCast:
            return self.cast(node, below)
        return self.condition(node, below)

    def case(self, node: exp.Expression, below: int) -> Expression:
        """Read CASE in both its forms, and IF."""
        if isinstance(node, exp.If):
            check_parts(node, "this", "true", "false")
            branches, default, subject = [node], node.args.get("false"), None
        else:
            check_parts(node, "this", "ifs", "default")
            branches, default = node.args["ifs"], node.args.get("default")
            subject = None if node.this is None else self.operand(node.this, below)
        listed = []
        for branch in branches:
            if isinstance(node, exp.Case):
                check_parts(branch, "this", "true")
            if subject is None:
                condition = self.expression(branch.this, below)
            else:
                value = self.operand(branch.this, below)
                condition = self.compared(Comparison.EQUAL, subject, value)
            listed.append(When(condition=condition, value=self.expression(branch.args["true"], below)))
        otherwise = literal(None) if default is None else self.expression(default, below)
        return Case(branches=tuple(listed), otherwise=otherwise)

    def cast(self, node: exp.Expression, below: int) -> Expression:
        """Read CAST, TRY_CAST and ::, which all give NULL if a value does not convert."""
        check_parts(node, "this", "to", "safe")
        kind, written = node.args["to"], None
        if isinstance(kind, exp.DataType) and not kind.args.get("nested"):
            written = _WRITTEN_TYPES.get(getattr(kind.this, "name", ""))
        if written is None:
            raise refused("CAST to this type", f"convert to {CAST_TYPES}")
        operand = self.expression(node.this, below)
        return conversion_to(operand, written, [_whole(one) for one in kind.expressions])

    def compared(self, operator: Comparison, left: Expression, right: Expression) -> Expression:
        """Return a comparison; of two constants, its truth."""
        left, right = self.fitting(left, right), self.fitting(right, left)
        if isinstance(left, Literal) and isinstance(right, Literal):
            # Text has one order on all engines, that of code points; truth has one, FALSE first.
            if left.type is right.type or (left.type.is_number and right.type.is_number):
                return literal(value_of(Compare(operator=operator, left=left, right=right), {}))
            if Type.NULL not in {left.type, right.type}:
                raise UnsupportedQuery("constants of different types are compared; leave the comparison out")
        return Compare(operator=operator, left=left, right=right)

    def fitting(self, operand: Expression, other: Expression) -> Expression:
        """Return an operand; a constant in the type of what it is compared with, if that is known."""
        if not isinstance(operand, Literal) or operand.value is None or isinstance(other, Literal):
            return operand
        kind = self._columns.type_of(other) if isinstance(self._columns, TypedLookup) else None
        return operand if kind is None or comparable(operand.type, kind) else converted(operand, kind)

    def joined(self, node: exp.Expression, below: int) -> Expression:
        """Read AND and OR, without the comparisons of constants that do not matter."""
        neutral = type(node) is exp.And
        operands = []
        for one in _operands(node):
            found = self.expression(one, below)
            folded = found.value if isinstance(found, Literal) and is_folded(one) else None
            if folded is not neutral:
                operands.append(found)
        if len(operands) < 2:
            return operands[0] if operands else literal(neutral)
        return And(operands=tuple(operands)) if neutral else Or(operands=tuple(operands))

    def condition(self, node: exp.Expression, below: int) -> Expression:
        kind = type(node)
        if kind in {exp.And, exp.Or}:
            return self.joined(node, below)
        if kind is exp.Not:
            check_parts(node, "this")
            return Not(operand=self.expression(node.this, below))
        if kind is exp.Is:
            return self.is_(node, below)
        if kind is exp.Between:
            check_parts(node, "this", "low", "high")
            value = self.operand(node.this, below)
            low, high = (self.operand(node.args[end], below) for end in ("low", "high"))
            return And(
                operands=(
                    self.compared(Comparison.AT_LEAST, value, low),
                    self.compared(Comparison.AT_MOST, value, high),
                )
            )
        if kind is exp.In and node.args.get("query") is not None and self._members is not None:
            check_parts(node, "this", "query")
            return self._members(self.operand(node.this, below), node.args["query"])
        if kind is exp.In:
            check_parts(node, "this", "expressions")
            operand = self.operand(node.this, below)
            values = (self.fitting(self.listed(value, below), operand) for value in node.expressions)
            return IsIn(operand=operand, values=tuple(one for one in values if isinstance(one, Literal)))
        if kind in {exp.NullSafeEQ, exp.NullSafeNEQ}:
            check_parts(node, "this", "expression")
            left, right = (self.operand(part, below) for part in (node.this, node.expression))
            same = _not_distinct(self.fitting(left, right), self.fitting(right, left))
            return same if kind is exp.NullSafeEQ else Not(operand=same)
        called = call_of(node, lambda part: self.expression(part, below))
        if called is not None:
            return called
        if isinstance(node, exp.AggFunc):
            raise no_aggregate_here("WHERE")
        raise refused_function(node)

    def is_(self, node: exp.Expression, below: int) -> Expression:
        """Read IS NULL, IS TRUE and IS FALSE."""
        check_parts(node, "this", "expression")
        value, wanted = self.operand(node.this, below), node.expression
        if isinstance(wanted, exp.Null):
            return IsNull(operand=value)
        if not isinstance(wanted, exp.Boolean):
            raise refused("IS with something else", "write x IS NULL, x IS TRUE or x IS FALSE")
        return _known(value if wanted.this else Not(operand=value))

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
    """Return what is inside any number of parentheses."""
    while isinstance(node, exp.Paren):
        check_parts(node, "this")
        node = node.this
    return node


def _whole(node: exp.Expression) -> int | None:
    """Return a number in the parentheses of a type."""
    text = str(node.name) if isinstance(node.this, exp.Literal) else ""
    return int(text) if text.isdecimal() and len(text) <= _LENGTH_DIGITS else None


def is_folded(node: exp.Expression) -> bool:
    """Return whether a truth is written as a condition, and not as the word."""
    return not isinstance(unwrapped(node), exp.Boolean)


def _known(condition: Expression) -> Expression:
    """Return a condition that is FALSE where it would be NULL."""
    return Call(function=COALESCE, operands=(condition, literal(False)))


def _not_distinct(left: Expression, right: Expression) -> Expression:
    sides = (left, right)
    if any(isinstance(side, Literal) and side.value is None for side in sides):
        rest = [side for side in sides if not (isinstance(side, Literal) and side.value is None)]
        return IsNull(operand=rest[0] if rest else left)
    equal = _known(Compare(operator=Comparison.EQUAL, left=left, right=right))
    if any(isinstance(side, Literal) for side in sides):
        return equal
    return Or(operands=(equal, And(operands=(IsNull(operand=left), IsNull(operand=right)))))


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
