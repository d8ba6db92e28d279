"""Expressions over the columns of an answer: their released values, and what the exact ones can be.

Numbers follow `possible_numbers`. A condition is known by which of TRUE, FALSE and NULL it can be of the
exact statistics; if that is open, a CASE can give what either branch gives. Text and other keys are certain,
or depend on noise, in which case any comparison of them may turn out either way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.data.facts.type_check import type_of
from discreet.data.language.evaluation import value_of
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    columns_of,
    walk,
)
from discreet.data.language.functions.conditional import COALESCE, GREATEST, LEAST, NULLIF
from discreet.data.language.functions.numeric import ABS, CEILING, FLOOR, ROUND, SIGN, SQRT
from discreet.data.language.types import Schema, Type
from discreet.errors import UnsupportedQuery
from discreet.queries.outputs.possible_numbers import (
    PossibleNumbers,
    absolute,
    chosen,
    constants,
    divided,
    first_present,
    integer_part,
    larger_present,
    negative,
    null_if,
    plus,
    root_or_null,
    rounded_outward,
    sign,
    times,
)
from discreet.records import dataclass

__all__ = [
    "Evaluated",
    "Evaluation",
    "PossibleTruths",
    "PossibleWords",
    "check_calculation",
    "evaluated_values",
    "words_of",
]

_ONE = {
    ABS: absolute,
    FLOOR: lambda one: integer_part(one, up=False),
    CEILING: lambda one: integer_part(one, up=True),
    SIGN: sign,
    SQRT: root_or_null,
}
_SEVERAL: dict[object, Callable[[PossibleNumbers, PossibleNumbers], PossibleNumbers]] = {
    COALESCE: first_present,
    NULLIF: null_if,
    GREATEST: larger_present,
    LEAST: lambda one, other: negative(larger_present(negative(one), negative(other))),
}
_ARITHMETIC = {
    ArithmeticOperator.ADD: plus,
    ArithmeticOperator.SUBTRACT: lambda one, other: plus(one, negative(other)),
    ArithmeticOperator.MULTIPLY: times,
    ArithmeticOperator.DIVIDE: divided,
}
_NUMBERS = (Type.INTEGER, Type.DECIMAL, Type.FLOAT)
_LARGEST_LITERAL = 10**100
_EXACT = 2.0**53
_WRITE = (
    "write + - * /, comparisons, CASE, COALESCE, NULLIF, GREATEST, LEAST, ROUND, FLOOR, CEILING, ABS, SIGN "
    "or SQRT of numbers, or calculate with the answer, which costs nothing"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PossibleTruths:
    """A truth value for each group: as released (1, 0 or NaN for NULL), and which the exact one can be."""

    value: NDArray[np.float64]
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    null: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PossibleWords:
    """A text, date or truth value for each group, as released, and whether noise had no part in it."""

    values: NDArray[np.object_]
    certain: bool


Evaluated: TypeAlias = PossibleNumbers | PossibleTruths | PossibleWords


def check_calculation(expression: Expression, schema: Schema) -> Type:
    """Return the type of a calculation with columns of an answer, or refuse it.

    Parameters
    ----------
    expression : Expression
        The calculation.
    schema : mapping of names to types
        The columns of the answer. What cannot be calculated with, such as lists, is of type `OTHER`.
    """
    if any(schema.get(name) is Type.OTHER for name in columns_of(expression)):
        raise UnsupportedQuery(
            "a calculation reads MODE or APPROX_TOP_K, whose answers are keys; ask for them by themselves"
        )
    found = expression.type if isinstance(expression, Literal) else type_of(expression, schema)
    for node in walk(expression):
        if isinstance(node, Literal) and node.type.is_number and abs(Fraction(node.value)) > _LARGEST_LITERAL:  # type: ignore[arg-type]
            raise UnsupportedQuery("a constant is too large to calculate with; write one below 1e100")
        if isinstance(node, Call) and node.function not in {ROUND, *_ONE, *_SEVERAL}:
            raise UnsupportedQuery(
                f"{node.function.title} of an answer is not in the language of private queries; {_WRITE}"
            )
        operands: Sequence[Expression] = ()
        if isinstance(node, Call) and node.function is not COALESCE:
            operands = node.operands
        elif isinstance(node, Arithmetic):
            operands = (node.left, node.right)
        elif isinstance(node, Cast):
            operands = (node.operand,)
            if node.type not in _NUMBERS:
                raise UnsupportedQuery(
                    f"CAST of an answer to {node.type.value} is not in the language of private queries; "
                    f"{_WRITE}"
                )
        for operand in operands:
            kind = operand.type if isinstance(operand, Literal) else type_of(operand, schema)
            if kind not in _NUMBERS:
                raise UnsupportedQuery(
                    f"a calculation with an answer takes numbers, not {kind.value}; {_WRITE}"
                )
    return found


class Evaluation:
    """Evaluates expressions over the columns of an answer.

    Parameters
    ----------
    numbers : mapping of names to what was evaluated
        The outputs, and windows over them.
    keys : mapping of names to sequences
        The keys of every group.
    groups : int
        How many groups there are.
    functions : mapping of expressions to sequences, optional
        What functions of keys are in every group.
    """

    def __init__(
        self,
        numbers: Mapping[str, Evaluated],
        keys: Mapping[str, Sequence[Any]],
        groups: int,
        functions: Mapping[Expression, Sequence[Any]] | None = None,
    ) -> None:
        self._numbers, self._keys, self._groups = numbers, keys, groups
        self._functions = functions or {}

    def of(self, node: Expression) -> Evaluated:
        """Return what a checked expression gives."""
        if node in self._functions:
            return evaluated_values(self._functions[node])
        if isinstance(node, Column):
            found = self._numbers.get(node.name)
            return evaluated_values(self._keys[node.name]) if found is None else found
        if isinstance(node, Literal):
            return _repeated(evaluated_values([node.value]), self._groups)
        if isinstance(node, Arithmetic):
            one = self._number(node.left)
            if node.operator is ArithmeticOperator.MULTIPLY and node.left == node.right:
                return times(absolute(one), absolute(one))  # a square is not negative
            return _ARITHMETIC[node.operator](one, self._number(node.right))
        if isinstance(node, Cast):
            one = self._number(node.operand)
            return rounded_outward(one, 0) if node.type is Type.INTEGER else one
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Case):
            return self._case(node)
        return self.truth(node)

    def truth(self, node: Expression) -> PossibleTruths:
        """Return what a condition gives."""
        if node in self._functions:
            return _truths(words_of(evaluated_values(self._functions[node])))
        if isinstance(node, Compare):
            return _compared(node.operator, self.of(node.left), self.of(node.right))
        if isinstance(node, And):
            return reduce(_both, map(self.truth, node.operands))
        if isinstance(node, Or):
            return _not(reduce(_both, (_not(self.truth(operand)) for operand in node.operands)))
        if isinstance(node, Not):
            return _not(self.truth(node.operand))
        if isinstance(node, IsNull):
            return self._is_null(self.of(node.operand))
        if isinstance(node, IsIn):
            one = self.of(node.operand)
            equal = (_compared(Comparison.EQUAL, one, self.of(value)) for value in node.values)
            return _not(reduce(_both, map(_not, equal)))
        found = self.of(node)
        return found if isinstance(found, PossibleTruths) else _truths(words_of(found))

    def _number(self, node: Expression) -> PossibleNumbers:
        found = self.of(node)
        assert isinstance(found, PossibleNumbers)  # noqa: S101
        return found

    def _call(self, node: Call) -> Evaluated:
        if node.function in _ONE:
            return _ONE[node.function](self._number(node.operands[0]))
        if node.function is ROUND:
            digits = node.operands[1].value if len(node.operands) == 2 else 0  # type: ignore[union-attr]
            return rounded_outward(self._number(node.operands[0]), int(digits))  # type: ignore[arg-type]
        operands = [self.of(operand) for operand in node.operands]
        numbers = [one for one in operands if isinstance(one, PossibleNumbers)]
        if len(numbers) == len(operands):
            return reduce(_SEVERAL[node.function], numbers)
        words = [words_of(one) for one in operands]
        values = words[0].values
        for other in words[1:]:
            values = np.where(_missing(values), other.values, values)
        return PossibleWords(values=values, certain=all(one.certain for one in words))

    def _case(self, node: Case) -> Evaluated:
        results = [*(self.of(branch.value) for branch in node.branches), self.of(node.otherwise)]
        conditions = [self.truth(branch.condition) for branch in node.branches]
        if all(isinstance(one, PossibleNumbers) for one in results):
            *branches, found = (one for one in results if isinstance(one, PossibleNumbers))
            for condition, branch in reversed(list(zip(conditions, branches, strict=True))):
                otherwise = condition.false | condition.null
                found = chosen(condition.value == 1, condition.true, otherwise, branch, found)
            return found
        *words, last = map(words_of, results)
        values, certain = last.values, last.certain
        for condition, word in reversed(list(zip(conditions, words, strict=True))):
            taken = condition.value == 1
            otherwise = np.where(taken, condition.false | condition.null, condition.true)
            values = np.where(taken, word.values, values)
            certain = certain and word.certain and not bool(otherwise.any())
        return PossibleWords(values=values, certain=certain)

    def _is_null(self, one: Evaluated) -> PossibleTruths:
        nothing = np.zeros(self._groups, np.bool_)
        if isinstance(one, PossibleNumbers):
            released, null, present = np.isnan(one.value), one.null, one.low <= one.high
        elif isinstance(one, PossibleTruths):
            released, null, present = np.isnan(one.value), one.null, one.true | one.false
        else:
            released = _missing(one.values)
            null = released if one.certain else ~nothing
            present = ~released if one.certain else ~nothing
        return PossibleTruths(value=released.astype(np.float64), true=null, false=present, null=nothing)


def evaluated_values(values: Sequence[Any]) -> Evaluated:
    """Return public values: keys, or a constant."""
    if all(
        value is None or (isinstance(value, int | Fraction) and type(value) is not bool) for value in values
    ):
        return constants(values)
    return PossibleWords(values=_objects(values), certain=True)


def _repeated(one: Evaluated, groups: int) -> Evaluated:
    """Return a constant in every group."""
    if isinstance(one, PossibleWords):
        return PossibleWords(values=np.repeat(one.values, groups), certain=True)
    assert isinstance(one, PossibleNumbers)  # noqa: S101
    low, value, high = (np.repeat(end, groups) for end in (one.low, one.value, one.high))
    return PossibleNumbers(low=low, value=value, high=high, null=np.repeat(one.null, groups), whole=one.whole)


def _missing(values: NDArray[np.object_]) -> NDArray[np.bool_]:
    return np.array([value is None for value in values], np.bool_)


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    found = np.empty(len(values), np.object_)
    found[:] = values
    return found


def words_of(one: Evaluated) -> PossibleWords:
    """Return values of any kind as they were released."""
    if isinstance(one, PossibleWords):
        return one
    if isinstance(one, PossibleNumbers):
        exact = one.whole & (np.abs(one.value) < _EXACT)
        values = [
            None if np.isnan(value) else int(value) if whole else float(value)
            for value, whole in zip(one.value, exact, strict=True)
        ]
        known = np.where(one.low > one.high, np.isnan(one.value), (one.low == one.high) & ~one.null)
        known &= np.isnan(one.value) | (one.value == one.low)
        return PossibleWords(values=_objects(values), certain=bool(known.all()))
    values = [None if np.isnan(value) else bool(value) for value in one.value]
    other = np.where(np.isnan(one.value), one.true | one.false, one.null)
    other |= np.where(one.value == 1, one.false, False) | np.where(one.value == 0, one.true, False)
    return PossibleWords(values=_objects(values), certain=not bool(other.any()))


def _truths(words: PossibleWords) -> PossibleTruths:
    """Return truth values that a CASE or COALESCE gave."""
    value = np.array([np.nan if one is None else float(one) for one in words.values], np.float64)
    everything = np.full(value.shape, not words.certain)
    return PossibleTruths(
        value=value,
        true=(value == 1) | everything,
        false=(value == 0) | everything,
        null=np.isnan(value) | everything,
    )


def _compared(operator: Comparison, one: Evaluated, other: Evaluated) -> PossibleTruths:
    if not (isinstance(one, PossibleNumbers) and isinstance(other, PossibleNumbers)):
        return _compared_words(operator, words_of(one), words_of(other))
    if operator in {Comparison.GREATER, Comparison.AT_LEAST}:
        return _compared(operator.mirrored, other, one)
    if operator is Comparison.UNEQUAL:
        return _not(_compared(Comparison.EQUAL, one, other))
    (low, high), (least, most) = one.outward(), other.outward()
    if operator is Comparison.LESS:
        true, false, value = low < most, high >= least, one.value < other.value
    elif operator is Comparison.AT_MOST:
        true, false, value = low <= most, high > least, one.value <= other.value
    else:
        true = (low <= most) & (least <= high)
        false = ~((low == high) & (least == most) & (low == least))
        value = one.value == other.value
    missing = np.isnan(one.value) | np.isnan(other.value)
    present = (low <= high) & (least <= most)
    return PossibleTruths(
        value=np.where(missing, np.nan, value.astype(np.float64)),
        true=true & present,
        false=false & present,
        null=one.null | other.null,
    )


def _compared_words(operator: Comparison, one: PossibleWords, other: PossibleWords) -> PossibleTruths:
    compare = Compare(operator=operator, left=Column(name="one"), right=Column(name="other"))
    pairs = zip(one.values, other.values, strict=True)
    values = [value_of(compare, {"one": left, "other": right}) for left, right in pairs]
    return _truths(PossibleWords(values=_objects(values), certain=one.certain and other.certain))


def _not(one: PossibleTruths) -> PossibleTruths:
    return PossibleTruths(value=1 - one.value, true=one.false, false=one.true, null=one.null)


def _both(one: PossibleTruths, other: PossibleTruths) -> PossibleTruths:
    """Return Kleene's AND: FALSE if one is, NULL if one is and the other is not FALSE."""
    false = (one.value == 0) | (other.value == 0)
    return PossibleTruths(
        value=np.where(false, 0.0, one.value * other.value),
        true=one.true & other.true,
        false=one.false | other.false,
        null=(one.null & (other.true | other.null)) | (other.null & (one.true | one.null)),
    )
