"""The name of a calculated key that has none: the outermost function and the columns, as in upper_city.

It never holds a literal, which may be sensitive.
"""

from __future__ import annotations

from discreet.data.language.expressions import (
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    walk,
)

__all__ = ["calculated_key_name"]

_LONGEST = 60
"""Longer names keep the function alone, so that they stay readable."""


def calculated_key_name(expression: Expression) -> str:
    """Return the name of a calculated key."""
    columns = dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Column))
    word = _word(expression)
    full = "_".join([word, *columns])
    return full if len(full) <= _LONGEST else word


def _word(expression: Expression) -> str:
    if isinstance(expression, Call):
        return expression.function.name
    if isinstance(expression, Cast):
        return expression.type.value
    if isinstance(expression, Case):
        return "case"
    return "calculated" if isinstance(expression, Arithmetic) else "condition"
