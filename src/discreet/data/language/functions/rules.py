"""What the rules of several functions share: sets of types, checks of constants, the type of all operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.data.language.declarations import Dates
from discreet.data.language.functions.record import Operand, RangedOperand, TypedOperand
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

__all__ = [
    "INTEGERS",
    "MANY",
    "MOMENTS",
    "NUMBERS",
    "TEXTS",
    "TIMES",
    "common_type",
    "days_of_any",
    "fixed",
    "is_long",
    "is_text",
    "is_whole",
    "whole_range",
]

MANY = 1000
"""The most operands of a function that takes any number of them."""

MOMENTS = frozenset({Type.DATE, Type.TIMESTAMP, Type.INSTANT})
TIMES = frozenset({Type.TIMESTAMP, Type.INSTANT})
NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})
INTEGERS, TEXTS = frozenset({Type.INTEGER}), frozenset({Type.TEXT})
_ORDERED = NUMBERS | TEXTS | MOMENTS | {Type.BOOLEAN}


def is_long(operand: TypedOperand) -> bool:
    """Return whether an operand is an integer constant that 64 bits do not hold."""
    value = operand.constant
    return operand.type is Type.INTEGER and isinstance(value, int) and not -(1 << 63) <= value < 1 << 63


def is_whole(operand: Operand, least: int, most: int) -> bool:
    """Return whether an operand is an integer constant between two ends."""
    value = operand.constant
    return type(value) is int and least <= value <= most


def is_text(operand: Operand) -> bool:
    """Return whether an operand is a text constant."""
    return isinstance(operand.constant, str)


def common_type(operands: Sequence[TypedOperand], name: str) -> Type:
    """Return the type that takes all operands, except NULL: integers give integers, other numbers floats."""
    present = [operand for operand in operands if operand.type is not Type.NULL]
    kinds = {operand.type for operand in present}
    if not present:
        raise UnsupportedQuery(f"{name} has no value but NULL; write at least one other value")
    if kinds <= NUMBERS:
        whole = kinds == {Type.INTEGER} and not any(is_long(operand) for operand in present)
        return Type.INTEGER if whole else Type.FLOAT
    if len(kinds) == 1 and kinds <= _ORDERED:
        return kinds.pop()
    if kinds == {Type.DATE, Type.TIMESTAMP}:
        if all(operand.constant is not None for operand in present if operand.type is Type.DATE):
            return Type.TIMESTAMP
        raise UnsupportedQuery(
            f"{name} mixes dates and timestamps; write CAST(day AS TIMESTAMP), or CAST(seen AS DATE)"
        )
    if Type.OTHER in kinds:
        raise UnsupportedQuery(
            f"{name} is not defined on a column of this type; it can only be tested with IS NULL"
        )
    found = " and ".join(sorted(kind.value for kind in kinds))
    raise UnsupportedQuery(f"{name} mixes {found}; give all values one type, for instance with CAST")


def whole_range(low: int, high: int) -> GridInterval:
    """Return the range of the integers between two ends."""
    return GridInterval(low=Fraction(low), high=Fraction(high), step=Fraction(1))


def fixed(low: int, high: int) -> Callable[[Sequence[RangedOperand]], GridInterval]:
    """Return the rule of a range that does not depend on the operands."""
    found = whole_range(low, high)
    return lambda _: found


def days_of_any(known: Sequence[Dates | None]) -> Dates | None:
    """Return the days from the first of any of several to the last of any, if all are known."""
    found = [days for days in known if days is not None]
    if len(found) < len(known) or not found:
        return None
    return Dates(min(days.first for days in found), max(days.last for days in found))
