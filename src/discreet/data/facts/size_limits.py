"""How large a statement, a number or a text can become: limits on requests, known before any data.

An engine that ran out of memory, digits or time on some rows would reveal something about them. So arithmetic
that could overflow, statements that would grow too long and texts that would multiply are refused.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.data.facts.operands import Stated
from discreet.data.language.expressions import (
    COLUMN_BITS,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Expression,
    Literal,
    children,
)
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery

__all__ = ["check_growth", "magnitude"]

LARGEST_LITERAL_EXPONENT = 1000
LARGEST_STATEMENT = 300_000
"""How many parts a statement may have when every operand is written out as often as its function reads it."""
LARGEST_GROWTH = 100
"""How many times longer than the longest text of a row a text may become."""

_CAST_READS = {Type.INTEGER: 22, Type.FLOAT: 10, Type.DATE: 40, Type.TEXT: 12}


def check_growth(expression: Expression) -> None:
    """Refuse an expression that could become too large."""
    if _statement(expression) > LARGEST_STATEMENT:
        raise UnsupportedQuery(
            "functions are nested so deep that the statement would grow too long; nest fewer of them"
        )
    if _growth(expression) > LARGEST_GROWTH:
        raise UnsupportedQuery(
            "a text is put together of itself so often that it could grow too long; join fewer"
        )


def magnitude(expression: Expression) -> tuple[int, int]:
    """Return exponents a, b such that an operand of arithmetic is NULL, 0, or in [2^a, 2^b] in magnitude.

    Doubles that are multiples of 2^(a - 53) have sums that are so, too.
    """
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        number = Fraction(expression.value)
        exponent = number.numerator.bit_length() - number.denominator.bit_length()
        return (exponent - 1, exponent + 1) if number else (0, 0)
    if not isinstance(expression, Arithmetic):
        return -COLUMN_BITS, COLUMN_BITS
    (least, largest), (other_least, other_largest) = magnitude(expression.left), magnitude(expression.right)
    if expression.operator is ArithmeticOperator.MULTIPLY:
        return least + other_least - 1, largest + other_largest + 1
    if expression.operator is ArithmeticOperator.DIVIDE:
        return least - other_largest - 1, largest - other_least + 1
    return min(least, other_least) - 53, max(largest, other_largest) + 1


def _statement(expression: Expression) -> int:
    """Return a bound on the size of the statement that `compile` writes."""
    below = sum(_statement(child) for child in children(expression))
    if isinstance(expression, Call):
        rule = expression.function.reads
        return 1 + below * (rule if isinstance(rule, int) else rule(_stated(expression)))
    if isinstance(expression, Cast):
        return 1 + below * _CAST_READS.get(expression.type, 3)
    if isinstance(expression, Arithmetic):
        # A function's value is read three times as an operand, a result twice where it leaves arithmetic.
        reads = [
            1 if isinstance(one, Arithmetic | Literal) else 3 for one in (expression.left, expression.right)
        ]
        return 2 + sum(
            many * _statement(one)
            for many, one in zip(reads, (expression.left, expression.right), strict=True)
        )
    return 1 + below


def _growth(expression: Expression) -> Fraction:
    """Return how many times longer than the texts of a row a text may be, constants aside."""
    if isinstance(expression, Case):
        return max(
            _growth(one) for one in (*(part.value for part in expression.branches), expression.otherwise)
        )
    below = [_growth(child) for child in children(expression)]
    if isinstance(expression, Call) and expression.function.growth is not None:
        return expression.function.growth(below, _stated(expression))
    return max(below, default=Fraction(1))


def _stated(call: Call) -> list[Stated]:
    return [Stated(operand) for operand in call.operands]
