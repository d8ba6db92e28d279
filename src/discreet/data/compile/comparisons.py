"""Comparisons in Ibis, exact and the same on every engine.

Engines differ in how they convert between types, so nothing is left to them: an integer or a decimal
is compared with a literal of its own type, computed here exactly; columns of integers and decimals as a
decimal that holds both, if there is one; and everything else that is a number becomes a double first.
"""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor, inf
from typing import Any

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import BooleanValue, NumericValue, Value

from discreet.data.engines.base import double
from discreet.data.engines.column_types import alike
from discreet.data.language.expressions import Comparison, Literal

__all__ = ["compare", "compare_literal", "is_in", "moment", "nearest"]

_COMPARE: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.AT_LEAST: operator.ge,
}


def _constant(truth: bool, value: Value) -> BooleanValue:
    """Return a condition that does not depend on the value, but is NULL if the value is."""
    return ibis.ifelse(value.notnull(), ibis.literal(truth), ibis.null("boolean"))


def compare(comparison: Comparison, left: Value, right: Value) -> BooleanValue:
    """Compare two values; numbers that 38 digits do not hold together as doubles."""
    if left.type().is_numeric() and not left.type().is_boolean():
        try:
            left, right = alike(left, right)
        except TypeError:
            left, right = left.cast("float64"), right.cast("float64")
    return _COMPARE[comparison](left, right)


def compare_literal(comparison: Comparison, value: Value, constant: Literal) -> BooleanValue:
    """Compare a value with a constant, which is exact wherever the value is."""
    kind, typed = value.type(), constant.value
    if _is_exact(kind) and isinstance(typed, int | Fraction):
        return _compare_exactly(comparison, value, Fraction(typed))
    if kind.is_date() and isinstance(typed, datetime.datetime):
        return _compare_date(comparison, value, typed)
    return _COMPARE[comparison](_as_compared(value), _typed_literal(constant, kind))


def _is_exact(kind: dt.DataType) -> bool:
    """Return whether literals can be written in a type: integers and decimals."""
    return bool(kind.is_integer() or kind.is_decimal())


def _range(kind: dt.DataType) -> tuple[int, int, int]:
    """Return the scale of an exact type and the least and largest integer that it holds at this scale."""
    if kind.is_integer():
        return 0, kind.bounds.lower, kind.bounds.upper
    return kind.scale, 1 - 10**kind.precision, 10**kind.precision - 1


def _compare_exactly(comparison: Comparison, value: NumericValue, number: Fraction) -> BooleanValue:
    """Compare an integer or a decimal with a number: in whole units of its own last place.

    A value of scale s is n 10^-s with an integer n, and n < z holds exactly if n <= floor(z) for a z
    that is not an integer. A z outside the range of n decides the comparison by itself.
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
    # As digits: arithmetic of `Decimal` would round to the 28 of its context.
    digits = str(abs(units)).rjust(kind.scale + 1, "0")
    whole, fraction = digits[: len(digits) - kind.scale], digits[len(digits) - kind.scale :]
    return ibis.literal(f"{'-' if units < 0 else ''}{whole}.{fraction or '0'}").cast(kind)


def _compare_date(comparison: Comparison, value: Value, time: datetime.datetime) -> BooleanValue:
    """Compare a date, which counts as its midnight, with a date and time."""
    if time.time() != datetime.time():
        if comparison in {Comparison.EQUAL, Comparison.UNEQUAL}:
            return _constant(comparison is Comparison.UNEQUAL, value)
        below = comparison in {Comparison.LESS, Comparison.AT_MOST}
        comparison = Comparison.AT_MOST if below else Comparison.GREATER
    return _COMPARE[comparison](value, moment(time.date(), "date"))


def _as_compared(value: Value) -> Value:
    return value.cast("float64") if value.type().is_numeric() else value


def _typed_literal(constant: Literal, kind: dt.DataType) -> Value:
    """Return a literal as the type of what it is compared with."""
    value = constant.value
    if isinstance(value, bool | str):
        return ibis.literal(value)
    if isinstance(value, int | Fraction):
        return double(nearest(Fraction(value)))
    if isinstance(value, datetime.date) and kind.is_timestamp():
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        return moment(value, dt.Timestamp(timezone=kind.timezone, scale=6))
    return moment(value, "date")


def moment(value: object, kind: dt.DataType | str) -> Value:
    """Return a date or time as a literal of a type."""
    return ibis.literal(str(value)).cast(kind)


def nearest(number: Fraction) -> float:
    """Return the double next to a number, an infinity beyond their range."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return inf if number > 0 else -inf


def is_in(value: Value, constants: Sequence[Literal]) -> BooleanValue:
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
                listed.append(moment(typed.date(), "date"))
        else:
            listed.append(_typed_literal(constant, kind))
    return _as_listed(value).isin(listed) if listed else _constant(False, value)


def _as_listed(value: Value) -> Value:
    return value if _is_exact(value.type()) else _as_compared(value)
