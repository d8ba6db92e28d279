"""Ranges of a column under conditions, for keys that are monotone in it.

A monotone function of a value between two ends lies between its values at the ends. So the values that it
has in rows of which ``low <= x`` and ``x < high`` are known follow from these ends, even where a value does
not keep to what is declared about its column: where no condition states an end, the declared one decides, as
it does without conditions.
"""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, inf, nextafter

from discreet.data.language.column_facts import ColumnFacts, Columns
from discreet.data.language.declarations import Bounds, Dates
from discreet.data.language.expressions import (
    Arithmetic,
    Call,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    LiteralValue,
)
from discreet.data.language.types import Type
from discreet.errors import ParameterError

__all__ = ["ends", "monotone_in", "within"]

_CALCULATE: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_LEAST, _LARGEST = 2.0**-67, 2.0**53
_TIMES = frozenset({Type.DATE, Type.TIMESTAMP, Type.INSTANT})
_LOW = frozenset({Comparison.EQUAL, Comparison.GREATER, Comparison.AT_LEAST})
_HIGH = frozenset({Comparison.EQUAL, Comparison.LESS, Comparison.AT_MOST})


def monotone_in(expression: Expression) -> str | None:
    """Return the only column of an expression if it is monotone in it, rising or falling."""
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Call) and expression.function.rises_in is not None:
        parts, place = list(expression.operands), expression.function.rises_in
    elif isinstance(expression, Arithmetic):
        parts = [expression.left, expression.right]
        place = int(isinstance(expression.left, Literal))
        if place == 1 and expression.operator.value == "/":
            return None
    elif isinstance(expression, Cast) and expression.type in {Type.INTEGER, Type.DATE}:
        parts, place = [expression.operand], 0
    else:
        return None
    inner = parts.pop(place)
    return monotone_in(inner) if all(isinstance(part, Literal) for part in parts) else None


def within(name: str, conjuncts: list[Expression], facts: ColumnFacts) -> Columns:
    """Return a column with the range that conditions leave it; without it, if they leave it nothing.

    Parameters
    ----------
    name : str
        The column.
    conjuncts : list of Expression
        Conditions that are TRUE of all rows.
    facts : ColumnFacts
        What is public about it without them.
    """
    stated = [
        (one.operator, one.right.value)
        for one in conjuncts
        if isinstance(one, Compare) and one.left == Column(name=name) and isinstance(one.right, Literal)
    ]
    try:
        if facts.type.is_number:
            found = _numbers(stated, facts)
        elif facts.type in _TIMES:
            found = _days(stated, facts)
        else:
            found = facts
    except ParameterError:  # a range that no declaration could have
        found = facts
    return {} if found is None else {name: found}


def ends(expression: Expression, conjuncts: list[Expression], columns: Columns) -> tuple[float, float]:
    """Return the least and the largest number that a rising or falling calculation is where conditions hold.

    It is worked out at the ends that conditions state of its column, in double precision, as engines do: a
    rounding to the nearest is monotone as well. Infinities stand for what nothing is known about.
    """
    name = monotone_in(expression)
    kind = Type.OTHER if name is None else columns[name].type
    if isinstance(expression, Column) or kind not in {Type.INTEGER, Type.FLOAT}:
        return -inf, inf
    rises, found = _rises(expression), [-inf, inf]
    for one in conjuncts:
        if not isinstance(one, Compare) or one.left != Column(name=str(name)):
            continue
        value = one.right.value if isinstance(one.right, Literal) else None
        if not isinstance(value, int | Fraction) or not -_LARGEST <= value <= _LARGEST:
            continue
        whole = kind is Type.INTEGER
        if one.operator in _LOW:
            end = float(_least(one.operator, Fraction(value), whole=whole))
            found[not rises] = _tighter(found[not rises], _at(expression, end, whole=whole), rises=rises)
        if one.operator in _HIGH:
            end = float(_most(one.operator, Fraction(value), whole=whole))
            end = nextafter(end, -inf) if one.operator is Comparison.LESS and not whole else end
            found[rises] = _tighter(found[rises], _at(expression, end, whole=whole), rises=not rises)
    return found[0], found[1]


def _tighter(known: float, end: float | None, *, rises: bool) -> float:
    if end is None:
        return known
    return max(known, end) if rises else min(known, end)


def _rises(expression: Expression) -> bool:
    """Return whether a monotone expression rises with its column."""
    if isinstance(expression, Arithmetic):
        left, right = expression.left, expression.right
        inner, number = (right, left) if isinstance(left, Literal) else (left, right)
        falls = expression.operator.value == "-" and inner is right
        if expression.operator.value in {"*", "/"}:
            falls = (
                isinstance(number, Literal) and isinstance(number.value, int | Fraction) and number.value < 0
            )
        return _rises(inner) is not falls
    if isinstance(expression, Call):
        return _rises(expression.operands[expression.function.rises_in or 0])
    return True


