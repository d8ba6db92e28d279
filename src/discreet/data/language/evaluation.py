"""Keys under functions: which values a function has on a set of public values.

The meaning is that of `functions` and `casts`, on the values that keys can be: text, integers, booleans and
dates. Privacy does not depend on it: rows whose value is not among the keys are in no group.
"""

from __future__ import annotations

import datetime
import operator
import re
import string
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.data.language.declarations import KeyValue
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Column,
    Compare,
    Expression,
    Function,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.schema import Type

__all__ = ["evaluate_call", "evaluate_cast", "evaluate_truncation", "value_of"]

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_INTEGER = re.compile("[+-]?[0-9]{1,18}", re.ASCII)
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def evaluate_call(function: Function, values: tuple[Any, ...]) -> KeyValue:
    """Return a function of some values, constants among them; NULL if one of them is."""
    return None if None in values else _MEANINGS[function](*values)


def is_applicable(function: Function) -> bool:
    """Return whether a function has an image of keys."""
    return function in _MEANINGS


def evaluate_cast(value: KeyValue, kind: Type) -> KeyValue:
    """Return a value as another type; NULL if it has no counterpart."""
    if value is None or (kind is Type.BOOLEAN and isinstance(value, bool)):
        return value
    if kind is Type.TEXT:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        return int(value) if isinstance(value, int) else value
    text = value.strip(" ")
    if kind is Type.INTEGER:
        return int(text) if _INTEGER.fullmatch(text) else None
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def evaluate_truncation(unit: str, day: datetime.date) -> datetime.date:
    """Return the first day of the year, quarter, month or week of a day, or the day itself."""
    if unit == "week":
        return day - datetime.timedelta(days=day.weekday())
    if unit == "day":
        return day
    month = {"year": 1, "quarter": 3 * _quarter(day) - 2, "month": day.month}[unit]
    return datetime.date(day.year, month, 1)


def _quarter(day: datetime.date) -> int:
    return (day.month + 2) // 3


def _modulo(value: int, divisor: int) -> int | None:
    if divisor == 0:
        return None
    rest = abs(value) % abs(divisor)
    return rest if value >= 0 else -rest


def _round(value: int, digits: int = 0) -> int:
    if digits >= 0:
        return value
    scale: int = 10 ** abs(digits)
    size = (abs(value) + scale // 2) // scale * scale
    return size if value >= 0 else -size


def _substring(text: str, start: int, length: int | None = None) -> str:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _same(value: int) -> int:
    return value


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _width_bucket(value: int, low: Fraction, high: Fraction, parts: int) -> int:
    place = (Fraction(value) - Fraction(low)) * parts // (Fraction(high) - Fraction(low)) + 1
    return max(0, min(parts + 1, int(place)))


_MEANINGS: dict[Function, Callable[..., Any]] = {
    Function.ABS: abs,
    Function.FLOOR: _same,
    Function.CEILING: _same,
    Function.ROUND: _round,
    Function.SIGN: _sign,
    Function.MODULO: _modulo,
    Function.WIDTH_BUCKET: _width_bucket,
    Function.LOWER: lambda text: text.translate(_LOWER),
    Function.UPPER: lambda text: text.translate(_UPPER),
    Function.TRIM: lambda text: text.strip(" "),
    Function.LENGTH: len,
    Function.SUBSTRING: _substring,
    Function.CONCAT: lambda *texts: "".join(texts),
    Function.REPLACE: lambda text, old, new: text.replace(old, new),
    Function.YEAR: lambda day: day.year,
    Function.QUARTER: _quarter,
    Function.MONTH: lambda day: day.month,
    Function.DAY: lambda day: day.day,
    Function.DAY_OF_WEEK: lambda day: day.isoweekday(),
    Function.DAY_OF_YEAR: lambda day: day.timetuple().tm_yday,
    Function.DATE_TRUNC: evaluate_truncation,
    Function.DATE_DIFFERENCE: lambda day, other: (day - other).days,
}


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def value_of(node: Expression, row: Mapping[str, Any]) -> Any:
    """Evaluate an expression over public values, by the logic of SQL."""
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, IsNull):
        return value_of(node.operand, row) is None
    if isinstance(node, Not):
        truth = value_of(node.operand, row)
        return None if truth is None else not truth
    if isinstance(node, And | Or):
        truths = [value_of(operand, row) for operand in node.operands]
        decisive = isinstance(node, Or)
        return decisive if decisive in truths else None if None in truths else not decisive
    if isinstance(node, IsIn):
        value = value_of(node.operand, row)
        return None if value is None else any(_equal(value, listed.value) for listed in node.values)
    assert isinstance(node, Compare | Arithmetic)  # noqa: S101
    return _binary(node, value_of(node.left, row), value_of(node.right, row))


def _equal(one: Any, other: Any) -> bool:
    return _is_number(one) == _is_number(other) and bool(one == other)


def _binary(node: Compare | Arithmetic, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    try:
        if isinstance(node, Compare):
            return bool(_COMPARE[node.operator.value](left, right))
        if not (_is_number(left) and _is_number(right)):
            raise TypeError
        sides = [Fraction(side) if isinstance(side, int) else side for side in (left, right)]
        return _CALCULATE[node.operator.value](*sides)
    except (ZeroDivisionError, OverflowError, TypeError):
        return None  # the answer is paid for: what has no result is missing


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)
