"""Keys under functions: which values a function has on a set of public values.

The meaning is that of `functions` and `casts`, on the values that keys can be: text, integers, booleans and
dates. Nothing about privacy rests on it: rows whose value is not among the keys are in no group.
"""

from __future__ import annotations

import datetime
import re
import string
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.data.declarations import KeyValue
from discreet.data.expressions import Function
from discreet.data.schema import Type

__all__ = ["applied", "converted", "truncated"]

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_INTEGER = re.compile("[+-]?[0-9]{1,18}", re.ASCII)
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def applied(function: Function, values: tuple[Any, ...]) -> KeyValue:
    """Return a function of some values, constants among them; NULL where one of them is."""
    return None if None in values else _MEANINGS[function](*values)


def is_applicable(function: Function) -> bool:
    """Return whether a function has an image of keys."""
    return function in _MEANINGS


def converted(value: KeyValue, kind: Type) -> KeyValue:
    """Return a value as another type; NULL where it has no counterpart."""
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


def truncated(unit: str, day: datetime.date) -> datetime.date:
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
    Function.DATE_TRUNC: truncated,
    Function.DATE_DIFFERENCE: lambda day, other: (day - other).days,
}
