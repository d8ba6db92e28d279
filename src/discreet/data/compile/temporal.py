"""Functions of dates and times in Ibis, in the proleptic Gregorian calendar of the years 1 to 9999."""

from __future__ import annotations

import datetime
from functools import partial

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import DateValue, IntegerValue, Value

from discreet.data.compile.calls import CallLine, Operands, of_moment
from discreet.data.compile.comparisons import moment
from discreet.data.language.expressions import Literal

__all__ = ["FUNCTIONS", "INSTANT", "TIMESTAMP", "count_days", "date", "date_part", "known", "truncate_date"]

TIMESTAMP = dt.Timestamp(scale=6)
INSTANT = dt.Timestamp(timezone="UTC", scale=6)

_UNITS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h"}


def known(value: Value) -> Value:
    """Return a date or time, points in time as those of UTC; NULL outside the years 1 to 9999."""
    kind = value.type()
    if kind.is_date():
        first, last = (moment(day, "date") for day in (datetime.date.min, datetime.date.max))
    else:
        first, last = (moment(time, kind) for time in _ends(kind))
    known = ibis.ifelse((value >= first) & (value <= last), value, ibis.null(kind))
    return known.cast(TIMESTAMP) if kind.is_timestamp() and kind.timezone is not None else known


def _ends(kind: dt.DataType) -> tuple[datetime.datetime, datetime.datetime]:
    zone = None if kind.timezone is None else datetime.UTC
    return datetime.datetime.min.replace(tzinfo=zone), datetime.datetime.max.replace(tzinfo=zone)


def date(value: Value) -> DateValue:
    """Return the date of a date or time."""
    inside = known(value)
    return inside if inside.type().is_date() else inside.cast("date")


def count_days(value: DateValue, other: DateValue) -> IntegerValue:
    """Return by how many days a date is after another."""
    return known(value).delta(known(other), unit="day").cast("int64")


def truncate_date(value: Value, unit: str) -> Value:
    """Return the first day of a unit of time, as a date; or the hour, as a time of the same type."""
    if unit == "day":
        return date(value)
    if unit == "hour":
        hour = known(value).truncate(_UNITS[unit])
        return hour.cast(INSTANT) if value.type().timezone is not None else hour
    return date(value).cast(TIMESTAMP).truncate(_UNITS[unit]).cast("date")


def date_part(name: str, value: Value) -> IntegerValue:
    """Return the year, quarter, month, day, day_of_year, hour or minute of a date or time."""
    return getattr(known(value), name)().cast("int64")


def _day_of_week(value: Value) -> IntegerValue:
    return known(value).day_of_week.index().cast("int64") + ibis.literal(1, type="int64")


def _truncate(operands: Operands) -> Value:
    unit, moment = operands.nodes
    assert isinstance(unit, Literal)  # noqa: S101
    return truncate_date(operands.value(moment), str(unit.value))


def _difference(operands: Operands) -> IntegerValue:
    return count_days(*(date(operands.value(node)) for node in operands.nodes))


FUNCTIONS: dict[str, CallLine] = {
    "year": of_moment(partial(date_part, "year")),
    "quarter": of_moment(partial(date_part, "quarter")),
    "month": of_moment(partial(date_part, "month")),
    "day": of_moment(partial(date_part, "day")),
    "day_of_week": of_moment(_day_of_week),
    "day_of_year": of_moment(partial(date_part, "day_of_year")),
    "hour": of_moment(partial(date_part, "hour")),
    "minute": of_moment(partial(date_part, "minute")),
    "date_trunc": _truncate,
    "date_difference": _difference,
}
