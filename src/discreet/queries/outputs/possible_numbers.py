"""Interval arithmetic on the columns of an answer, with NULL: which numbers the exact statistics can give.

If every operand's number is within its ends, or is missing where it may be, so is the result's. Ends hold
their number up to half a unit in the last place, which is what writing 0.1 as a double costs; every operation
widens its result by more than that and its own roundings amount to. Integers stay exact up to 2^49.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.rational import float_above, float_below
from discreet.records import dataclass

__all__ = [
    "PossibleNumbers",
    "absolute",
    "chosen",
    "constants",
    "divided",
    "first_present",
    "integer_part",
    "larger_present",
    "negative",
    "null_if",
    "plus",
    "root_or_null",
    "rounded_outward",
    "sign",
    "times",
]

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]

_SLACK = 2.0**-50
"""More than the roundings of two operands and of one operation, relative to the numbers involved."""
_LARGEST = float(np.finfo(np.float64).max)
_SMALLEST = 2.0**-1000
"""Products and quotients nearer to 0 may have lost digits; they are taken to be anything up to this."""
_EXACT = 2.0**49


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PossibleNumbers:
    """A number for each group: as released, and what the exact one can be.

    Attributes
    ----------
    low, high : arrays
        The exact number, if there is one, is between them. Where there is surely none, they are infinity and
        minus infinity.
    value : array
        As released; NaN is NULL.
    null : array of booleans
        Where the exact number may be NULL.
    whole : bool
        Whether it is an integer in every group.
    """

    low: _Floats
    value: _Floats
    high: _Floats
    null: _Flags
    whole: bool = False

    def outward(self) -> tuple[_Floats, _Floats]:
        """Return ends that hold the number itself. Integers are exact, so that they need no slack."""
        ends = []
        for end, side in ((self.low, -1.0), (self.high, 1.0)):
            exact = (np.abs(end) < _EXACT) & (end == np.rint(end)) | np.isinf(end)
            with np.errstate(invalid="ignore"):  # where there is surely no number
                ends.append(np.where(exact, end, end + side * _SLACK * np.abs(end)))
        return ends[0], ends[1]


def constants(values: Sequence[int | Fraction | None]) -> PossibleNumbers:
    """Return public numbers, one for each group."""
    known = [value for value in values if value is not None]
    low = [np.inf if value is None else float_below(Fraction(value)) for value in values]
    high = [-np.inf if value is None else float_above(Fraction(value)) for value in values]
    return PossibleNumbers(
        low=np.array(low, np.float64),
        value=np.array([np.nan if value is None else float(value) for value in values], np.float64),
        high=np.array(high, np.float64),
        null=np.array([value is None for value in values], np.bool_),
        whole=all(Fraction(value).denominator == 1 for value in known),
    )


def negative(one: PossibleNumbers) -> PossibleNumbers:
    """Return the numbers with the other sign."""
    return replace(one, low=-one.high, value=-one.value, high=-one.low)


def plus(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return sums."""
    with np.errstate(invalid="ignore", over="ignore"):
        low, value, high = one.low + other.low, one.value + other.value, one.high + other.high
        low = low - _SLACK * (np.abs(one.low) + np.abs(other.low))
        high = high + _SLACK * (np.abs(one.high) + np.abs(other.high))
    return _result(low, value, high, one, other, whole=one.whole and other.whole)


