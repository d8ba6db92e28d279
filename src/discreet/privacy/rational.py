"""Exact numbers: what a user types becomes a fraction, and a fraction leaves as a float on a stated side.

A privacy parameter that is held as a binary float is not the number that was typed: ten
times ``0.1`` is not ``1``. Here ``0.1`` means 1/10. Everything inside is a
`fractions.Fraction`; a float is made last, rounded toward the side the caller names.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import ParameterError

__all__ = [
    "Number",
    "confidence_level",
    "float_above",
    "float_below",
    "float_written",
    "non_negative",
    "positive",
    "probability",
    "rational",
    "show",
    "spelled",
    "typed_as_integers",
    "whole",
]

Number: TypeAlias = int | float | str | Decimal | Fraction | np.integer[Any] | np.floating[Any]
"""What a parameter may be typed as."""

MOST_BITS = 4096
MOST_DIGITS = 1234  # the decimal digits of 2**4096: nothing longer can pass the limit on bits

_LEAST_FAILURE = Fraction(1, 10**300)  # so that 1 - confidence, as a float, is above 0

# Made once: a union that is written where it is asked for is built anew at every question.
_BOOLEANS, _INTEGERS, _FLOATS = (bool, np.bool_), (int, np.integer), (float, np.floating)

_RATIO = re.compile(r"\s*([+-]?[0-9]+)\s*/\s*([0-9]+)\s*")
_DECIMAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?\s*")
_ALLOWED = "a finite number: an int, a float, a Fraction, a Decimal or text such as '1/3'"
_RANGE = f"a number whose numerator and denominator have at most {MOST_BITS} bits"


def rational(value: Number, name: str, *, positive: bool = False) -> Fraction:
    """Turn a number, as it was typed, into the exact fraction that it means.

    Parameters
    ----------
    value : int, float, str, Decimal, Fraction or a NumPy integer or float
        A float means its shortest decimal: 0.1 is 1/10. NumPy's narrower and wider floats mean
        exactly what they hold: ``numpy.float32(0.1)`` is a little more than 1/10.
        Text is a decimal ("0.25", "1e-6") or a ratio ("1/3").
    name : str
        The name of the parameter, for the error message.
    positive : bool
        Whether zero and negative numbers are refused.

    Returns
    -------
    Fraction
        Numerator and denominator are plain ints of at most 4096 bits.

    Raises
    ------
    ParameterError
        For NaN, infinities, booleans, other types, and numbers that are too long to hold.
        The message never contains the value. No number is built before its size is known, so
        that ``Decimal("1e999999999")`` is refused at once.
    """
    fraction = _exact(value, name)
    if positive and fraction.numerator <= 0:  # an integer is compared sooner than a fraction
        raise ParameterError(name, "is not positive", "greater than 0")
    return fraction


def non_negative(value: Number, name: str) -> Fraction:
    """Turn a number into its fraction and refuse it when it is below zero."""
    fraction = _exact(value, name)
    if fraction.numerator < 0:
        raise ParameterError(name, "is negative", "0 or greater")
    return fraction


def positive(**values: Number) -> dict[str, Fraction]:
    """Turn numbers into fractions greater than 0, under the names by which they are given."""
    return {name: rational(value, name, positive=True) for name, value in values.items()}


def probability(value: Number, name: str, *, zero: bool = True, one: bool = True) -> Fraction:
    """Turn a number into its fraction and refuse it when it does not lie between 0 and 1.

    Parameters
    ----------
    value, name
        As for `rational`.
    zero, one : bool
        Whether 0 and 1 themselves are allowed.
    """
    fraction = _exact(value, name)
    if not 0 <= fraction <= 1 or (fraction == 0 and not zero) or (fraction == 1 and not one):
        lower, upper = "at least 0" if zero else "above 0", "at most 1" if one else "below 1"
        raise ParameterError(name, "is out of range", f"{lower} and {upper}")
    return fraction


def confidence_level(value: Number) -> Fraction:
    """Turn a confidence into its fraction: above 0, and below 1 by what a float can still hold."""
    level = _exact(value, "confidence")
    if not 0 < level <= 1 - _LEAST_FAILURE:
        raise ParameterError("confidence", "is out of range", "above 0 and at most 1 - 1e-300, such as 0.95")
    return level


def whole(value: object, name: str, *, least: int, most: int | None = None) -> int:
    """Check that a value is an integer (Python's or NumPy's, no boolean) within its range."""
    allowed = f"an integer of at least {least}" + ("" if most is None else f" and at most {most}")
    if isinstance(value, _BOOLEANS):
        raise ParameterError(name, "is a boolean", allowed)
    try:
        number = int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(name, "is not an integer", allowed) from None
    if number < least or (most is not None and number > most) or number.bit_length() > MOST_BITS:
        raise ParameterError(name, "is out of range", allowed)
    return number


def _exact(value: object, name: str) -> Fraction:
    if isinstance(value, Fraction):
        # A fraction made from NumPy integers keeps them, and they overflow silently.
        return _limited(int(value.numerator), int(value.denominator), name)
    if isinstance(value, _BOOLEANS):
        raise ParameterError(name, "is a boolean", _ALLOWED)
    if isinstance(value, _INTEGERS):
        return _limited(int(value), 1, name)
    if isinstance(value, _FLOATS):
        if not np.isfinite(value):
            raise ParameterError(name, "is not finite", _ALLOWED)
        if not isinstance(value, float):  # NumPy's float64 is a float; narrower ones mean what they hold
            return _limited(*value.as_integer_ratio(), name)
        return _from_decimal(Decimal(np.format_float_scientific(value, unique=True)), name)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ParameterError(name, "is not finite", _ALLOWED)
        return _from_decimal(value, name)
    if isinstance(value, str):
        return _from_text(value, name)
    raise ParameterError(name, f"has the type {type(value).__name__}", _ALLOWED)


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > 2 * MOST_DIGITS + 16:
        raise ParameterError(name, "is too long", _RANGE)
    if ratio := _RATIO.fullmatch(text):
        numerator, denominator = int(ratio[1]), int(ratio[2])
        if denominator == 0:
            raise ParameterError(name, "has the denominator 0", _ALLOWED)
        return _limited(numerator, denominator, name)
    if _DECIMAL.fullmatch(text):
        return _from_decimal(Decimal(text.strip()), name)
    raise ParameterError(name, "is text that is not a number", _ALLOWED)


def _from_decimal(value: Decimal, name: str) -> Fraction:
    if not value:
        return Fraction(0)
    if abs(value.adjusted()) > MOST_DIGITS or len(value.as_tuple().digits) > MOST_DIGITS:
        raise ParameterError(name, "is too large, too small or too long", _RANGE)
    fraction = Fraction(value)
    return _limited(fraction.numerator, fraction.denominator, name)


def _limited(numerator: int, denominator: int, name: str) -> Fraction:
    if max(numerator.bit_length(), denominator.bit_length()) > MOST_BITS:
        raise ParameterError(name, "is too large, too small or too long", _RANGE)
    return Fraction(numerator) if denominator == 1 else Fraction(numerator, denominator)


def typed_as_integers(*values: object) -> bool:
    """Return whether all numbers were typed as integers, Python's or NumPy's."""
    return all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values)


def float_above(x: Fraction) -> float:
    """Return the smallest float that is not below x (infinity when x exceeds every float)."""
    try:
        nearest = x.numerator / x.denominator  # division of integers rounds correctly
    except OverflowError:
        return math.inf if x > 0 else -sys.float_info.max
    return nearest if Fraction(nearest) >= x else math.nextafter(nearest, math.inf)


def float_below(x: Fraction) -> float:
    """Return the largest float that is not above x (minus infinity when x is below every float)."""
    return 0.0 - float_above(-x)  # so that 0 has no sign


def float_written(x: Fraction, *, below: bool = False) -> float:
    """Return the float whose shortest decimal is x, if there is one; else the next above, or below.

    A float that is typed is read as its shortest decimal (`rational`), so that the first is x itself.

    Examples
    --------
    >>> float_written(Fraction("2.3")), float_above(Fraction("2.3")), float_written(Fraction(1, 3))
    (2.3, 2.3000000000000003, 0.33333333333333337)
    """
    rounded = float_below(x) if below else float_above(x)
    if math.isinf(rounded):
        return rounded
    near = x.numerator / x.denominator
    return near if Fraction(repr(near)) == x else rounded


def show(x: Fraction) -> str:
    """Write a fraction for people: a decimal where one of twelve digits is exact, or p/q, or ≈ six digits.

    Examples
    --------
    >>> show(Fraction(1, 4)), show(Fraction(1, 3)), show(Fraction(1, 10**6))
    ('0.25', '1/3', '1e-6')
    >>> show(Fraction(10**40 + 1, 3 * 10**40))
    '≈0.333333'
    """
    decimal, exact = _rounded(x, digits=12)
    if exact:
        return spelled(decimal)
    if max(abs(x.numerator), x.denominator) < 10**15 and len(str(x)) <= 15:
        return str(x)
    return "≈" + spelled(_rounded(x, digits=6)[0])


def _rounded(x: Fraction, *, digits: int) -> tuple[Decimal, bool]:
    context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
    decimal = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    return decimal.normalize(context), not context.flags[Inexact]


def spelled(decimal: Decimal) -> str:
    """Write a decimal as people do: 1e-6 and 0.25, and no exponent where fewer than 15 zeros do without."""
    if -6 < decimal.adjusted() < 15:
        return f"{decimal:f}"
    digits, exponent = f"{decimal:e}".split("e")
    return f"{digits}e{int(exponent)}"
