"""Which of several conditions can be TRUE of a row together: the regions that comparisons cut columns into.

A column that is compared with constants alone falls into finitely many regions: each constant by itself, the
gaps between neighboring ones, and NULL. Within a region every comparison has one truth value, so conditions
made of them by AND, OR and NOT have one, too. What is decided here is which combinations are possible;
whether a row meets a condition is left to the engine.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, prod
from typing import TypeAlias

from discreet.data.language.expressions import (
    And,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.operators import Comparison
from discreet.data.language.types import Schema, Type

__all__ = ["possible_truths"]

_MOST_REGIONS = 20_000

Point: TypeAlias = "Fraction | str | bool | None"
"""A value that stands for its region; None for NULL. Days are numbered, and times are parts of days."""

_OTHER = "\0"
"""Stands for all text that is not a constant: text with a NUL is not a literal."""


def possible_truths(conditions: Sequence[Expression], schema: Schema) -> list[tuple[bool, ...]] | None:
    """Return the combinations of conditions that can be TRUE of one row, except the empty one.

    None if that cannot be said: where a condition is not made of comparisons of columns with
    constants, or where there are too many regions.
    """
    constants: dict[str, set[Point]] = {}
    if not all(_collect(condition, schema, constants) for condition in conditions):
        return None
    regions = {name: _regions(schema[name], points) for name, points in constants.items()}
    if prod(len(points) for points in regions.values()) > _MOST_REGIONS:
        return None
    found = {
        tuple(
            _truth(condition, dict(zip(regions, row, strict=True)), schema) is True
            for condition in conditions
        )
        for row in product(*regions.values())
    }
    return sorted(truths for truths in found if any(truths))


def _collect(node: Expression, schema: Schema, constants: dict[str, set[Point]]) -> bool:
    """Gather the constants that columns are compared with; return whether there is nothing else."""
    if isinstance(node, And | Or):
        return all(_collect(operand, schema, constants) for operand in node.operands)
    if isinstance(node, Not):
        return _collect(node.operand, schema, constants)
    if isinstance(node, Literal):
        return node.type is Type.BOOLEAN
    if isinstance(node, IsNull) and isinstance(node.operand, Column):
        return _add(node.operand.name, (), schema, constants, ordered=False)
    if isinstance(node, IsIn) and isinstance(node.operand, Column):
        return _add(node.operand.name, node.values, schema, constants, ordered=False)
    if isinstance(node, Compare) and isinstance(node.left, Column) and isinstance(node.right, Literal):
        ordered = node.operator not in {Comparison.EQUAL, Comparison.UNEQUAL}
        return _add(node.left.name, (node.right,), schema, constants, ordered=ordered)
    return False


def _add(
    name: str, values: Iterable[Literal], schema: Schema, constants: dict[str, set[Point]], *, ordered: bool
) -> bool:
    kind = schema.get(name)
    if kind is None or (ordered and kind in {Type.TEXT, Type.BOOLEAN}):
        return False
    points = [_point(value, kind) for value in values]
    if any(point is None for point in points):
        return False
    constants.setdefault(name, set()).update(points)
    return True


def _point(value: Literal, kind: Type) -> Point:
    """Return the point of a constant; None if it is of another kind than the column.

    Decimals are left alone: engines compare long ones as doubles and short ones exactly.
    """
    constant = value.value
    if kind in {Type.INTEGER, Type.FLOAT} and value.type.is_number and isinstance(constant, int | Fraction):
        return _double(constant) if kind is Type.FLOAT else Fraction(constant)
    if kind is Type.DATE and value.type is Type.DATE and isinstance(constant, datetime.date):
        return Fraction(constant.toordinal())
    if kind is Type.TIMESTAMP and value.type in {Type.DATE, Type.TIMESTAMP}:
        return _moment(constant)
    if kind is Type.INSTANT and value.type is Type.INSTANT:
        return _moment(constant)
    if kind is Type.TEXT and isinstance(constant, str):
        return constant
    return constant if kind is Type.BOOLEAN and isinstance(constant, bool) else None


def _double(constant: int | Fraction) -> Fraction | None:
    """Return the double that a constant is compared as; None beyond all of them."""
    try:
        return Fraction(float(constant))
    except OverflowError:
        return None


def _moment(value: object) -> Fraction:
    """Return a date or time in days, exact to the microsecond."""
    assert isinstance(value, datetime.date)  # noqa: S101
    days = Fraction(value.toordinal())
    if not isinstance(value, datetime.datetime):
        return days
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return days + Fraction(seconds * 10**6 + value.microsecond, 86_400 * 10**6)


def _regions(kind: Type, points: set[Point]) -> list[Point]:
    """Return a point of every region; NULL and, of numbers, NaN (which is above all) among them."""
    if kind is Type.BOOLEAN:
        return [True, False, None]
    if kind is Type.TEXT:
        return [*sorted(str(point) for point in points), _OTHER, None]
    ordered = sorted(point for point in points if isinstance(point, Fraction))
    if not ordered:
        return [Fraction(0), None]
    whole = kind in {Type.INTEGER, Type.DATE}
    between = [_between(low, high, whole=whole) for low, high in pairwise(ordered)]
    inside = [point for point in between if point is not None]
    held = [point for point in ordered if not whole or point.denominator == 1]
    return [floor(ordered[0]) - Fraction(1), *held, *inside, ceil(ordered[-1]) + Fraction(1), None]


def _between(low: Fraction, high: Fraction, *, whole: bool) -> Fraction | None:
    if not whole:
        return (low + high) / 2
    middle = floor(low) + 1
    return Fraction(middle) if middle < high else None


def _truth(node: Expression, row: Mapping[str, Point], schema: Schema) -> bool | None:
    """Return whether a condition is TRUE, FALSE or NULL of a row of points."""
    if isinstance(node, And | Or):
        truths = [_truth(operand, row, schema) for operand in node.operands]
        decisive = isinstance(node, Or)
        if decisive in truths:
            return decisive
        return None if None in truths else not decisive
    if isinstance(node, Not):
        inner = _truth(node.operand, row, schema)
        return None if inner is None else not inner
    if isinstance(node, Literal):
        return bool(node.value)
    name = _compared_column(node)
    point, kind = row[name], schema[name]
    if isinstance(node, IsNull):
        return point is None
    if point is None:
        return None
    if isinstance(node, IsIn):
        return any(point == _point(value, kind) for value in node.values)
    assert isinstance(node, Compare)  # noqa: S101
    assert isinstance(node.right, Literal)  # noqa: S101
    other = _point(node.right, kind)
    if node.operator in {Comparison.EQUAL, Comparison.UNEQUAL}:
        return (point == other) is (node.operator is Comparison.EQUAL)
    assert isinstance(point, Fraction)  # noqa: S101
    assert isinstance(other, Fraction)  # noqa: S101
    return {
        Comparison.LESS: point < other,
        Comparison.AT_MOST: point <= other,
        Comparison.GREATER: point > other,
        Comparison.AT_LEAST: point >= other,
    }[node.operator]


def _compared_column(node: Expression) -> str:
    assert isinstance(node, Compare | IsIn | IsNull)  # noqa: S101
    column = node.left if isinstance(node, Compare) else node.operand
    assert isinstance(column, Column)  # noqa: S101
    return column.name
