"""What conditions compare: columns, calculations and pairs of them, each with the line of its values.

A line is cut by the constants that its value is compared with. A region of it has a number: 2 i + 1 is the
i-th constant itself, the even numbers beside it are the gaps around it, and None is NULL.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import TypeAlias

from discreet.data.facts.type_check import type_of
from discreet.data.language.expressions import (
    Arithmetic,
    ArithmeticOperator,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
)
from discreet.data.language.operators import Comparison
from discreet.data.language.serialization import to_object
from discreet.data.language.types import Schema, Type
from discreet.records import dataclass

__all__ = ["Compared", "Region", "ValueLine", "compared", "line_of"]

Region: TypeAlias = int | None
Constant: TypeAlias = Fraction | str
"""Days are numbered, times are parts of days, FALSE is 0 and TRUE is 1."""

_BEYOND = Fraction(2) ** 1025
"""Stands for infinity, the double of what is beyond all of them; only NaN is above."""
_WHOLE_DOUBLES = 1 << 53
_FALSE, _TRUE = Fraction(0), Fraction(1)
_COMMUTE = {ArithmeticOperator.ADD, ArithmeticOperator.MULTIPLY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A condition without AND, OR and NOT, as a comparison of one value with constants.

    Attributes
    ----------
    value : Expression
        What is compared, in its normal form: equal ones have one line. Of two values that are compared with
        each other it is whether they are equal; the line is cut at 0 by their difference.
    kind : Type
        Of which type the value is.
    relation : Comparison or None
        How it is compared; None asks whether it is NULL.
    constants : tuple
        With what; of several, whether one of them is met.
    """

    value: Expression
    kind: Type
    relation: Comparison | None
    constants: tuple[Constant, ...] = ()

    def truth(self, region: Region, line: ValueLine) -> bool | None:
        """Return whether the condition is TRUE, FALSE or NULL in a region of the line."""
        if self.relation is None:
            return region is None
        if region is None:
            return None
        return any(_meets(self.relation, region, line.place(constant)) for constant in self.constants)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLine:
    """The values that something can have, cut by constants.

    Attributes
    ----------
    constants : tuple
        In their order, each once.
    regions : tuple of regions
        Those that can hold a value.
    """

    constants: tuple[Constant, ...]
    regions: tuple[Region, ...]

    def place(self, constant: Constant) -> int:
        """Return the region of a constant."""
        return 2 * self.constants.index(constant) + 1


def compared(node: Expression, schema: Schema) -> Compared:
    """Return a condition as a comparison; any condition is at least one of itself with TRUE."""
    if isinstance(node, IsNull):
        return _of(node.operand, None, (), schema)
    found: Compared | None = None
    if isinstance(node, IsIn):
        found = _with_literals(node.operand, Comparison.EQUAL, node.values, schema)
    elif isinstance(node, Compare) and isinstance(node.right, Literal):
        found = _with_literals(node.left, node.operator, (node.right,), schema)
    elif isinstance(node, Compare):
        found = _of_a_pair(node)
    return found or Compared(
        value=_normal(node), kind=Type.BOOLEAN, relation=Comparison.EQUAL, constants=(_TRUE,)
    )


def line_of(several: Iterable[Compared]) -> ValueLine | None:
    """Return the line of a value with all constants that it is compared with.

    None where engines may not tell its constants apart: some hold long decimals and large numbers that
    were calculated as doubles, and rounding to doubles is monotone, so that constants with different doubles
    have the same order in either way, and the regions are the same.
    """
    listed = list(several)
    kind = listed[0].kind
    constants = {constant for one in listed for constant in one.constants}
    if kind is Type.BOOLEAN:
        return ValueLine(constants=(_FALSE, _TRUE), regions=(1, 3, None))
    if all(isinstance(constant, str) for constant in constants):
        ordered: list[Constant] = sorted(constants)
        return _cut(ordered, range(2 * len(ordered) + 1))
    numbers = sorted(constant for constant in constants if isinstance(constant, Fraction))
    if kind is not Type.FLOAT and len({_double(number) for number in numbers}) < len(numbers):
        exact = kind is not Type.DECIMAL and isinstance(listed[0].value, Column)
        if not exact:
            return None
    calculated = kind is Type.INTEGER and not isinstance(listed[0].value, Column)
    large = any(abs(number) > _WHOLE_DOUBLES for number in numbers)
    whole = kind in {Type.INTEGER, Type.DATE} and not (calculated and large)
    places = range(2 * len(numbers) + 1)
    return _cut(numbers, (place for place in places if not whole or _holds_integer(numbers, place)))


