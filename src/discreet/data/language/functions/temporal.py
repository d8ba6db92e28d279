"""Functions of dates and times, in the proleptic Gregorian calendar of the years 1 to 9999."""

from __future__ import annotations

import datetime
from calendar import monthrange
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
from discreet.data.language.functions.rules import MOMENTS, TIMES, fixed, is_whole, whole_range
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

__all__ = [
    "DATE_ADD",
    "DATE_DIFFERENCE",
    "DATE_TRUNC",
    "DAY",
    "DAY_OF_WEEK",
    "DAY_OF_YEAR",
    "EPOCH",
    "HOUR",
    "MINUTE",
    "MONTH",
    "MOST_ADDED",
    "QUARTER",
    "SECOND",
    "UNITS",
    "WEEK",
    "YEAR",
    "days_between",
    "first_day",
    "first_days",
    "moment_after",
]

UNITS = ("year", "quarter", "month", "week", "day", "hour")
"""What dates and times can be truncated to."""

MOST_ADDED = {"day": 3_652_058, "month": 119_987, "second": 1_000_000_000}
"""How much of which unit can be added to a date or time: days and months of the years 1 to 9999, and some 31
years of seconds, which the intervals of all engines hold."""
_DAY_SECONDS = 86_400
_EPOCH = datetime.date(1970, 1, 1)


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


def moment_after(unit: str, amount: int, moment: datetime.date) -> datetime.date | None:
    """Return a date or time some days, months or seconds later; None outside the years 1 to 9999.

    A month later is the same day of the month, or its last day where it is shorter.
    """
    try:
        if unit != "month":
            return moment + datetime.timedelta(**{f"{unit}s": amount})
        year, month = divmod(12 * moment.year + moment.month - 1 + amount, 12)
        day = min(moment.day, monthrange(year, month + 1)[1]) if 1 <= year <= 9999 else 0
        return moment.replace(year=year, month=month + 1, day=day)
    except (OverflowError, ValueError):
        return None


def _is_added(operands: Sequence[Operand]) -> bool:
    unit, amount, _ = operands
    most = MOST_ADDED.get(str(unit.constant), -1)
    return is_whole(amount, -most, most)


def _type_of_sum(operands: Sequence[TypedOperand]) -> Type:
    if _unit(operands) == "second" and operands[2].type is Type.DATE:
        raise UnsupportedQuery("hours, minutes or seconds are added to a date; write CAST(day AS TIMESTAMP)")
    return operands[2].type


def _days_of_sum(operands: Sequence[DatedOperand]) -> Dates | None:
    unit, amount, days = _unit(operands), operands[1].constant, operands[2].days
    if days is None or type(amount) is not int:
        return None
    ends = [
        moment_after(unit, amount, datetime.datetime.combine(day, time))
        for day, time in ((days.first, datetime.time.min), (days.last, datetime.time.max))
    ]
    found = [end.date() for end in ends if isinstance(end, datetime.datetime)]
    return Dates(*found) if len(found) == 2 else None


def _range_of_epoch(operands: Sequence[RangedOperand]) -> GridInterval:
    days = operands[0].days or Dates(datetime.date.min, datetime.date.max)
    first, last = ((day - _EPOCH).days * _DAY_SECONDS for day in (days.first, days.last))
    return whole_range(first, last + _DAY_SECONDS - 1)


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
WEEK = _part(
    name="week",
    meaning="The week of the year by ISO 8601, 1 to 53: week 1 has the first Thursday.",
    example="WEEK(day)",
    value=lambda day: day.isocalendar()[1],
    range=fixed(1, 53),
    sql=("WEEK", "WEEKOFYEAR", "WEEK_OF_YEAR"),
    extract=("WEEK", "WEEKOFYEAR"),
)
EPOCH = _part(
    name="epoch",
    meaning="The whole seconds since the beginning of 1970, in UTC; a date counts as its midnight.",
    example="EPOCH(seen)",
    reads=40,
    value=lambda day: (day - _EPOCH).days * _DAY_SECONDS,
    range=_range_of_epoch,
    sql=("EPOCH", "UNIX_TIMESTAMP"),
    extract=("EPOCH",),
)
SECOND = _part(
    name="second",
    meaning="The whole second, 0 to 59.",
    example="SECOND(seen) of a timestamp",
    takes=TIMES,
    range=fixed(0, 59),
    sql=("SECOND",),
    extract=("SECOND",),
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
DATE_ADD = ScalarFunction(
    name="date_add",
    # The unit and the amount are constants, and the first operands; years are months, weeks are days.
    meaning="The date or time some days, months or seconds later, or earlier if the amount is negative; NULL "
    "outside the years 1 to 9999. In a shorter month it is the last day.",
    example="day + INTERVAL '3' MONTH, or DATEADD('day', -7, day), with a whole number",
    operands=(3, 3),
    takes=MOMENTS,
    gives=_type_of_sum,
    constants=_is_added,
    reads=12,
    value=moment_after,
    days=_days_of_sum,
    sql=("DATEADD", "TIMESTAMPADD"),
)
