"""Conversions in Ibis that cannot fail: a value without a counterpart becomes NULL.

===================  ==============================================================================
from, to             means
===================  ==============================================================================
text, integer        ``[+-]digits``, 1 to 18 of them, spaces around; NULL otherwise
text, float          ``[+-]digits[.digits]``, at most 40 characters, a digit at least, spaces around
text, date           ``YYYY-MM-DD``, a day of the calendar, spaces around
float, integer       the nearest, halves away from zero; NULL for NaN and beyond 64 bits
integer, float       the nearest double; a decimal too
boolean, number      1 and 0
boolean, text        ``true`` and ``false``
integer, text        decimal digits, ``-`` in front if negative
date, text           ``YYYY-MM-DD``; NULL outside the years 1 to 9999
date, timestamp      its midnight
timestamp, date      its day; a point in time has that of UTC
===================  ==============================================================================
"""

from __future__ import annotations

import ibis
from ibis.expr.types import BooleanValue, IntegerValue, StringValue, Value

from discreet.data.compile import numeric, strings, temporal
from discreet.data.language.types import Type

__all__ = ["as_type", "cast_to"]

_DIGITS = "0123456789"
_MOST_DIGITS = 18
_LONGEST_NUMBER = 40


def as_type(value: Value, kind: Type) -> Value:
    """Return a value in the type that all engines share; from numbers to integers only where it is one."""
    found = value.type()
    if kind is Type.INTEGER and not found.is_int64():
        return value.cast("int64")
    if kind is Type.FLOAT and not found.is_float64():
        return (value.cast("int64") if found.is_boolean() else value).cast("float64")
    return value


def cast_to(value: Value, kind: Type) -> Value:
    """Return a value as another type, NULL if it has no counterpart."""
    found = value.type()
    if found.is_string() and kind is not Type.TEXT:
        return _FROM_TEXT[kind](strings.stripped(value))
    if kind is Type.TEXT:
        return _text(value)
    if kind in {Type.DATE, Type.TIMESTAMP}:
        moment = temporal.known(value)
        return moment.cast("date" if kind is Type.DATE else temporal.TIMESTAMP)
    if kind is Type.INTEGER and not (found.is_integer() or found.is_boolean()):
        return numeric.rounded(value.cast("float64"), 0)
    return as_type(value, kind)


def _text(value: Value) -> StringValue:
    found = value.type()
    if found.is_boolean():
        return ibis.cases((value, "true"), (value == ibis.literal(False), "false"), else_=ibis.null("string"))
    if found.is_string():
        return value
    if not found.is_date():
        # Below CASE, since the COLLATE that PostgreSQL needs with it cannot stand everywhere.
        return ibis.ifelse(value.notnull(), value.cast("string"), ibis.null("string"))
    parts = (temporal.date_part(part, value) for part in ("year", "month", "day"))
    year, month, day = (
        part.cast("string").lpad(width, "0") for part, width in zip(parts, (4, 2, 2), strict=True)
    )
    return year + "-" + month + "-" + day


def _unsigned(text: StringValue) -> StringValue:
    signed = text.substr(0, 1).isin(["+", "-"])
    return ibis.ifelse(signed, text.substr(1), text)


def _is_digits(text: StringValue, most: int) -> BooleanValue:
    length = text.length()
    return (length >= 1) & (length <= most) & (strings.without(text, _DIGITS) == "")


def _integer(text: StringValue) -> IntegerValue:
    return ibis.ifelse(_is_digits(_unsigned(text), _MOST_DIGITS), text, ibis.null("string")).cast("int64")


def _float(text: StringValue) -> Value:
    digits = _unsigned(text)
    good = (
        (digits.length() <= _LONGEST_NUMBER)
        & strings.without(digits, _DIGITS).isin(["", "."])
        & (digits != ".")
        & (digits != "")
    )
    return ibis.ifelse(good, text, ibis.null("string")).cast("float64")


def _date(text: StringValue) -> Value:
    shaped = (text.length() == 10) & (text.substr(4, 1) == "-") & (text.substr(7, 1) == "-")
    shaped &= strings.without(text, _DIGITS) == "--"
    fields = [
        ibis.ifelse(shaped, text.substr(start, length), ibis.null("string")).cast("int64")
        for start, length in ((0, 4), (5, 2), (8, 2))
    ]
    good = _is_day(*fields)
    return ibis.ifelse(good, text, ibis.null("string")).cast("date")


def _is_day(year: IntegerValue, month: IntegerValue, day: IntegerValue) -> BooleanValue:
    """Return whether the calendar has a day."""
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    last = ibis.cases((month.isin([4, 6, 9, 11]), 30), ((month == 2) & leap, 29), (month == 2, 28), else_=31)
    return (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)


_FROM_TEXT = {Type.INTEGER: _integer, Type.FLOAT: _float, Type.DATE: _date}
