"""Conditions in Ibis: the meaning of expressions, the same on every engine.

Engines differ in how they convert between types, so nothing is left to them: an integer or a decimal
meets a literal of its own type, computed here exactly, and everything else that is a number becomes a
double first.
"""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, inf
from typing import Any, TypeAlias

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, NumericValue, Value
from ibis.expr.types import Column as IbisColumn

from discreet.data.engine import double
from discreet.data.expressions import (
    COLUMN_BITS,
    And,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)

__all__ = ["compiled"]

Columns: TypeAlias = Mapping[str, IbisColumn]

_MOST_DIGITS = 38
_COMPARE: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.AT_LEAST: operator.ge,
}


def compiled(node: Expression, columns: Columns) -> Value:
    """Return an expression over columns of an Ibis table, by their public names.

    The expression was admitted by `checking` under the columns' types.
    """
    if isinstance(node, Column):
        return columns[node.name]
    if isinstance(node, Compare):
        left = compiled(node.left, columns)
        if isinstance(node.right, Literal):
            return _compare_literal(node.operator, left, node.right)
        return _compare_columns(node.operator, left, compiled(node.right, columns))
    if isinstance(node, IsIn):
        return _is_in(compiled(node.operand, columns), node.values)
    if isinstance(node, And | Or):
        return _joined([compiled(operand, columns) for operand in node.operands], isinstance(node, And))
    if isinstance(node, Not):
        # Written so because Ibis prints NOT without parentheses below a comparison or IS NULL.
        return compiled(node.operand, columns) == ibis.literal(False)
    if isinstance(node, IsNull):
        return compiled(node.operand, columns).isnull()
    if isinstance(node, Arithmetic):
        return _arithmetic(node, columns)
    return ibis.literal(node.value)  # a literal that is a condition by itself: TRUE or FALSE


