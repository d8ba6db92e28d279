"""Functions as methods: what formulas can do besides operators and aggregates.

Names are those of dataframe libraries if they have one. A plain value stands for itself: text is text,
not the name of a column.

>>> from discreet.data import col
>>> col("cost").round(2), col("city").strip().upper()
(Formula(round(cost, ?)), Formula(upper(trim(city))))
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from discreet.data.language.expressions import (
    Call,
    Case,
    Cast,
    Expression,
    IsNull,
    Literal,
    Not,
    When,
    literal,
)
from discreet.data.language.functions import FUNCTIONS
from discreet.data.language.functions.temporal import moment_after
from discreet.data.language.types import Type
from discreet.errors import ParameterError, UnsupportedQuery

if TYPE_CHECKING:
    from discreet.data.language.formulas.formula import Formula

__all__ = ["Calculated", "expression_of_value", "moved"]

_TYPES = {
    int: Type.INTEGER,
    float: Type.FLOAT,
    str: Type.TEXT,
    bool: Type.BOOLEAN,
    "int": Type.INTEGER,
    "double": Type.FLOAT,
    "string": Type.TEXT,
}


class Calculated:
    """The functions of a formula, as methods of it."""

    __slots__ = ()
    expression: Expression

    def abs(self) -> Formula:
        """Return the magnitude."""
        return self._call("abs")

    def floor(self) -> Formula:
        """Return the largest integer that is not above."""
        return self._call("floor")

    def ceil(self) -> Formula:
        """Return the smallest integer that is not below."""
        return self._call("ceiling")

    def round(self, digits: int = 0) -> Formula:
        """Return the nearest multiple of 10^-digits, halves away from zero."""
        return self._call("round", digits)

    def sign(self) -> Formula:
        """Return -1, 0 or 1."""
        return self._call("sign")

    def sqrt(self) -> Formula:
        """Return the square root; NULL below 0."""
        return self._call("sqrt")

    def ln(self) -> Formula:
        """Return the natural logarithm; NULL from 0 down."""
        return self._call("ln")

    def log(self, base: object) -> Formula:
        """Return the logarithm to a base; NULL from 0 down."""
        return _formula(
            Call(function=FUNCTIONS["log"], operands=(expression_of_value(base), self.expression))
        )

    def exp(self) -> Formula:
        """Return the exponential function; NULL above 46."""
        return self._call("exp")

    def clip(self, lower: object, upper: object) -> Formula:
        """Return the value, but at least `lower` and at most `upper`; NULL stays NULL.

        A number without declared bounds has these bounds afterwards, so that it can be summed.
        """
        raised = Call(function=FUNCTIONS["greatest"], operands=(self.expression, expression_of_value(lower)))
        clipped = Call(function=FUNCTIONS["least"], operands=(raised, expression_of_value(upper)))
        present = Not(operand=IsNull(operand=self.expression))
        branch = When(condition=present, value=clipped)
        return _formula(Case(branches=(branch,), otherwise=literal(None)))

    def bins(self, lower: object, upper: object, parts: int) -> Formula:
        """Return which of equal parts of [lower, upper) holds the value.

        They are counted from 1; 0 is what lies below, and parts + 1 what is `upper` or more.
        """
        return self._call("width_bucket", lower, upper, parts)

    def coalesce(self, *others: object) -> Formula:
        """Return the value, or where it is NULL the first of the others that is not."""
        return self._call("coalesce", *others)

    def null_if(self, other: object) -> Formula:
        """Return the value, or NULL if it equals another."""
        return self._call("nullif", other)

    def cast(self, to: Type | str | type) -> Formula:
        """Return the value as another type, such as "integer", "float", "text" or "date"."""
        try:
            kind = _TYPES.get(to) or Type(to)  # type: ignore[arg-type]
        except (ValueError, TypeError):
            kind = None
        if kind is None:
            raise ParameterError("to", "is not a type", f"one of {', '.join(kind.value for kind in Type)}")
        return _formula(Cast(operand=self.expression, type=kind))

    def lower(self) -> Formula:
        """Return the text with A to Z in lower case."""
        return self._call("lower")

    def upper(self) -> Formula:
        """Return the text with a to z in upper case."""
        return self._call("upper")

    def strip(self) -> Formula:
        """Return the text without spaces at its ends."""
        return self._call("trim")

    def length(self) -> Formula:
        """Return the number of code points of the text."""
        return self._call("length")

    def slice(self, start: int, length: int | None = None) -> Formula:
        """Return the code points of the text from a position on, counted from 0 as in Python."""
        if type(start) is not int or start < 0:
            raise ParameterError("start", "is not a position in a text", "a whole number from 0 on")
        return self._call("substring", start + 1, *(() if length is None else (length,)))

    def tail(self, length: int) -> Formula:
        """Return the last code points of the text."""
        return self._call("right", length)

    def pad_start(self, length: int, fill: str = " ") -> Formula:
        """Return the text filled up before its start to a length, or cut at its end."""
        return self._call("lpad", length, fill)

    def pad_end(self, length: int, fill: str = " ") -> Formula:
        """Return the text filled up behind its end to a length, or cut there."""
        return self._call("rpad", length, fill)

    def position(self, part: object) -> Formula:
        """Return the place of another text in this one, counted from 1 as in SQL; 0 if it is not there."""
        return self._call("position", part)

    def concat(self, *others: object) -> Formula:
        """Concatenate texts; NULL if one is."""
        return self._call("concat", *others)

    def replace(self, old: str, new: str) -> Formula:
        """Return the text with every occurrence of `old` replaced."""
        return self._call("replace", old, new)

    def starts_with(self, start: object) -> Formula:
        """Whether the text begins with another."""
        return self._call("starts_with", start)

    def ends_with(self, end: object) -> Formula:
        """Whether the text ends with another."""
        return self._call("ends_with", end)

    def contains(self, part: object) -> Formula:
        """Whether another text is in this one."""
        return self._call("contains", part)

    def like(self, pattern: str) -> Formula:
        """Whether the text matches a pattern: % stands for any text, _ for one code point."""
        return self._call("like", pattern)

    def year(self) -> Formula:
        """Return the year."""
        return self._call("year")

    def quarter(self) -> Formula:
        """Return the quarter, 1 to 4."""
        return self._call("quarter")

    def month(self) -> Formula:
        """Return the month, 1 to 12."""
        return self._call("month")

    def day(self) -> Formula:
        """Return the day of the month."""
        return self._call("day")

    def day_of_week(self) -> Formula:
        """Return the day of the week: 1 for Monday to 7 for Sunday."""
        return self._call("day_of_week")

    def day_of_year(self) -> Formula:
        """Return the day of the year, 1 to 366."""
        return self._call("day_of_year")

    def hour(self) -> Formula:
        """Return the hour of a time, 0 to 23."""
        return self._call("hour")

    def minute(self) -> Formula:
        """Return the minute of a time, 0 to 59."""
        return self._call("minute")

    def second(self) -> Formula:
        """Return the whole second of a time, 0 to 59."""
        return self._call("second")

    def week(self) -> Formula:
        """Return the week of the year by ISO 8601, 1 to 53."""
        return self._call("week")

    def epoch(self) -> Formula:
        """Return the whole seconds since the beginning of 1970."""
        return self._call("epoch")

    def offset(self, amount: int, unit: str) -> Formula:
        """Return the date or time some "day", "week", "month", "quarter", "year", "hour", ... later."""
        return _formula(moved(self.expression, amount, unit))

    def truncate(self, unit: str) -> Formula:
        """Return the first day of the "year", "quarter", "month", "week" or "day", or the "hour"."""
        return _formula(Call(function=FUNCTIONS["date_trunc"], operands=(literal(unit), self.expression)))

    def days_since(self, other: object) -> Formula:
        """Return how many days the date is after another."""
        return self._call("date_difference", other)

    def _call(self, name: str, *others: object) -> Formula:
        operands = (self.expression, *(expression_of_value(other) for other in others))
        return _formula(Call(function=FUNCTIONS[name], operands=operands))


_MOVED = {
    **{"day": ("day", 1), "week": ("day", 7), "month": ("month", 1), "quarter": ("month", 3)},
    **{"year": ("month", 12), "second": ("second", 1), "minute": ("second", 60), "hour": ("second", 3600)},
}
"""Units of time as multiples of those that are added, so that 1 year and 12 months are one request."""


def moved(expression: Expression, amount: int, unit: str) -> Expression:
    """Return a date or time some units later; of a constant, its value."""
    if unit not in _MOVED or type(amount) is not int:
        raise UnsupportedQuery(
            f"this cannot be added to a date; write a whole number and {', '.join(_MOVED)}"
        )
    plain, many = _MOVED[unit]
    if isinstance(expression, Literal) and isinstance(expression.value, datetime.date):
        sum_ = moment_after(plain, amount * many, _with_time(expression.value, plain))
        if sum_ is None:
            raise UnsupportedQuery("a date is outside the years 1 to 9999; write another")
        return literal(sum_)
    operands = (literal(plain), literal(amount * many), expression)
    return Call(function=FUNCTIONS["date_add"], operands=operands)


def _with_time(value: datetime.date, unit: str) -> datetime.date:
    """Return a date as its midnight, if hours, minutes or seconds are added to it."""
    if unit != "second" or isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time())


def expression_of_value(value: object) -> Expression:
    """Return the expression of a formula, or a literal of anything else."""
    return value.expression if isinstance(value, Calculated) else literal(value)


def _formula(expression: Expression) -> Formula:
    from discreet.data.language.formulas.formula import Formula

    return Formula(expression)
