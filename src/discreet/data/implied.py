"""What a calculation implies about its result: type, range and keys, from those of the columns it reads."""

from __future__ import annotations

from discreet.data.checking import type_of
from discreet.data.columns import ColumnFacts, Columns, types_of
from discreet.data.expressions import Column, Expression

__all__ = ["implied"]


def implied(expression: Expression, columns: Columns) -> ColumnFacts:
    """Return what is known of an expression's values, or refuse it under the columns' types."""
    found = type_of(expression, types_of(columns))
    if isinstance(expression, Column):
        return columns[expression.name]
    return ColumnFacts(type=found)
