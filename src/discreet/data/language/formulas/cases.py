"""Cases and other functions that are not methods of one value.

>>> from discreet.data import col
>>> when(col("age") < 18).then("child").when(col("age") < 65).then("adult").otherwise("senior")
Formula(case when age < ? then ? when age < ? then ? else ? end)
"""

from __future__ import annotations

from discreet.data.language.expressions import Call, Case, When, literal
from discreet.data.language.formulas.formula import Formula
from discreet.data.language.formulas.formula_methods import expression_of_value
from discreet.data.language.functions import ScalarFunction
from discreet.data.language.functions.conditional import COALESCE, GREATEST, LEAST
from discreet.data.language.functions.strings import CONCAT
from discreet.errors import ParameterError

__all__ = ["Branch", "Cases", "coalesce", "concat", "greatest", "least", "when"]


class Branch:
    """A condition that still needs its value."""

    __slots__ = ("_branches", "_condition")

    def __init__(self, branches: tuple[When, ...], condition: object) -> None:
        if not isinstance(condition, Formula | bool):
            raise ParameterError("condition", "is not a condition", "a formula, such as col('age') < 18")
        self._branches = branches
        self._condition = expression_of_value(condition)

    def then(self, value: object) -> Cases:
        """Give the value where the condition is true and none before it was."""
        return Cases((*self._branches, When(condition=self._condition, value=expression_of_value(value))))

    def __repr__(self) -> str:
        return "Branch(waits for then)"


class Cases(Formula):
    """A formula of cases, NULL if none holds; more can be added."""

    __slots__ = ("_branches",)

    def __init__(self, branches: tuple[When, ...]) -> None:
        super().__init__(Case(branches=branches, otherwise=literal(None)))
        self._branches = branches

    def when(self, condition: object) -> Branch:
        """Add a case."""
        return Branch(self._branches, condition)

    def otherwise(self, value: object) -> Formula:
        """Give the value where no case holds."""
        return Formula(Case(branches=self._branches, otherwise=expression_of_value(value)))


def when(condition: object) -> Branch:
    """Begin a case: `when(condition).then(value).otherwise(value)`."""
    return Branch((), condition)


def least(*values: object) -> Formula:
    """Return the smallest value; NULL is skipped."""
    return _call(LEAST, values)


def greatest(*values: object) -> Formula:
    """Return the largest value; NULL is skipped."""
    return _call(GREATEST, values)


def coalesce(*values: object) -> Formula:
    """Return the first value that is not NULL."""
    return _call(COALESCE, values)


def concat(*values: object) -> Formula:
    """Concatenate texts; NULL if one is."""
    return _call(CONCAT, values)


def _call(function: ScalarFunction, values: tuple[object, ...]) -> Formula:
    return Formula(Call(function=function, operands=tuple(expression_of_value(value) for value in values)))
