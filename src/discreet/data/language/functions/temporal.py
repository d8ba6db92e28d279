"""Functions of dates and times, in the proleptic Gregorian calendar of the years 1 to 9999."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from discreet.data.language.declarations import LARGEST_KEYS, Dates
from discreet.data.language.functions.record import (
    DatedOperand,
    KeyedOperand,
    Operand,
    RangedOperand,
    ScalarFunction,
    TypedOperand,
    Values,
)
from discreet.data.language.functions.rules import MOMENTS, TIMES, fixed, whole_range
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

__all__ = [
    "DATE_DIFFERENCE",
    "DATE_TRUNC",
    "DAY",
    "DAY_OF_WEEK",
    "DAY_OF_YEAR",
    "HOUR",
    "MINUTE",
    "MONTH",
    "QUARTER",
    "UNITS",
    "YEAR",
    "days_between",
    "first_day",
    "first_days",
]

UNITS = ("year", "quarter", "month", "week", "day", "hour")
"""What dates and times can be truncated to."""


def first_day(unit: str, day: datetime.date) -> datetime.date:
    """Return the first day of the year, quarter, month or week of a day, or the day itself."""
    if unit == "week":
        return day - datetime.timedelta(days=day.weekday())
    if unit == "day":
        return day
    month = {"year": 1, "quarter": 3 * _quarter(day) - 2, "month": day.month}[unit]
    return datetime.date(day.year, month, 1)


def first_days(unit: str, days: Dates) -> tuple[datetime.date, ...] | None:
    """Return the first days of the units that some days lie in, in order; None if they are too many."""
    if unit in {"week", "day"}:
        width = 7 if unit == "week" else 1
        first, last = first_day(unit, days.first).toordinal(), days.last.toordinal()
        listed = range(first, last + 1, width)
        return tuple(map(datetime.date.fromordinal, listed)) if len(listed) <= LARGEST_KEYS else None
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    start, end = first_day(unit, days.first), days.last
    places = range(12 * start.year + start.month - 1, 12 * end.year + end.month, months)
    return tuple(datetime.date(place // 12, place % 12 + 1, 1) for place in places)


def days_between(days: Dates | None, others: Dates | None) -> GridInterval:
    """Return the range of the number of days from some days to others."""
    if days is None or others is None:
        return GridInterval(step=Fraction(1))
    return whole_range((days.first - others.last).days, (days.last - others.first).days)


def _quarter(day: datetime.date) -> int:
    return (day.month + 2) // 3


def _years(operands: Sequence[RangedOperand]) -> GridInterval:
    days = operands[0].days
    return whole_range(1, 9999) if days is None else whole_range(days.first.year, days.last.year)


def _unit(operands: Sequence[Operand]) -> str:
    return str(operands[0].constant)


def _type_of_truncation(operands: Sequence[TypedOperand]) -> Type:
    if _unit(operands) != "hour":
        return Type.DATE
    if operands[1].type is Type.DATE:
        raise UnsupportedQuery(
            "DATE_TRUNC takes the hour of a date, which has none; write 'day', or take a timestamp"
        )
    return operands[1].type


def _keys_of_truncation(operands: Sequence[KeyedOperand]) -> Values:
    unit, days = _unit(operands), operands[1].days
    return None if days is None or unit == "hour" else first_days(unit, days)


def _days_of_truncation(operands: Sequence[DatedOperand]) -> Dates | None:
    unit, days = _unit(operands), operands[1].days
    if days is None or unit == "hour":
        return days
    return Dates(first_day(unit, days.first), first_day(unit, days.last))


_part: Callable[..., ScalarFunction] = partial(ScalarFunction, takes=MOMENTS, reads=4)
"""A part of a date or time. Points in time are read in UTC."""

YEAR = _part(
    name="year",
    meaning="The year, 1 to 9999.",
    example="YEAR(day)",
    value=lambda day: day.year,
    range=_years,
    rises_in=0,
    sql=("YEAR",),
    extract=("YEAR",),
)
QUARTER = _part(
    name="quarter",
    meaning="The quarter, 1 to 4.",
    example="QUARTER(day)",
    value=_quarter,
    range=fixed(1, 4),
    sql=("QUARTER",),
    extract=("QUARTER",),
)
MONTH = _part(
    name="month",
    meaning="The month, 1 to 12.",
    example="MONTH(day)",
    value=lambda day: day.month,
    range=fixed(1, 12),
    sql=("MONTH",),
    extract=("MONTH",),
)
DAY = _part(
    name="day",
    meaning="The day of the month, 1 to 31.",
    example="DAY(day)",
    value=lambda day: day.day,
    range=fixed(1, 31),
    sql=("DAY", "DAYOFMONTH", "DAY_OF_MONTH"),
    extract=("DAY", "DAYOFMONTH"),
)
DAY_OF_WEEK = _part(
    name="day_of_week",
    meaning="The day of the week: Monday is 1, Sunday 7.",
    example="ISODOW(day)",
    value=lambda day: day.isoweekday(),
    range=fixed(1, 7),
    sql=("ISODOW", "DAYOFWEEK_ISO"),
    extract=("ISODOW", "DAYOFWEEK_ISO"),
)
DAY_OF_YEAR = _part(
    name="day_of_year",
    meaning="The day of the year, 1 to 366.",
    example="DAYOFYEAR(day)",
    value=lambda day: day.timetuple().tm_yday,
    range=fixed(1, 366),
    sql=("DAYOFYEAR", "DAY_OF_YEAR"),
    extract=("DOY", "DAYOFYEAR"),
)
HOUR = _part(
    name="hour",
    meaning="The hour, 0 to 23.",
    example="HOUR(seen) of a timestamp",
    takes=TIMES,
    range=fixed(0, 23),
    sql=("HOUR",),
    extract=("HOUR",),
)
MINUTE = _part(
    name="minute",
    meaning="The minute, 0 to 59.",
    example="MINUTE(seen) of a timestamp",
    takes=TIMES,
    range=fixed(0, 59),
    sql=("MINUTE",),
    extract=("MINUTE",),
)
DATE_TRUNC = ScalarFunction(
    name="date_trunc",
    # The unit is a constant, and the first operand. An hour is a time of the type it was taken from.
    meaning="The first day of the 'year', 'quarter', 'month', 'week' (a Monday) or 'day', as a date; or the "
    "'hour'.",
    example="DATE_TRUNC('month', day), with year, quarter, month, week or day, or hour of a timestamp",
    operands=(2, 2),
    takes=MOMENTS,
    gives=_type_of_truncation,
    constants=lambda operands: operands[0].constant in UNITS,
    reads=4,
    value=first_day,
    keys=_keys_of_truncation,
    days=_days_of_truncation,
    rises_in=1,
    sql=("DATE_TRUNC",),
)
DATE_DIFFERENCE = ScalarFunction(
    name="date_difference",
    meaning="The first operand's date less the second's, in days.",
    example="DATEDIFF('day', first, last)",
    operands=(2, 2),
    takes=MOMENTS,
    reads=4,
    value=lambda day, other: (day - other).days,
    range=lambda operands: days_between(operands[0].days, operands[1].days),
    sql=("DATEDIFF", "DATE_DIFF"),
)
