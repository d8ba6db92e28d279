"""Numbers for readers: few digits, rounded to a stated side, so that what is printed holds what is meant.

An answer is written to the place that its error leaves (`number`): two digits of the error are shown, and the
value to the same place. A cost is written from above and what is left from below: in a sentence as it was
typed where it can be (`show_above`, `show_below`), in tables with six digits and thousands apart (`above`,
`below`), and a float as floats are written (`float_text_above`, `float_text_below`). All digits remain in the
answer itself.

>>> number(1234567.891, 210.4)
'1,234,570'
>>> above(Fraction(1, 3)), below(Fraction(12345678))
('0.333334', '12,345,600')
>>> show_above(Fraction(1, 3)), show_below(Fraction(10**40 + 1, 3 * 10**40))
('1/3', '0.333333')
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import ceil, floor, isfinite, log10

from discreet.privacy.rational import float_above, rational, show, spelled

__all__ = [
    "above",
    "below",
    "decimals_of",
    "float_text_above",
    "float_text_below",
    "json_number",
    "number",
    "percent_above",
    "percent_below",
    "reading",
    "show_above",
    "show_below",
]

_DIGITS = 6
_DIGITS_OF_ERROR = 2
_MOST = 15
_FINEST = 12
_MOST_PERCENT = 1000


def number(
    value: float, error: float, *, side: int = 0, whole: bool = False, decimals: int | None = None
) -> str:
    """Write a number to the second digit of an error, with separated thousands.

    Parameters
    ----------
    value, error : float
        The number, and how wrong it may be; an error of 0 leaves all digits.
    side : int
        -1 to round down, 1 to round up, 0 to round to the nearest.
    whole : bool
        Whether it is an integer, which has no decimals.
    decimals : int, optional
        How many decimals are shown at most.

    Examples
    --------
    >>> number(0.123456, 0.00312)
    '0.1235'
    """
    size = abs(error) or abs(value) * 10.0**-_MOST
    place = _DIGITS_OF_ERROR - 1 - floor(log10(size)) if size else 0
    place = min(place, 0) if whole else place
    place = place if decimals is None else min(place, decimals)
    if place > _FINEST:
        return f"{value + 0.0:.6g}"
    place = min(place, _MOST - floor(log10(abs(value)))) if value else place
    rounding = {-1: ROUND_FLOOR, 0: ROUND_HALF_EVEN, 1: ROUND_CEILING}[side]
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-place), rounding=rounding)
    return f"{rounded + 0:,.{max(place, 0)}f}"


def decimals_of(value: float) -> int:
    """Return how many decimals the shortest decimal of a finite float has.

    Examples
    --------
    >>> decimals_of(12.9), decimals_of(13.0), decimals_of(1e300)
    (1, 0, 0)
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def above(x: Fraction) -> str:
    """Write a fraction with thousands apart, rounded up where six digits do not hold it."""
    return _apart(_rounded(x, ROUND_CEILING))


def below(x: Fraction) -> str:
    """Write a fraction with thousands apart, rounded down where six digits do not hold it."""
    return _apart(_rounded(x, ROUND_FLOOR))


def reading(value: float, exact: Fraction | None = None) -> str:
    """Write a float, read as its shortest decimal, rounded up; or the fraction that it represents."""
    if exact is not None and float_above(exact) <= value:
        return above(exact)
    return above(rational(value, "value")) if isfinite(value) else "infinity"


def float_text_above(value: float) -> str:
    """Write a float, exactly as it is, in six digits as floats are written, rounded up."""
    return _general(value, ROUND_CEILING)


def float_text_below(value: float) -> str:
    """Write a float, exactly as it is, in six digits as floats are written, rounded down."""
    return _general(value, ROUND_FLOOR)


def show_above(x: Fraction) -> str:
    """Write a fraction for a sentence: exactly where `show` can, else six digits, rounded up."""
    return _shown(x, ROUND_CEILING)


def show_below(x: Fraction) -> str:
    """Write a fraction for a sentence: exactly where `show` can, else six digits, rounded down."""
    return _shown(x, ROUND_FLOOR)


def percent_above(part: Fraction, whole: Fraction) -> str:
    """Write a share in percent, rounded up."""
    if part > _MOST_PERCENT // 100 * whole:
        return f"over {_MOST_PERCENT}%"
    return f"{ceil(10_000 * part / whole) / 100 if whole else 0:.2f}%"


def percent_below(part: Fraction, whole: Fraction) -> str:
    """Write a share in percent, rounded down."""
    return f"{floor(10_000 * part / whole) / 100 if whole else 0:.2f}%"


def _rounded(x: Fraction, rounding: str) -> Decimal:
    context = Context(prec=_DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return context.divide(Decimal(x.numerator), Decimal(x.denominator)).normalize(context)


def _apart(rounded: Decimal) -> str:
    return f"{rounded:,f}" if -6 < rounded.adjusted() < 15 else f"{rounded:e}"


def _general(value: float, rounding: str) -> str:
    if not isfinite(value):
        return "infinity"
    rounded = float(_rounded(Fraction(value), rounding))
    return f"{rounded:,.{_DIGITS}g}" if abs(value) < 1e6 else f"{rounded:.{_DIGITS}g}"


def _shown(x: Fraction, rounding: str) -> str:
    text = show(x)
    return text if not text.startswith("≈") else spelled(_rounded(x, rounding))


def json_number(value: float) -> float | str:
    """Return the JSON value of a float; infinity, which JSON lacks, is the text "infinity"."""
    return value if isfinite(value) else "infinity"
