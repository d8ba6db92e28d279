"""Expressions and conversions of public values.

The meaning is that of `expressions` and `casts`, on the values that keys can be: text, integers, booleans and
dates. Privacy does not depend on it: rows whose value is not among the keys are in no group.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.data.language.declarations import KeyValue
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.types import Type

__all__ = ["evaluate_cast", "nearest_integer", "value_of"]

_INTEGER = re.compile("[+-]?[0-9]{1,18}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?=.{1,40}\Z)([0-9]+\.?[0-9]*|\.[0-9]+)", re.ASCII)
_BEYOND = 2.0**63
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def evaluate_cast(value: KeyValue, kind: Type) -> KeyValue:
    """Return a value as another type; NULL if it has no counterpart."""
    if value is None or (kind is Type.BOOLEAN and isinstance(value, bool)):
        return value
    if kind is Type.TEXT:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        return int(value) if isinstance(value, int) else value
    text = value.strip(" ")
    if kind is Type.INTEGER:
        return int(text) if _INTEGER.fullmatch(text) else None
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def nearest_integer(text: KeyValue) -> int | None:
    """Return the integer next to the float that a text is, halves away from zero; NULL if it is none."""
    plain = text.strip(" ") if isinstance(text, str) else ""
    number = float(plain) if _FLOAT.fullmatch(plain) else math.inf
    if abs(number) >= _BEYOND:
        return None
    nearest = math.floor(Fraction(abs(number)) + Fraction(1, 2))
    return -nearest if number < 0 else nearest


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


_CALCULATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def value_of(node: Expression, row: Mapping[str, Any]) -> Any:
    """Evaluate an expression over public values, by the logic of SQL."""
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, IsNull):
        return value_of(node.operand, row) is None
    if isinstance(node, Not):
        truth = value_of(node.operand, row)
        return None if truth is None else not truth
    if isinstance(node, And | Or):
        truths = [value_of(operand, row) for operand in node.operands]
        decisive = isinstance(node, Or)
        return decisive if decisive in truths else None if None in truths else not decisive
    if isinstance(node, IsIn):
        value = value_of(node.operand, row)
        return None if value is None else any(_equal(value, listed.value) for listed in node.values)
    assert isinstance(node, Compare | Arithmetic)  # noqa: S101
    return _binary(node, value_of(node.left, row), value_of(node.right, row))


def _equal(one: Any, other: Any) -> bool:
    return _is_number(one) == _is_number(other) and bool(one == other)


def _binary(node: Compare | Arithmetic, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    try:
        if isinstance(node, Compare):
            return bool(_COMPARE[node.operator.value](left, right))
        if not (_is_number(left) and _is_number(right)):
            raise TypeError
        sides = [Fraction(side) if isinstance(side, int) else side for side in (left, right)]
        return _CALCULATE[node.operator.value](*sides)
    except (ZeroDivisionError, OverflowError, TypeError):
        return None  # the answer is paid for: what has no result is missing


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)
