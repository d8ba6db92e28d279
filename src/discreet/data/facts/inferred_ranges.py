"""The range of a calculation that gives numbers, from those of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.data.facts.grid_interval import UNKNOWN, GridInterval, constant, hull
from discreet.data.facts.inferred_dates import days_of
from discreet.data.facts.type_check import type_of
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expression,
    Function,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    children,
)
from discreet.data.language.schema import Type

__all__ = ["is_never_null", "range_of"]

_ONE = Fraction(1)
_FIXED: dict[Function, tuple[int, int]] = {
    Function.SIGN: (-1, 1),
    Function.QUARTER: (1, 4),
    Function.MONTH: (1, 12),
    Function.DAY: (1, 31),
    Function.DAY_OF_WEEK: (1, 7),
    Function.DAY_OF_YEAR: (1, 366),
    Function.HOUR: (0, 23),
    Function.MINUTE: (0, 59),
}
_CALENDAR = (1, 9999)


def range_of(expression: Expression, columns: Columns) -> GridInterval:
    """Return what is known about the numbers that an expression gives."""
    if isinstance(expression, Literal):
        return constant(Fraction(expression.value))  # type: ignore[arg-type]
    if isinstance(expression, Column):
        return _declared(expression.name, columns)
    if isinstance(expression, Arithmetic):
        return _arithmetic(expression, columns)
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return hull([range_of(value, columns) for value in values if not _is_null(value)])
    if isinstance(expression, Cast):
        return _cast(expression, columns)
    if isinstance(expression, Call):
        return _called(expression, columns)
    return UNKNOWN


def is_never_null(expression: Expression) -> bool:
    """Return whether an expression has a value in every row, for any data."""
    if isinstance(expression, IsNull):
        return True
    if isinstance(expression, Literal):
        return expression.value is not None
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return all(is_never_null(value) for value in values)
    if isinstance(expression, Call) and expression.function in {
        Function.COALESCE,
        Function.LEAST,
        Function.GREATEST,
    }:
        return any(is_never_null(operand) for operand in expression.operands)
    if isinstance(expression, Compare | IsIn | And | Or | Not):
        return all(is_never_null(child) for child in children(expression))
    return False


def _declared(name: str, columns: Columns) -> GridInterval:
    facts = columns[name]
    step = _ONE if facts.type is Type.INTEGER else None
    found = GridInterval(step=step)
    if facts.bounds is not None:
        found = GridInterval(low=facts.bounds.lower, high=facts.bounds.upper, step=facts.bounds.step)
    elif facts.keys is not None and facts.type is Type.INTEGER:
        listed = [int(value) for value in facts.keys.values if value is not None]  # type: ignore[arg-type]
        found = hull([constant(Fraction(value)) for value in (min(listed), max(listed))])
        found = GridInterval(low=found.low, high=found.high, step=_ONE)
    return found.within(facts.least, facts.most)


def _arithmetic(node: Arithmetic, columns: Columns) -> GridInterval:
    if type_of(node.left, types_of(columns)) is Type.DATE:
        return _days_between(node.left, node.right, columns)
    left, right = range_of(node.left, columns), range_of(node.right, columns)
    if node.operator is ArithmeticOperator.ADD:
        return left.plus(right)
    if node.operator is ArithmeticOperator.SUBTRACT:
        return left.plus(right.negative())
    if node.operator is ArithmeticOperator.MULTIPLY:
        found = left.times(right)
        return found.within(Fraction(0), None) if node.left == node.right else found
    return left.over(right)


def _days_between(one: Expression, other: Expression, columns: Columns) -> GridInterval:
    days, others = days_of(one, columns), days_of(other, columns)
    if days is None or others is None:
        return GridInterval(step=_ONE)
    low, high = (days.first - others.last).days, (days.last - others.first).days
    return GridInterval(low=Fraction(low), high=Fraction(high), step=_ONE)


def _cast(node: Cast, columns: Columns) -> GridInterval:
    found = type_of(node.operand, types_of(columns))
    if found is Type.BOOLEAN:
        return GridInterval(low=Fraction(0), high=_ONE, step=_ONE)
    if not found.is_number:
        return GridInterval(step=_ONE if node.type is Type.INTEGER else None)
    known = range_of(node.operand, columns)
    return known.rounded(_ONE) if node.type is Type.INTEGER else known


def _called(call: Call, columns: Columns) -> GridInterval:
    function, operands = call.function, call.operands
    if function in _FIXED:
        return _whole(*_FIXED[function])
    if function is Function.YEAR:
        days = days_of(operands[0], columns)
        return _whole(*_CALENDAR) if days is None else _whole(days.first.year, days.last.year)
    if function is Function.WIDTH_BUCKET:
        return _whole(0, int(operands[3].value) + 1)  # type: ignore[union-attr, arg-type]
    if function is Function.LENGTH:
        return _length(operands[0], columns)
    if function is Function.DATE_DIFFERENCE:
        return _days_between(operands[0], operands[1], columns)
    ranges = [range_of(operand, columns) for operand in operands]
    if function is Function.COALESCE:
        return hull(ranges)
    if function in {Function.LEAST, Function.GREATEST}:
        return _extreme(call, ranges)
    if function is Function.ABS:
        return ranges[0].magnitude()
    if function in {Function.FLOOR, Function.CEILING}:
        return ranges[0].rounded(_ONE)
    if function is Function.ROUND:
        digits = int(operands[1].value) if len(operands) == 2 else 0  # type: ignore[union-attr, arg-type]
        return ranges[0].rounded(Fraction(10) ** -digits)
    if function is Function.SQRT:
        return ranges[0].root()
    return _remainder(*ranges) if function is Function.MODULO else ranges[0]


def _extreme(call: Call, ranges: Sequence[GridInterval]) -> GridInterval:
    """Return the range of LEAST and GREATEST, which skip NULL.

    What is never NULL always counts: LEAST is at most the least of such operands.
    """
    sides = ranges if call.function is Function.LEAST else [one.negative() for one in ranges]
    found = hull(sides)
    sure = [
        one.high
        for operand, one in zip(call.operands, sides, strict=True)
        if is_never_null(operand) and one.high is not None
    ]
    if sure:
        found = GridInterval(low=found.low, high=min(sure), step=found.step)
    return found if call.function is Function.LEAST else found.negative()


def _remainder(value: GridInterval, divisor: GridInterval) -> GridInterval:
    found = GridInterval(step=_ONE)
    size, most = value.magnitude().high, divisor.magnitude().high
    limits = [
        limit for limit in (size, None if most is None else max(most - 1, Fraction(0))) if limit is not None
    ]
    if limits:
        found = found.within(-min(limits), min(limits))
    if value.low is not None and value.low >= 0:
        found = found.within(Fraction(0), None)
    return found.within(None, Fraction(0)) if value.high is not None and value.high <= 0 else found


def _length(text: Expression, columns: Columns) -> GridInterval:
    most: int | None = None
    if isinstance(text, Literal):
        most = len(str(text.value))
    elif isinstance(text, Call) and text.function is Function.SUBSTRING and len(text.operands) == 3:
        most = int(text.operands[2].value)  # type: ignore[union-attr, arg-type]
    elif isinstance(text, Column) and columns[text.name].keys is not None:
        most = max(len(str(value)) for value in columns[text.name].keys.values if value is not None)  # type: ignore[union-attr]
    return GridInterval(low=Fraction(0), high=None if most is None else Fraction(most), step=_ONE)


def _whole(low: int, high: int) -> GridInterval:
    return GridInterval(low=Fraction(low), high=Fraction(high), step=_ONE)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None
