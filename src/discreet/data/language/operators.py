"""The operators of expressions: comparisons and arithmetic, spelled as in SQL."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ArithmeticOperator", "Comparison"]


class Comparison(StrEnum):
    """The six comparisons, spelled as in SQL."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="

    @property
    def mirrored(self) -> Comparison:
        """The comparison that holds of (b, a) when this one holds of (a, b)."""
        return _MIRRORED.get(self, self)


_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}


class ArithmeticOperator(StrEnum):
    """The four operations. Division by zero gives NULL."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
