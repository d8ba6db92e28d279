"""Classes of rows: which of several conditions a row meets, and the counts that add up from them.

Counts with conditions share rows: ranges overlap, and a row that is in no other range moves one count only.
Rows fall into classes by which of the conditions they meet; the counts are sums of classes, and the
best strategy for those sums is measured once, instead of each count for a share of the offer.

The class of a row is a number with one binary digit for each condition, calculated by the engine with the
very conditions of the query; which numbers are possible is known from
`data.facts.conditions.condition_regions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.data import (
    Aggregate,
    AggregateFunction,
    CountNonNull,
    CountRows,
    Histogram,
    Keys,
    Type,
    literal,
)
from discreet.data.facts.conditions.condition_regions import possible_truths
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Case,
    Cast,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    When,
)
from discreet.data.language.types import Schema
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.counts_sums_means import CountOutput
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.workloads import Matrix

__all__ = ["MOST_CLASSES", "MOST_CONDITIONS", "CountedClasses", "classes_of", "counted_condition"]

MOST_CONDITIONS = 50
"""Classes are numbered in binary, within what doubles hold exactly."""
MOST_CLASSES = 512
"""For so many classes a strategy is found within about two seconds; for four times as many, in about five."""

_CONDITIONS = Compare | And | Or | Not | IsNull | IsIn


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedClasses:
    """The classes that rows can be in.

    Attributes
    ----------
    conditions : tuple of Expression
        What is counted.
    truths : tuple of tuples of bool
        For every class, which of the conditions are TRUE.
    """

    conditions: tuple[Expression, ...]
    truths: tuple[tuple[bool, ...], ...]

    @property
    def number(self) -> Expression:
        """The number of a row's class: 2^i for each condition i that is TRUE, added up."""
        terms: list[Expression] = [
            Case(branches=(When(condition=condition, value=literal(1 << place)),), otherwise=literal(0))
            for place, condition in enumerate(self.conditions)
        ]
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=False)
            left = [terms[-1]] if len(terms) % 2 else []
            plus = ArithmeticOperator.ADD
            terms = [*(Arithmetic(operator=plus, left=one, right=other) for one, other in pairs), *left]
        return Cast(operand=terms[0], type=Type.INTEGER)

    def histogram(self, column: str) -> Histogram:
        """Return the counts of all classes, by a column with the numbers of classes."""
        codes = [sum(1 << place for place, true in enumerate(row) if true) for row in self.truths]
        return Histogram(column=column, values=Keys(codes))

    @property
    def workload(self) -> Matrix:
        """Which classes each count adds up."""
        return _workload(self.truths)


def counted_condition(aggregate: Aggregate, output: QueryOutput) -> Expression | None:
    """Return under which condition an aggregate counts rows; None if it is not such a count.

    Parameters
    ----------
    aggregate : Aggregate
        COUNT(*), COUNT(x), or SUM of what is 1 or 0.
    output : QueryOutput
        What it measures by itself: COUNT(x) is a count of rows if nothing is missing but NULL.
    """
    operand, function = aggregate.operand, aggregate.function
    if operand is None:
        return literal(True) if function is AggregateFunction.COUNT else None
    if function is AggregateFunction.COUNT:
        return _present(operand, output)
    return _summed(operand) if function is AggregateFunction.SUM else None


def _present(operand: Expression, output: QueryOutput) -> Expression | None:
    """Return when an operand of COUNT is there."""
    case = _single(operand)
    if case is not None and case[2] is None:
        condition, value, _ = case
        if isinstance(value, Literal):
            return condition if value.type is not Type.NULL else None
    if not isinstance(output, CountOutput):
        return None
    if output.measure == CountRows():
        return literal(True)
    plain = isinstance(output.measure, CountNonNull) and output.measure.bounds is None
    return Not(operand=IsNull(operand=operand)) if plain else None


def _summed(operand: Expression) -> Expression | None:
    """Return when an operand of SUM is 1, if it is 0 or NULL otherwise."""
    case = _single(operand)
    if case is not None:
        condition, value, rest = case
        one = isinstance(value, Literal) and value.value == 1 and value.type is Type.INTEGER
        return condition if one and (rest is None or (rest == 0 and rest is not False)) else None
    if isinstance(operand, Cast) and operand.type in {Type.INTEGER, Type.FLOAT}:
        operand = operand.operand
    return operand if isinstance(operand, _CONDITIONS) else None


def _single(operand: Expression) -> tuple[Expression, Expression, object] | None:
    """Return the condition, the value and the constant otherwise of a CASE with one branch."""
    if not isinstance(operand, Case) or len(operand.branches) != 1:
        return None
    if not isinstance(operand.otherwise, Literal):
        return None
    branch = operand.branches[0]
    return branch.condition, branch.value, operand.otherwise.value


def classes_of(
    conditions: Sequence[Expression], schema: Schema, given: Sequence[Expression] = ()
) -> CountedClasses | str:
    """Return the classes of rows under some conditions, or why they cannot be told.

    Parameters
    ----------
    conditions : sequence of Expression
        What is counted.
    schema : mapping of names to types
        The columns that they read.
    given : sequence of Expression
        What is TRUE of all rows.
    """
    if len(conditions) > MOST_CONDITIONS:
        return f"there are more than {MOST_CONDITIONS} conditions"
    truths = _truths(tuple(conditions), tuple(schema.items()), tuple(given))
    if truths is None:
        return "their conditions compare too many values, or constants that are too close to each other"
    if len(truths) > MOST_CLASSES:
        return f"their conditions divide rows into more than {MOST_CLASSES} classes"
    if len(truths) < 2:
        return "all of them count the same rows"
    return CountedClasses(conditions=tuple(conditions), truths=tuple(truths))


@lru_cache(maxsize=64)
def _truths(
    conditions: tuple[Expression, ...],
    schema: tuple[tuple[str, Type], ...],
    given: tuple[Expression, ...],
) -> list[tuple[bool, ...]] | None:
    return possible_truths(conditions, dict(schema), given)


@lru_cache(maxsize=64)
def _workload(truths: tuple[tuple[bool, ...], ...]) -> Matrix:
    from discreet.workloads import Matrix

    return Matrix(np.array(truths, np.float64).T)