def _joined(conditions: Sequence[BooleanValue], conjunction: bool) -> BooleanValue:
    """Join conditions as a balanced tree, since engines and compilers recurse."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    left, right = _joined(conditions[:half], conjunction), _joined(conditions[half:], conjunction)
    return left & right if conjunction else left | right


def _constant(truth: bool, value: Value) -> BooleanValue:
    """Return a condition that is known without the value, but NULL where the value is."""
    return ibis.ifelse(value.notnull(), ibis.literal(truth), ibis.null("boolean"))


def _compare_columns(comparison: Comparison, left: Value, right: Value) -> BooleanValue:
    if left.type().is_numeric() and left.type() != right.type():
        left, right = left.cast("float64"), right.cast("float64")
    return _COMPARE[comparison](left, right)


def _compare_literal(comparison: Comparison, value: Value, constant: Literal) -> BooleanValue:
    kind, typed = value.type(), constant.value
    if _is_exact(kind) and isinstance(typed, int | Fraction):
        return _compare_exactly(comparison, value, Fraction(typed))
    if kind.is_date() and isinstance(typed, datetime.datetime):
        return _compare_date(comparison, value, typed)
    return _COMPARE[comparison](_as_compared(value), _typed(constant, kind))


def _is_exact(kind: dt.DataType) -> bool:
    """Tell whether literals can be written in a type: integers, and decimals of less than 38 digits.

    What Ibis calls a decimal of 38 digits may be an integer of 128 bits, which holds more than that.
    """
    if not kind.is_decimal():
        return bool(kind.is_integer())
    return kind.scale is not None and kind.precision is not None and kind.precision < _MOST_DIGITS


def _range(kind: dt.DataType) -> tuple[int, int, int]:
    """Return the scale of an exact type and the least and largest integer that it holds at this scale."""
    if kind.is_integer():
        return 0, kind.bounds.lower, kind.bounds.upper
    return kind.scale, 1 - 10**kind.precision, 10**kind.precision - 1


def _compare_exactly(comparison: Comparison, value: NumericValue, number: Fraction) -> BooleanValue:
    """Compare an integer or a decimal with a number: in whole units of its own last place.

    A value of scale s is n 10^-s with an integer n, and n < z holds just if n <= floor(z) for a z
    that is no integer. A z outside the range of n decides the comparison by itself.
    """
    scale, least, largest = _range(value.type())
    units = number * 10**scale
    if units.denominator != 1:
        if comparison in {Comparison.EQUAL, Comparison.UNEQUAL}:
            return _constant(comparison is Comparison.UNEQUAL, value)
        below = comparison in {Comparison.LESS, Comparison.AT_MOST}
        comparison = Comparison.AT_MOST if below else Comparison.GREATER
    whole = floor(units)
    compare = _COMPARE[comparison]
    if not least <= whole <= largest:
        return _constant(bool(compare(least, whole)), value)
    return compare(value, _exact_literal(whole, value.type()))


def _exact_literal(units: int, kind: dt.DataType) -> Value:
    if kind.is_integer():
        return ibis.literal(units, type=kind)
    return ibis.literal(str(Decimal(units).scaleb(-kind.scale))).cast(kind)


def _compare_date(comparison: Comparison, value: Value, moment: datetime.datetime) -> BooleanValue:
    """Compare a date, which counts as its midnight, with a date and time."""
    if moment.time() != datetime.time():
        if comparison in {Comparison.EQUAL, Comparison.UNEQUAL}:
            return _constant(comparison is Comparison.UNEQUAL, value)
        below = comparison in {Comparison.LESS, Comparison.AT_MOST}
        comparison = Comparison.AT_MOST if below else Comparison.GREATER
    return _COMPARE[comparison](value, _moment(moment.date(), "date"))


def _as_compared(value: Value) -> Value:
    return value.cast("float64") if value.type().is_numeric() else value


def _typed(constant: Literal, kind: dt.DataType) -> Value:
    """Return a literal as the type of what it is compared with."""
    value = constant.value
    if isinstance(value, bool | str):
        return ibis.literal(value)
    if isinstance(value, int | Fraction):
        return double(_nearest(Fraction(value)))
    if isinstance(value, datetime.date) and kind.is_timestamp():
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        return _moment(value, dt.Timestamp(timezone=kind.timezone, scale=6))
    return _moment(value, "date")


def _moment(value: object, kind: dt.DataType | str) -> Value:
    return ibis.literal(str(value)).cast(kind)


def _nearest(number: Fraction) -> float:
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return inf if number > 0 else -inf


def _is_in(value: Value, constants: Sequence[Literal]) -> BooleanValue:
    """Return membership in a list. Literals that the value cannot equal drop out."""
    kind = value.type()
    listed: list[Value] = []
    for constant in constants:
        typed = constant.value
        if _is_exact(kind) and isinstance(typed, int | Fraction):
            scale, least, largest = _range(kind)
            units = Fraction(typed) * 10**scale
            if units.denominator == 1 and least <= units <= largest:
                listed.append(_exact_literal(int(units), kind))
        elif kind.is_date() and isinstance(typed, datetime.datetime):
            if typed.time() == datetime.time():
                listed.append(_moment(typed.date(), "date"))
        else:
            listed.append(_typed(constant, kind))
    return _as_listed(value).isin(listed) if listed else _constant(False, value)


def _as_listed(value: Value) -> Value:
    return value if _is_exact(value.type()) else _as_compared(value)


def _arithmetic(node: Arithmetic, columns: Columns) -> NumericValue:
    left, right = (_operand(side, columns) for side in (node.left, node.right))
    if node.operator is ArithmeticOperator.ADD:
        return left + right
    if node.operator is ArithmeticOperator.SUBTRACT:
        return left - right
    if node.operator is ArithmeticOperator.MULTIPLY:
        return left * right
    return left / right.nullif(double(0))


def _operand(node: Expression, columns: Columns) -> NumericValue:
    """Return a double; a column's is NULL, zero, or within the magnitudes that `checking` reckons with."""
    if isinstance(node, Literal):
        return double(_nearest(Fraction(node.value)))  # type: ignore[arg-type]
    value = compiled(node, columns)
    if not isinstance(node, Column):
        return value
    value = value.cast("float64")
    tame = ibis.ifelse(value.abs() < double(2.0**-COLUMN_BITS), double(0), value)
    return ibis.ifelse(value.abs() <= double(2.0**COLUMN_BITS), tame, ibis.null("float64"))