def times(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return products: the extreme ones are those of two ends; an infinite end times 0 counts as 0."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        lows, highs = [], []
        for a in (one.low, one.high):
            for b in (other.low, other.high):
                low, high = _around(np.nan_to_num(a * b, nan=0.0, posinf=np.inf, neginf=-np.inf), a, b)
                lows.append(low)
                highs.append(high)
        value = one.value * other.value
    whole = one.whole and other.whole
    return _result(np.min(lows, axis=0), value, np.max(highs, axis=0), one, other, whole=whole)


def divided(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return quotients; NULL where divided by 0. Where the divisor can be 0 they can be anything."""
    zero = (other.low <= 0) & (other.high >= 0)
    with np.errstate(invalid="ignore", over="ignore", under="ignore", divide="ignore"):
        lows, highs = [], []
        for a in (one.low, one.high):
            for b in (other.low, other.high):
                low, high = _around(np.nan_to_num(a / b, nan=0.0, posinf=np.inf, neginf=-np.inf), a, b)
                lows.append(low)
                highs.append(high)
        value = np.where(other.value == 0, np.nan, one.value / other.value)
    low = np.where(zero, -np.inf, np.min(lows, axis=0))
    high = np.where(zero, np.inf, np.max(highs, axis=0))
    found = _result(low, value, high, one, other, whole=False)
    return replace(found, null=found.null | zero)


def rounded_outward(one: PossibleNumbers, digits: int) -> PossibleNumbers:
    """Return the nearest multiples of 10^-digits, halves away from zero; the ends are rounded outward.

    Let s be the lower end times 10^digits in doubles. Below 2^49 it is off by less than a quarter, so that
    the rounded number is at least floor(s) of them. Above, rounding moves a number by less than four times
    the slack.
    """
    if one.whole and digits >= 0:
        return one
    scale = 10.0 ** abs(digits)

    def scaled(end: _Floats) -> _Floats:
        return end * scale if digits >= 0 else end / scale

    def restored(end: _Floats) -> _Floats:
        return end / scale if digits >= 0 else end * scale

    with np.errstate(invalid="ignore", over="ignore"):
        below, above = scaled(one.low), scaled(one.high)
        below = np.where(np.abs(below) < _EXACT, np.floor(below), below - 4 * _SLACK * np.abs(below))
        above = np.where(np.abs(above) < _EXACT, np.ceil(above), above + 4 * _SLACK * np.abs(above))
        middle = scaled(one.value)
        value = restored(np.copysign(np.floor(np.abs(middle) + 0.5), middle))
    return _result(restored(below), value, restored(above), one, whole=digits <= 0)


def integer_part(one: PossibleNumbers, *, up: bool) -> PossibleNumbers:
    """Return the largest integers that are not above, or with `up` the least that are not below."""
    if one.whole:
        return one
    part = np.ceil if up else np.floor
    low, high = one.outward()
    return _result(part(low), part(one.value), part(high), one, whole=True)


def absolute(one: PossibleNumbers) -> PossibleNumbers:
    """Return magnitudes."""
    least = np.maximum(np.maximum(one.low, -one.high), 0.0)
    most = np.maximum(-one.low, one.high)
    return _result(least, np.abs(one.value), most, one, whole=one.whole)


def sign(one: PossibleNumbers) -> PossibleNumbers:
    """Return -1, 0 or 1."""
    return _result(np.sign(one.low), np.sign(one.value), np.sign(one.high), one, whole=True)


def root_or_null(one: PossibleNumbers) -> PossibleNumbers:
    """Return square roots; NULL below 0."""
    with np.errstate(invalid="ignore"):
        low, high = np.sqrt(np.maximum(one.low, 0.0)), np.sqrt(np.maximum(one.high, 0.0))
        low, high = low - _SLACK * low, high + _SLACK * np.where(np.isinf(high), 0.0, high)
        found = _result(np.maximum(low, 0.0), np.sqrt(one.value), high, one, whole=False)
    none = one.high < 0
    return replace(
        found,
        low=np.where(none, np.inf, found.low),
        high=np.where(none, -np.inf, found.high),
        null=found.null | (one.low < 0),
    )


def first_present(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return the first, and the other where the first is NULL."""
    found = chosen(np.isnan(one.value), one.null, one.low <= one.high, other, one)
    return replace(found, null=one.null & other.null)


def chosen(
    released: _Flags, possible: _Flags, avoidable: _Flags, one: PossibleNumbers, other: PossibleNumbers
) -> PossibleNumbers:
    """Return the one where a condition is TRUE, else the other.

    Parameters
    ----------
    released : array of booleans
        Whether it is TRUE of released values.
    possible, avoidable : arrays of booleans
        Whether it may be TRUE of the exact ones, and whether it may be otherwise.
    one, other : PossibleNumbers
        What there is to choose from.
    """
    low = np.minimum(np.where(possible, one.low, np.inf), np.where(avoidable, other.low, np.inf))
    high = np.maximum(np.where(possible, one.high, -np.inf), np.where(avoidable, other.high, -np.inf))
    return PossibleNumbers(
        low=low,
        value=np.where(released, one.value, other.value),
        high=high,
        null=(possible & one.null) | (avoidable & other.null),
        whole=one.whole and other.whole,
    )


def null_if(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return the first, or NULL where the two are equal."""
    (low, high), (least, most) = one.outward(), other.outward()
    return replace(
        one,
        value=np.where(one.value == other.value, np.nan, one.value),
        null=one.null | ((low <= most) & (least <= high)),
    )


def larger_present(one: PossibleNumbers, other: PossibleNumbers) -> PossibleNumbers:
    """Return the larger ones; NULL is skipped."""
    sure = np.maximum(np.where(one.null, -np.inf, one.low), np.where(other.null, -np.inf, other.low))
    either = one.null & other.null
    return PossibleNumbers(
        low=np.where(either, np.minimum(one.low, other.low), sure),
        value=np.fmax(one.value, other.value),
        high=np.maximum(one.high, other.high),
        null=either,
        whole=one.whole and other.whole,
    )


def _around(found: _Floats, one: _Floats, other: _Floats) -> tuple[_Floats, _Floats]:
    """Return what a product or quotient of two ends is at least and at most."""
    slack = _SLACK * np.where(np.isinf(found), 0.0, np.abs(found))
    lost = (np.abs(found) < _SMALLEST) & (one != 0) & (other != 0) & np.isfinite(one) & np.isfinite(other)
    slack = np.where(lost, _SMALLEST, slack)
    return found - slack, found + slack


def _result(
    low: _Floats, value: _Floats, high: _Floats, *operands: PossibleNumbers, whole: bool
) -> PossibleNumbers:
    """Return a result, with what overflowed taken for unknown, and nothing where an operand is missing."""
    low = np.minimum(np.where(np.isnan(low), -np.inf, low), _LARGEST)
    high = np.maximum(np.where(np.isnan(high), np.inf, high), -_LARGEST)
    if whole:  # an integer within the ends
        low = np.where(np.abs(low) < _EXACT, np.ceil(low), low)
        high = np.where(np.abs(high) < _EXACT, np.floor(high), high)
    none = np.any([operand.low > operand.high for operand in operands], axis=0)
    return PossibleNumbers(
        low=np.where(none, np.inf, low) + 0.0,
        value=np.where(np.isfinite(value), value, np.nan) + 0.0,
        high=np.where(none, -np.inf, high) + 0.0,
        null=np.any([operand.null for operand in operands], axis=0),
        whole=whole,
    )
