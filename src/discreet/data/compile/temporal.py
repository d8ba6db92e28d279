"""Functions of dates and times in Ibis, in the proleptic Gregorian calendar of the years 1 to 9999."""

from __future__ import annotations

import datetime
from calendar import monthrange
from functools import partial

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import DateValue, IntegerValue, Value

from discreet.data.compile.calls import CallLine, Operands, of_moment
from discreet.data.compile.comparisons import moment
from discreet.data.language.expressions import Literal

__all__ = ["FUNCTIONS", "INSTANT", "TIMESTAMP", "count_days", "date", "date_part", "known", "truncate_date"]

_EPOCH = datetime.date(1970, 1, 1)
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
    """Return a part of a date or time, such as its year, week_of_year or minute, by its name in Ibis."""
    return getattr(known(value), name)().cast("int64")


def _day_of_week(value: Value) -> IntegerValue:
    return known(value).day_of_week.index().cast("int64") + ibis.literal(1, type="int64")


def _truncate(operands: Operands) -> Value:
    unit, moment = operands.nodes
    assert isinstance(unit, Literal)  # noqa: S101
    return truncate_date(operands.value(moment), str(unit.value))


def _epoch(value: Value) -> IntegerValue:
    """Return the whole seconds since 1970, by the calendar: engines round fractions differently."""
    days = count_days(date(value), moment(_EPOCH, "date"))
    if value.type().is_date():
        return days * _whole(86_400)
    hours, minutes, seconds = (date_part(part, value) for part in ("hour", "minute", "second"))
    return ((days * _whole(24) + hours) * _whole(60) + minutes) * _whole(60) + seconds


def _whole(number: int) -> IntegerValue:
    return ibis.literal(number, type="int64")


def _add(operands: Operands) -> Value:
    """Return a date or time some units later.

    What would leave the years 1 to 9999 is NULL before anything is added, since engines fail beyond theirs.
    """
    unit, amount, node = operands.nodes
    assert isinstance(unit, Literal) and isinstance(amount, Literal)  # noqa: S101, PT018
    value = operands.value(node)
    inside = known(value)
    kind = inside.type()
    first, last = (moment(_typed_end(end, kind), kind) for end in _room(str(unit.value), int(amount.value)))  # type: ignore[arg-type]
    safe = ibis.ifelse((inside >= first) & (inside <= last), inside, ibis.null(kind))
    later = safe + ibis.interval(**{f"{unit.value}s": int(amount.value)})  # type: ignore[arg-type]
    return later.cast(INSTANT if value.type().is_timestamp() and value.type().timezone is not None else kind)


def _typed_end(end: datetime.datetime, kind: dt.DataType) -> datetime.date:
    return end.date() if kind.is_date() else end


def _room(unit: str, amount: int) -> tuple[datetime.datetime, datetime.datetime]:
    """Return the first and last times to which so much can be added within the years 1 to 9999."""
    first, last = datetime.datetime.min, datetime.datetime.max
    if unit == "month":
        # A day of the month never leaves its month, so both ends are those of whole months.
        (year, month), (final, later) = (
            divmod(12 * end.year + end.month - 1 - limit(amount, 0), 12)
            for end, limit in ((first, min), (last, max))
        )
        most = monthrange(final, later + 1)[1]
        return first.replace(year=year, month=month + 1), last.replace(year=final, month=later + 1, day=most)
    step = datetime.timedelta(**{f"{unit}s": amount})
    return first - min(step, datetime.timedelta()), last - max(step, datetime.timedelta())


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
    "week": of_moment(partial(date_part, "week_of_year")),
    "epoch": of_moment(_epoch),
    "second": of_moment(partial(date_part, "second")),
    "minute": of_moment(partial(date_part, "minute")),
    "date_trunc": _truncate,
    "date_difference": _difference,
    "date_add": _add,
}
