"""The range of a calculation that gives numbers, from those of its operands."""

from __future__ import annotations

from fractions import Fraction

from discreet.data.facts.inferred_dates import Dated, days_of
from discreet.data.facts.type_check import type_of
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    children,
)
from discreet.data.language.functions.temporal import days_between
from discreet.data.language.grid_interval import UNKNOWN, GridInterval, constant, hull
from discreet.data.language.types import Type
from discreet.records import dataclass

__all__ = ["Ranged", "is_never_null", "range_of"]

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Ranged(Dated):
    """An operand with what is known of its size."""

    @property
    def range(self) -> GridInterval:
        """The range of its numbers."""
        return range_of(self.expression, self.columns)

    @property
    def is_never_null(self) -> bool:
        """Whether it has a value in every row, for any data."""
        return is_never_null(self.expression)

    @property
    def longest(self) -> int | None:
        """How many code points its text has at most, if that is known."""
        return _longest(self.expression, self.columns)


def range_of(expression: Expression, columns: Columns) -> GridInterval:
    """Return what is known about the numbers that an expression gives."""
    if isinstance(expression, Literal):
        return constant(Fraction(expression.value))  # type: ignore[arg-type]
    if isinstance(expression, Column):
        return _declared(expression.name, columns)
    if isinstance(expression, Arithmetic):
        return _arithmetic(expression, columns)
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return hull([range_of(value, columns) for value in values if not _is_null(value)])
    if isinstance(expression, Cast):
        return _cast(expression, columns)
    if isinstance(expression, Call):
        return expression.function.range([Ranged(operand, columns) for operand in expression.operands])
    return UNKNOWN


def is_never_null(expression: Expression) -> bool:
    """Return whether an expression has a value in every row, for any data."""
    if isinstance(expression, IsNull):
        return True
    if isinstance(expression, Literal):
        return expression.value is not None
    if isinstance(expression, Case):
        values = [*(branch.value for branch in expression.branches), expression.otherwise]
        return all(is_never_null(value) for value in values)
    if isinstance(expression, Call) and expression.function.skips_null:
        return any(is_never_null(operand) for operand in expression.operands)
    if isinstance(expression, Compare | IsIn | And | Or | Not):
        return all(is_never_null(child) for child in children(expression))
    return False


def _declared(name: str, columns: Columns) -> GridInterval:
    facts = columns[name]
    step = _ONE if facts.type is Type.INTEGER else None
    found = GridInterval(step=step)
    if facts.bounds is not None:
        found = GridInterval(low=facts.bounds.lower, high=facts.bounds.upper, step=facts.bounds.step)
    elif facts.keys is not None and facts.type is Type.INTEGER:
        listed = [int(value) for value in facts.keys.values if value is not None]  # type: ignore[arg-type]
        found = hull([constant(Fraction(value)) for value in (min(listed), max(listed))])
        found = GridInterval(low=found.low, high=found.high, step=_ONE)
    return found.within(facts.least, facts.most)


def _arithmetic(node: Arithmetic, columns: Columns) -> GridInterval:
    if type_of(node.left, types_of(columns)) is Type.DATE:
        return days_between(days_of(node.left, columns), days_of(node.right, columns))
    left, right = range_of(node.left, columns), range_of(node.right, columns)
    if node.operator is ArithmeticOperator.ADD:
        return left.plus(right)
    if node.operator is ArithmeticOperator.SUBTRACT:
        return left.plus(right.negative())
    if node.operator is ArithmeticOperator.MULTIPLY:
        found = left.times(right)
        return found.within(Fraction(0), None) if node.left == node.right else found
    return left.over(right)


def _cast(node: Cast, columns: Columns) -> GridInterval:
    found = type_of(node.operand, types_of(columns))
    if found is Type.BOOLEAN:
        return GridInterval(low=Fraction(0), high=_ONE, step=_ONE)
    if not found.is_number:
        return GridInterval(step=_ONE if node.type is Type.INTEGER else None)
    known = range_of(node.operand, columns)
    return known.rounded(_ONE) if node.type is Type.INTEGER else known


def _longest(text: Expression, columns: Columns) -> int | None:
    if isinstance(text, Literal):
        return len(str(text.value))
    if isinstance(text, Call) and text.function.longest is not None:
        return text.function.longest([Ranged(operand, columns) for operand in text.operands])
    keys = columns[text.name].keys if isinstance(text, Column) else None
    return None if keys is None else max(len(str(value)) for value in keys.values if value is not None)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None
