"""How a value is printed with its interval: with as many digits as its error allows, and no more.

Two digits of the error are shown, and the value to the same place. Margins and ends are rounded outward, so
that what is printed holds what it stands for. All digits remain in the answer itself.

>>> number(1234567.891, 210.4)
'1,234,570'
>>> number(0.123456, 0.00312)
'0.1235'
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, isfinite, log10

from discreet.curator.request import Column

__all__ = ["cell", "number", "remark_of"]

_DIGITS = 2
_MOST = 15
_FINEST = 12
_ALIKE = 0.01
"""Two margins that differ by less than this share are printed as one."""


def cell(column: Column, place: int) -> str:
    """Write a value with its interval, if it has one."""
    value = column.values[place]
    if column.lower is None or column.upper is None:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    shown, lower, upper = float(value), float(column.lower[place]), float(column.upper[place])
    if not all(map(isfinite, (shown, lower, upper))):
        return "unknown"
    below, above = shown - lower, upper - shown
    error, whole = max(below, above), column.values.dtype.kind == "i"
    low, high = (number(end, error, side=side, whole=whole) for end, side in ((lower, -1), (upper, 1)))
    if column.unknown is not None and column.unknown[place]:
        return f"unknown ({low} to {high})"
    text = number(shown, error, whole=whole)
    if column.excess is not None and lower == 0 and below < above:
        return f"{text} (at most {high})"
    if abs(above - below) <= _ALIKE * error:
        return f"{text} ± {number(error, error, side=1, whole=whole)}"
    return f"{text} ({low} to {high})"


def number(value: float, error: float, *, side: int = 0, whole: bool = False) -> str:
    """Write a number to the second digit of an error, with thousands apart.

    Parameters
    ----------
    value, error : float
        The number, and how wrong it may be; an error of 0 leaves all digits.
    side : int
        -1 to round down, 1 to round up, 0 to round to the nearest.
    whole : bool
        Whether it is an integer, which has no decimals.
    """
    size = abs(error) or abs(value) * 10.0**-_MOST
    place = _DIGITS - 1 - floor(log10(size)) if size else 0
    place = min(place, 0) if whole else place
    if place > _FINEST:
        return f"{value + 0.0:.6g}"
    place = min(place, _MOST - floor(log10(abs(value)))) if value else place
    rounding = {-1: ROUND_FLOOR, 0: ROUND_HALF_EVEN, 1: ROUND_CEILING}[side]
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-place), rounding=rounding)
    return f"{rounded + 0:,.{max(place, 0)}f}"


def remark_of(column: Column) -> str:
    """Return what has to be said about a column below the table; empty if nothing."""
    if column.bias:
        bias = number(column.bias, column.bias, side=1)
        return f"{column.name}: raised to 0 where negative, which puts it up to {bias} too high on average"
    if column.excess is not None and bool((column.values < 0).any()):
        return f"{column.name}: negative values are noise around small counts; nonnegative() raises them to 0"
    return f"{column.name}: {column.offers}" if column.offers else ""