def _at(expression: Expression, value: float, *, whole: bool) -> float | None:
    """Return a monotone calculation at a value of its column; None where engines might differ from it."""
    found: float | None = None
    if isinstance(expression, Column):
        found = value
    elif isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        found = float(expression.value) if -_LARGEST <= expression.value <= _LARGEST else None
    elif isinstance(expression, Arithmetic):
        left, right = (_at(one, value, whole=whole) for one in (expression.left, expression.right))
        if left is not None and right is not None and (right or expression.operator.value != "/"):
            found = _CALCULATE[expression.operator.value](left, right)
    elif isinstance(expression, Call):
        found = _called(expression, value, whole=whole)
    return found if found is not None and (found == 0 or _LEAST <= abs(found) <= _LARGEST) else None


def _called(call: Call, value: float, *, whole: bool) -> float | None:
    operands, function = list(call.operands), call.function
    inner = _at(operands.pop(function.rises_in or 0), value, whole=whole)
    if inner is None or function.at is None:
        return None
    return function.at(inner, [one.value for one in operands if isinstance(one, Literal)], whole)


def _numbers(said: list[tuple[Comparison, LiteralValue]], facts: ColumnFacts) -> ColumnFacts | None:
    stated = [(sign, Fraction(value)) for sign, value in said if isinstance(value, int | Fraction)]
    whole = facts.type is Type.INTEGER
    lows = [_least(sign, value, whole=whole) for sign, value in stated if sign in _LOW]
    highs = [_most(sign, value, whole=whole) for sign, value in stated if sign in _HIGH]
    step = Fraction(1) if whole else None
    if facts.keys is not None:
        listed = [value for value in facts.keys.values if isinstance(value, int)]
        lows.append(Fraction(min(listed)))
        highs.append(Fraction(max(listed)))
    elif facts.bounds is not None:
        lows.append(facts.bounds.lower)
        highs.append(facts.bounds.upper)
        step = facts.bounds.step
    else:
        lows += [] if facts.least is None else [facts.least]
        highs += [] if facts.most is None else [facts.most]
    if not stated or not lows or not highs or step is None:
        return facts
    low, high = floor(max(lows) / step) * step, ceil(min(highs) / step) * step
    if max(lows) > min(highs):
        return None
    return ColumnFacts(type=facts.type, bounds=Bounds(low, max(high, low + step), step=step))


def _least(sign: Comparison, value: Fraction, *, whole: bool) -> Fraction:
    if not whole:
        return value
    return Fraction(floor(value) + 1 if sign is Comparison.GREATER else ceil(value))


def _most(sign: Comparison, value: Fraction, *, whole: bool) -> Fraction:
    if not whole:
        return value
    return Fraction(ceil(value) - 1 if sign is Comparison.LESS else floor(value))


def _days(said: list[tuple[Comparison, LiteralValue]], facts: ColumnFacts) -> ColumnFacts | None:
    stated = [(sign, value) for sign, value in said if isinstance(value, datetime.date)]
    lows = [_first(sign, value, facts.type) for sign, value in stated if sign in _LOW]
    highs = [_last(sign, value) for sign, value in stated if sign in _HIGH]
    listed = [] if facts.keys is None else facts.keys.values
    days = [value.toordinal() for value in listed if isinstance(value, datetime.date)]
    if facts.dates is not None:
        days += [facts.dates.first.toordinal(), facts.dates.last.toordinal()]
    if days:
        lows.append(min(days))
        highs.append(max(days))
    if not stated or not lows or not highs:
        return facts
    low, high = max(lows), min(highs)
    if low > high:
        return None
    first, last = (datetime.date.fromordinal(day) for day in (low, high))
    return ColumnFacts(type=facts.type, dates=Dates(first, last))


def _first(sign: Comparison, value: datetime.date, kind: Type) -> int:
    """Return the number of the first day that a value at least or above another can have."""
    after = sign is Comparison.GREATER and kind is Type.DATE
    return min(value.toordinal() + int(after), datetime.date.max.toordinal())


def _last(sign: Comparison, value: datetime.date) -> int:
    """Return the number of the last day that a value at most or below another can have."""
    before = sign is Comparison.LESS and not _has_time(value)
    return max(value.toordinal() - int(before), 1)


def _has_time(value: datetime.date) -> bool:
    return isinstance(value, datetime.datetime) and value.time() != datetime.time()
