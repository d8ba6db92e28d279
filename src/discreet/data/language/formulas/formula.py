"""What users write to build expressions and aggregates in Python.

>>> adults = (col("age") >= 18) & ~col("city").is_null()
>>> adults
Formula((age >= ?) and (not (city is null)))
>>> count(), col("cost").mean()
(Aggregate(count), Aggregate(mean of cost))

A `Formula` wraps an `Expression` and gives it Python's operators; the expression itself stays a plain
record that compares by structure. Building reads no data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Column,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Not,
    Or,
    literal,
)
from discreet.data.language.formulas.aggregates import (
    Aggregate,
    Aggregated,
    AggregateFunction,
    correlation,
    count,
    count_persons,
    covariance,
)
from discreet.data.language.formulas.formula_methods import Calculated, expression_of_value
from discreet.data.language.formulas.other_libraries import FORMULA, unknown_word
from discreet.data.language.functions.numeric import MODULO
from discreet.errors import ParameterError

__all__ = [
    "Aggregate",
    "AggregateFunction",
    "Formula",
    "col",
    "correlation",
    "count",
    "count_persons",
    "covariance",
]


class Formula(Aggregated, Calculated):
    """An expression with Python's operators.

    Comparisons are ``< <= > >= == !=``; logic is ``& | ~`` (``and``, ``or`` and ``not`` cannot be
    overloaded); arithmetic is ``+ - * / %``. The other operand is a formula or a plain value. Functions are
    methods (see `words`).
    """

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def is_null(self) -> Formula:
        """Whether the value is NULL."""
        return Formula(IsNull(operand=self.expression))

    def isin(self, values: Iterable[object]) -> Formula:
        """Whether the value is one of some constants."""
        if isinstance(values, str | bytes):
            raise ParameterError("values", "is text, not a list", "a list such as ['Taipei', 'Hamilton']")
        return Formula(IsIn(operand=self.expression, values=tuple(literal(value) for value in values)))

    def between(self, lower: object, upper: object) -> Formula:
        """Whether the value lies from `lower` to `upper`, both included."""
        return (self >= lower) & (self <= upper)

    def __lt__(self, other: object) -> Formula:
        return self._compare(Comparison.LESS, other)

    def __le__(self, other: object) -> Formula:
        return self._compare(Comparison.AT_MOST, other)

    def __gt__(self, other: object) -> Formula:
        return self._compare(Comparison.GREATER, other)

    def __ge__(self, other: object) -> Formula:
        return self._compare(Comparison.AT_LEAST, other)

    def __eq__(self, other: object) -> Formula:  # type: ignore[override]
        return self._compare(Comparison.EQUAL, other)

    def __ne__(self, other: object) -> Formula:  # type: ignore[override]
        return self._compare(Comparison.UNEQUAL, other)

    def __and__(self, other: object) -> Formula:
        return Formula(And(operands=(self.expression, expression_of_value(other))))

    def __rand__(self, other: object) -> Formula:
        return Formula(And(operands=(expression_of_value(other), self.expression)))

    def __or__(self, other: object) -> Formula:
        return Formula(Or(operands=(self.expression, expression_of_value(other))))

    def __ror__(self, other: object) -> Formula:
        return Formula(Or(operands=(expression_of_value(other), self.expression)))

    def __invert__(self) -> Formula:
        return Formula(Not(operand=self.expression))

    def __add__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.ADD, self, other)

    def __radd__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.ADD, other, self)

    def __sub__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.SUBTRACT, self, other)

    def __rsub__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.SUBTRACT, other, self)

    def __mul__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.MULTIPLY, self, other)

    def __rmul__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.MULTIPLY, other, self)

    def __truediv__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.DIVIDE, self, other)

    def __rtruediv__(self, other: object) -> Formula:
        return _arithmetic(ArithmeticOperator.DIVIDE, other, self)

    def __mod__(self, other: object) -> Formula:
        return Formula(Call(function=MODULO, operands=(self.expression, expression_of_value(other))))

    def __rmod__(self, other: object) -> Formula:
        return Formula(Call(function=MODULO, operands=(expression_of_value(other), self.expression)))

    def __neg__(self) -> Formula:
        return _arithmetic(ArithmeticOperator.SUBTRACT, 0, self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a formula is neither true nor false by itself: "
            "write & | ~ instead of and, or, not; between() instead of a < x < b; isin() instead of in"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_word(FORMULA, name)

    def __repr__(self) -> str:
        return f"Formula({describe_expression(self.expression)})"

    def _compare(self, operator: Comparison, other: object) -> Formula:
        return Formula(Compare(operator=operator, left=self.expression, right=expression_of_value(other)))


def col(name: str) -> Formula:
    """Refer to a column by name."""
    if not isinstance(name, str) or not name:
        raise ParameterError("name", "is not a column name", "text such as 'age'")
    return Formula(Column(name=name))


def _arithmetic(operator: ArithmeticOperator, left: object, right: object) -> Formula:
    return Formula(
        Arithmetic(operator=operator, left=expression_of_value(left), right=expression_of_value(right))
    )