def _cut(constants: Iterable[Constant], places: Iterable[int]) -> ValueLine:
    return ValueLine(constants=tuple(constants), regions=(*places, None))


def _holds_integer(numbers: list[Fraction], place: int) -> bool:
    """Return whether an integer lies in a region."""
    index, at = divmod(place, 2)
    if at:
        return numbers[index].denominator == 1
    if index in (0, len(numbers)):
        return True
    return floor(numbers[index - 1]) + 1 < numbers[index]


def _meets(relation: Comparison, region: int, place: int) -> bool:
    return {
        Comparison.EQUAL: region == place,
        Comparison.UNEQUAL: region != place,
        Comparison.LESS: region < place,
        Comparison.AT_MOST: region <= place,
        Comparison.GREATER: region > place,
        Comparison.AT_LEAST: region >= place,
    }[relation]


def _of(
    value: Expression, relation: Comparison | None, constants: tuple[Constant, ...], schema: Schema
) -> Compared:
    return Compared(value=_normal(value), kind=type_of(value, schema), relation=relation, constants=constants)


def _with_literals(
    value: Expression, relation: Comparison, literals: Iterable[Literal], schema: Schema
) -> Compared | None:
    kind = type_of(value, schema)
    constants = [_constant(one, kind) for one in literals]
    known = tuple(constant for constant in constants if constant is not None)
    return _of(value, relation, known, schema) if len(known) == len(constants) else None


def _of_a_pair(node: Compare) -> Compared:
    left, right, relation = _normal(node.left), _normal(node.right), node.operator
    if _written(right) < _written(left):
        left, right, relation = right, left, relation.mirrored
    pair = Compare(operator=Comparison.EQUAL, left=left, right=right)
    return Compared(value=pair, kind=Type.FLOAT, relation=relation, constants=(Fraction(0),))


def _normal(value: Expression) -> Expression:
    """Return a calculation with the operands of its sums and products in one order: engines give the same."""
    if not isinstance(value, Arithmetic):
        return value
    left, right = _normal(value.left), _normal(value.right)
    if value.operator in _COMMUTE and _written(right) < _written(left):
        left, right = right, left
    return Arithmetic(operator=value.operator, left=left, right=right)


def _written(value: Expression) -> str:
    return json.dumps(to_object(value), sort_keys=True)


def _constant(literal: Literal, kind: Type) -> Constant | None:
    """Return what a literal is compared as; None if it is of another kind than the value."""
    value = literal.value
    if kind.is_number and literal.type.is_number and isinstance(value, int | Fraction):
        return _double(value) if kind is Type.FLOAT else Fraction(value)
    if kind in {Type.DATE, Type.TIMESTAMP} and literal.type in {Type.DATE, Type.TIMESTAMP}:
        return _moment(value)
    if kind is Type.INSTANT and literal.type is Type.INSTANT:
        return _moment(value)
    if kind is Type.TEXT and isinstance(value, str):
        return value
    return Fraction(value) if kind is Type.BOOLEAN and isinstance(value, bool) else None


def _double(constant: int | Fraction) -> Fraction:
    try:
        return Fraction(float(constant))
    except OverflowError:
        return _BEYOND if constant > 0 else -_BEYOND


def _moment(value: object) -> Fraction:
    """Return a date or time in days, exact to the microsecond."""
    assert isinstance(value, datetime.date)  # noqa: S101
    days = Fraction(value.toordinal())
    if not isinstance(value, datetime.datetime):
        return days
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return days + Fraction(seconds * 10**6 + value.microsecond, 86_400 * 10**6)
