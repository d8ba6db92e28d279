"""Dates and times in SQL: their parts, differences in units, and INTERVAL.

Where engines differ, it is fixed like this:

- EXTRACT(DOW FROM d) is 0 for Sunday to 6 for Saturday, ISODOW 1 for Monday to 7 for Sunday.
- DATEDIFF(unit, first, last) counts how many beginnings of a unit lie between both: from 31 December to
  1 January it is one year, from Sunday to Monday one week, from 9:59 to 10:00 one hour.
  DATE_DIFF(last, first, unit) is the same.
- LAST_DAY(d) is the last day of its month, MONTHNAME(d) and DAYNAME(d) are whole English names.
- ``d + INTERVAL '1' MONTH`` is the same day of the next month, or its last day if that is shorter. A date
  stays a date, unless hours, minutes or seconds are added to a constant. Of a constant it is calculated here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from discreet.data import Formula, literal
from discreet.data.language.expressions import Call, Case, Cast, Compare, Comparison, Expression, When
from discreet.data.language.formulas.formula_methods import moved
from discreet.data.language.functions import FUNCTIONS, ScalarFunction
from discreet.data.language.functions.temporal import DATE_ADD, DATE_DIFFERENCE, DATE_TRUNC, UNITS
from discreet.data.language.types import Type
from discreet.errors import UndeclaredColumn
from discreet.queries.sql.formulas.literals import date_of, number_of
from discreet.queries.sql.syntax.refusals import check_parts, refused

__all__ = ["DATE_FORMS", "DAYS", "NAMED_DATE_FORMS", "WEEKDAY", "Read", "interval_sum"]

Read = Callable[[exp.Expression], Expression]

DAYS = (
    "write DATEDIFF('day', first, last), with year, quarter, month, week, day, hour, minute or second: it "
    "counts how many of them begin between both"
)
WEEKDAY = (
    "engines count weekdays differently; write ISODOW(day), where Monday is 1, or EXTRACT(DOW FROM day), "
    "where Sunday is 0"
)

_EXTRACTED: dict[str, ScalarFunction] = {
    name: function for function in FUNCTIONS.values() for name in function.extract
}
_NAMED = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_SINGULAR = {f"{unit}s": unit for unit in _NAMED}
_SECONDS = {"hour": 3600, "minute": 60}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS = {"DAYOFWEEK", "WEEKDAY", "DW"}


def _unit_of(node: object) -> str:
    """Return the unit that a word, a name or a text states, in the singular; nothing of anything else."""
    if isinstance(node, exp.Column) and (node.args.get("table") or node.this.args.get("quoted")):
        return ""
    text = node.this if isinstance(node, exp.Literal) and node.is_string else getattr(node, "name", "")
    unit = str(text).lower()
    return _SINGULAR.get(unit, unit if unit in _NAMED else "")


def _part(name: str, moment: exp.Expression, read: Read) -> Expression:
    name = name.upper()
    if name == "DOW":
        return (Formula(read(moment)).day_of_week() % 7).expression
    function = _EXTRACTED.get(name)
    if function is None:
        words = WEEKDAY if name in _WEEKDAYS else f"take {', '.join([*_EXTRACTED, 'DOW'])}"
        raise refused("this part of a date", words)
    return Call(function=function, operands=(read(moment),))


def _extract(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression")
    return _part(str(node.this.name), node.expression, read)


def _date_part(node: exp.Expression, read: Read) -> Expression:
    """Read DATE_PART('year', d) and DATEPART(year, d)."""
    check_parts(node, "this", "expressions")
    operands = node.expressions
    if len(operands) != 2 or not isinstance(operands[0], exp.Literal | exp.Column):
        raise refused("a part of a date in this form", "write EXTRACT(YEAR FROM day)")
    return _part(str(operands[0].name), operands[1], read)


def _truncate(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "unit")
    unit = str(node.args["unit"].name).lower()
    if unit not in UNITS:
        raise refused("DATE_TRUNC to this unit", f"write {DATE_TRUNC.example}")
    return Call(function=DATE_TRUNC, operands=(literal(unit), read(node.this)))


def _difference(node: exp.Expression, read: Read) -> Expression:
    """Read DATEDIFF(last, first), DATEDIFF(unit, first, last) and DATE_DIFF(last, first, unit).

    The parser takes the third operand for a unit, and a plain name in its place for a word. A column may be
    called like a unit: then the unit is last.
    """
    check_parts(node, "this", "expression", "unit")
    first, second, third = node.this, node.expression, node.args.get("unit")
    if third is None:
        return _days(_moment(first, read), _moment(second, read))
    word = _unit_of(third) if isinstance(third, exp.Var) else ""
    if word and not isinstance(first, exp.Literal):
        try:
            return _units(word, _moment(first, read), _moment(second, read))
        except UndeclaredColumn:
            if not _unit_of(first):
                raise
    if not _unit_of(first):
        raise refused("DATEDIFF in this form", DAYS)
    return _units(_unit_of(first), _moment(_operand(third), read), _moment(second, read))


def _operand(node: exp.Expression) -> exp.Expression:
    """Return what the parser took for a unit, as the operand it is: a column, a text or a number."""
    if not isinstance(node, exp.Var):
        return node
    name = str(node.name)
    if name.isidentifier():
        return exp.column(name)
    return exp.Literal.string(name) if number_of(name) is None else exp.Literal.number(name)


def _moment(node: exp.Expression, read: Read) -> Expression:
    """Return an operand; a date in quotes is a date."""
    day = date_of(str(node.this)) if isinstance(node, exp.Literal) and node.is_string else None
    return read(node) if day is None else literal(day)


def _days(last: Expression, first: Expression) -> Expression:
    return Call(function=DATE_DIFFERENCE, operands=(last, first))


def _units(unit: str, last: Expression, first: Expression) -> Expression:
    """Return how many beginnings of a unit lie between two dates, by functions of both."""
    if unit == "day":
        return _days(last, first)
    later, earlier = Formula(last), Formula(first)
    if unit == "week":
        days = Formula(_days(later.truncate("week").expression, earlier.truncate("week").expression))
        return (days / 7).floor().expression
    if unit == "second":
        return (later.epoch() - earlier.epoch()).expression
    if unit in _SECONDS:
        seconds = _SECONDS[unit]
        return ((later.epoch() / seconds).floor() - (earlier.epoch() / seconds).floor()).expression
    years = later.year() - earlier.year()
    if unit == "quarter":
        return (years * 4 + (later.quarter() - earlier.quarter())).expression
    return (years if unit == "year" else years * 12 + (later.month() - earlier.month())).expression


def interval_sum(node: exp.Expression, read: Read) -> Expression | None:
    """Return what a sum or difference with an INTERVAL means; None of others."""
    moment, interval = node.this, node.expression
    if isinstance(moment, exp.Interval) and isinstance(node, exp.Add):
        moment, interval = interval, moment
    if not isinstance(interval, exp.Interval):
        return None
    return _moved(moment, interval, read, -1 if isinstance(node, exp.Sub) else 1)


def _moved(moment: exp.Expression, interval: exp.Interval, read: Read, sign: int) -> Expression:
    check_parts(interval, "this", "unit")
    return _offset(moment, interval.this, interval.args.get("unit"), read, sign)


def _offset(moment: exp.Expression, amount: object, unit: object, read: Read, sign: int) -> Expression:
    while isinstance(amount, exp.Neg | exp.Paren):
        sign, amount = -sign if isinstance(amount, exp.Neg) else sign, amount.this
    number = number_of(str(amount.this).strip(" ")) if isinstance(amount, exp.Literal) else None
    if number is None or number.denominator != 1 or not _unit_of(unit):
        raise refused("this INTERVAL", f"write {DATE_ADD.example} and one unit, such as DAY")
    return moved(_moment(moment, read), sign * int(number), _unit_of(unit))


def _add(node: exp.Expression, read: Read) -> Expression:
    """Read DATE_ADD(d, INTERVAL 3 DAY), DATE_SUB(d, 3), and DATE_ADD('day', 3, d)."""
    sign = -1 if isinstance(node, exp.DateSub | exp.TimestampSub | exp.DatetimeSub) else 1
    check_parts(node, "this", "expression", "unit")
    moment, amount, unit = node.this, node.expression, node.args.get("unit")
    if isinstance(amount, exp.Interval):
        return _moved(moment, amount, read, sign)
    if unit is not None and _unit_of(moment):
        return _offset(_operand(unit), amount, moment, read, sign)
    return _offset(moment, amount, unit or exp.var("DAY"), read, sign)


def _add_months(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression")
    return _offset(node.this, node.expression, exp.var("MONTH"), read, 1)


def _dateadd(node: exp.Expression, read: Read) -> Expression:
    """Read DATEADD(day, 3, d)."""
    check_parts(node, "this", "expressions")
    if len(node.expressions) != 3:
        raise refused("DATEADD in this form", f"write {DATE_ADD.example}")
    unit, amount, moment = node.expressions
    return _offset(moment, amount, unit, read, 1)


def _date(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this")
    day = _moment(node.this, read)
    return day if isinstance(node.this, exp.Literal) else Cast(operand=day, type=Type.DATE)


def _last_day(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this")
    day = Cast(operand=_moment(node.this, read), type=Type.DATE)
    return moved(moved(Formula(day).truncate("month").expression, 1, "month"), -1, "day")


def _month_name(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this")
    return _name(Formula(read(node.this)).month().expression, _MONTHS)


def _day_name(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this")
    return _name(Formula(read(node.this)).day_of_week().expression, _WEEKDAY_NAMES)


def _name(number: Expression, names: Sequence[str]) -> Expression:
    """Return the name with a number, counted from 1."""
    branches = tuple(
        When(
            condition=Compare(operator=Comparison.EQUAL, left=number, right=literal(place)),
            value=literal(name),
        )
        for place, name in enumerate(names, start=1)
    )
    return Case(branches=branches, otherwise=literal(None))


DATE_FORMS: dict[type[exp.Expression], Callable[[exp.Expression, Read], Expression]] = {
    exp.Extract: _extract,
    exp.DateTrunc: _truncate,
    exp.TimestampTrunc: _truncate,
    exp.DatetimeTrunc: _truncate,
    exp.DateDiff: _difference,
    exp.DateAdd: _add,
    exp.DateSub: _add,
    exp.TsOrDsAdd: _add,
    exp.AddMonths: _add_months,
    exp.Date: _date,
    exp.LastDay: _last_day,
    exp.Monthname: _month_name,
    exp.Dayname: _day_name,
}
"""Nodes with forms of their own."""
NAMED_DATE_FORMS: dict[str, Callable[[exp.Expression, Read], Expression]] = {
    "DATE_PART": _date_part,
    "DATEPART": _date_part,
    "DATEADD": _dateadd,
    "TIMESTAMPADD": _dateadd,
}
"""Functions that the parser has no node for."""
