"""Exact numbers in six digits, rounded to a stated side: 1/10 is 0.1, and 1/3 from above is 0.333334."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import isfinite

from discreet.privacy.rational import float_above, rational

__all__ = ["above", "below", "reading"]

_DIGITS = 6


def above(value: Fraction) -> str:
    """Write a fraction, rounded up where six digits do not hold it."""
    return _written(value, ROUND_CEILING)


def below(value: Fraction) -> str:
    """Write a fraction, rounded down where six digits do not hold it."""
    return _written(value, ROUND_FLOOR)


def reading(value: float, exact: Fraction | None = None) -> str:
    """Write a float, read as its shortest decimal, rounded up; or the fraction that it represents."""
    if exact is not None and float_above(exact) <= value:
        return above(exact)
    return above(rational(value, "value")) if isfinite(value) else "infinity"


def _written(value: Fraction, rounding: str) -> str:
    context = Context(prec=_DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{rounded:,f}" if -6 < rounded.adjusted() < 15 else f"{rounded:e}"
