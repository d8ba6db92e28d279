"""Days under calculations: between which two days a date or time lies."""

from __future__ import annotations

import datetime

from discreet.data.facts.operands import Stated
from discreet.data.language.column_facts import Columns
from discreet.data.language.declarations import Dates
from discreet.data.language.expressions import Call, Case, Cast, Column, Expression, Literal, literal
from discreet.data.language.functions.rules import days_of_any
from discreet.records import dataclass

__all__ = ["Dated", "days_of"]


@dataclass(frozen=True, slots=True)
class Dated(Stated):
    """An operand, with the columns that it reads."""

    columns: Columns

    @property
    def days(self) -> Dates | None:
        """The days that its dates or times lie in, if they are known."""
        return days_of(self.expression, self.columns)


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
        return days_of_any([days_of(value, columns) for value in values if value != literal(None)])
    if isinstance(expression, Call) and expression.function.days is not None:
        return expression.function.days([Dated(operand, columns) for operand in expression.operands])
    return None
