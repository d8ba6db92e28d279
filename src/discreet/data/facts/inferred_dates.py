"""Days under calculations: between which two days a date or time lies, and the units of time between them."""

from __future__ import annotations

import datetime

from discreet.data.language.column_facts import Columns
from discreet.data.language.declarations import LARGEST_KEYS, Dates
from discreet.data.language.evaluation import evaluate_truncation
from discreet.data.language.expressions import (
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Function,
    Literal,
    literal,
)

__all__ = ["days_of", "truncations"]

_EITHER = frozenset({Function.COALESCE, Function.LEAST, Function.GREATEST})


def days_of(expression: Expression, columns: Columns) -> Dates | None:
    """Return the days that the values of an expression lie in, if they are known."""
    if isinstance(expression, Column):
        facts = columns[expression.name]
        if facts.dates is not None or facts.keys is None:
            return facts.dates
        listed = [value for value in facts.keys.values if isinstance(value, datetime.date)]
        return Dates(min(listed), max(listed)) if listed else None
    if isinstance(expression, Literal):
        value = expression.value
        if not isinstance(value, datetime.date):
            return None
        day = value.date() if isinstance(value, datetime.datetime) else value
        return Dates(day, day)
    if isinstance(expression, Cast):
        return days_of(expression.operand, columns)
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return _hull([value for value in values if value != literal(None)], columns)
    if isinstance(expression, Call):
        if expression.function in _EITHER:
            return _hull(expression.operands, columns)
        if expression.function is Function.NULLIF:
            return days_of(expression.operands[0], columns)
        if expression.function is Function.DATE_TRUNC:
            known, unit = days_of(expression.operands[1], columns), str(expression.operands[0].value)  # type: ignore[union-attr]
            if known is None or unit == "hour":
                return known
            return Dates(evaluate_truncation(unit, known.first), evaluate_truncation(unit, known.last))
    return None


def truncations(unit: str, days: Dates) -> tuple[datetime.date, ...] | None:
    """Return the first days of the units that some days lie in, in order; None if they are too many."""
    if unit in {"week", "day"}:
        width = 7 if unit == "week" else 1
        first, last = evaluate_truncation(unit, days.first).toordinal(), days.last.toordinal()
        listed = range(first, last + 1, width)
        return tuple(map(datetime.date.fromordinal, listed)) if len(listed) <= LARGEST_KEYS else None
    months = {"year": 12, "quarter": 3, "month": 1}[unit]
    start, end = evaluate_truncation(unit, days.first), days.last
    places = range(12 * start.year + start.month - 1, 12 * end.year + end.month, months)
    return tuple(datetime.date(place // 12, place % 12 + 1, 1) for place in places)


def _hull(expressions: tuple[Expression, ...] | list[Expression], columns: Columns) -> Dates | None:
    known = [days_of(expression, columns) for expression in expressions]
    found = [days for days in known if days is not None]
    if len(found) < len(known) or not found:
        return None
    return Dates(min(days.first for days in found), max(days.last for days in found))
