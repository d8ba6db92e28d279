"""Numbers for readers: as many digits as the error leaves, and no more.

Two digits of the error are shown, and the value to the same place. Margins and ends are rounded outward, so
that the printed interval contains the real one. All digits remain in the answer itself.

>>> number(1234567.891, 210.4)
'1,234,570'
>>> number(0.123456, 0.00312)
'0.1235'
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, log10

__all__ = ["number"]


_DIGITS = 2
_MOST = 15
_FINEST = 12


def number(value: float, error: float, *, side: int = 0, whole: bool = False) -> str:
    """Write a number to the second digit of an error, with separated thousands.

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
