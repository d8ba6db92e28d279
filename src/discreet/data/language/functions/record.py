"""What a scalar function of the language is: one record that everything but the engines reads.

The type checker, the limits on sizes, keys, ranges, dates and the reader of SQL ask the record; only the
meaning on an engine is written elsewhere, in `data.compile`. A rule of a record sees its operands through the
protocols below, and so depends on the request and on public facts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from discreet.data.language.declarations import Dates, KeyValue
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.literals import LiteralValue
from discreet.data.language.types import Type
from discreet.records import dataclass

__all__ = ["DatedOperand", "KeyedOperand", "Operand", "RangedOperand", "ScalarFunction", "TypedOperand"]


class Operand(Protocol):
    """What the request alone says about an operand."""

    @property
    def constant(self) -> LiteralValue:
        """The value of a literal; None of anything else."""

    @property
    def size(self) -> int:
        """How many nodes its expression has."""


class TypedOperand(Operand, Protocol):
    """An operand whose type is known."""

    @property
    def type(self) -> Type:
        """Its type under the public columns."""


class DatedOperand(Operand, Protocol):
    """An operand with the days that it lies in."""

    @property
    def days(self) -> Dates | None:
        """The days that its dates or times lie in, if they are known."""


class RangedOperand(DatedOperand, Protocol):
    """An operand with what is known of its size: of numbers, days or texts."""

    @property
    def range(self) -> GridInterval:
        """The range of its numbers."""

    @property
    def is_never_null(self) -> bool:
        """Whether it has a value in every row, for any data."""

    @property
    def longest(self) -> int | None:
        """How many code points its text has at most, if that is known."""


class KeyedOperand(DatedOperand, Protocol):
    """An operand with the values that it can have."""

    @property
    def values(self) -> tuple[KeyValue, ...] | None:
        """Its possible values, if they are few and known."""


Values: TypeAlias = tuple[KeyValue, ...] | None


def _range_of_first(operands: Sequence[RangedOperand]) -> GridInterval:
    return operands[0].range


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ScalarFunction:
    """A function of one row's values: total, and the same on every engine.

    A rule that is a plain value holds for all operands; one that is a callable is asked with the operands.

    Attributes
    ----------
    name : str
        The name in stored plans and in the identity of questions. Once released it is never changed.
    meaning : str
        What it gives, with its special values. NULL as input gives NULL unless it says otherwise.
    example : str
        How it is written in SQL: what a refusal shows.
    operands : pair of int
        The least and the largest number of operands.
    last_default : int, optional
        The constant as last operand that means the same as leaving it out; it is left out of plans.
    takes : set of Type, optional
        The types of its operands. None: any, if all operands have one type in common.
    gives : Type or callable
        The type of its result; a callable may refuse operands with `UnsupportedQuery`.
    constants : callable, optional
        Whether its operands are as they must be, for a function some of whose operands must be constants.
    reads : int or callable
        How often its statement writes out each operand: a bound on what `data.compile` writes.
    growth : callable, optional
        How many times longer than the texts of a row its text can be, from the growths of its operands. The
        largest of these if left out.
    value : callable, optional
        Its value on public values that are not NULL: text, integers, booleans and dates, and constants.
    keys : callable, optional
        The values that it can have, where they do not follow from `value` or `range`.
    range : callable
        The range of its numbers; that of the first operand if left out.
    days : callable, optional
        The days that its dates or times lie in.
    longest : callable, optional
        How many code points its text has at most.
    skips_null : bool
        Whether it is NULL only if all operands are.
    rises_in : int, optional
        The operand that it rises with, if all others are constants: conditions on a column then narrow the
        keys of a group. To state it for a function that did not is to change which keys a question lists.
    at : callable, optional
        Its value at a double, for functions that rise: of the double, the other operands' constants, and
        whether the column holds integers. None where engines might differ from it.
    sql : tuple of str
        Its names in SQL.
    extract : tuple of str
        The names of the part of a date that it is, as in EXTRACT(YEAR FROM day).
    """

    name: str
    meaning: str
    example: str
    operands: tuple[int, int] = (1, 1)
    last_default: int | None = None
    takes: frozenset[Type] | None = None
    gives: Type | Callable[[Sequence[TypedOperand]], Type] = Type.INTEGER
    constants: Callable[[Sequence[Operand]], bool] | None = None
    reads: int | Callable[[Sequence[Operand]], int] = 1
    growth: Callable[[Sequence[Fraction], Sequence[Operand]], Fraction] | None = None
    value: Callable[..., Any] | None = None
    keys: Callable[[Sequence[KeyedOperand]], Values] | None = None
    range: Callable[[Sequence[RangedOperand]], GridInterval] = _range_of_first
    days: Callable[[Sequence[DatedOperand]], Dates | None] | None = None
    longest: Callable[[Sequence[Operand]], int | None] | None = None
    skips_null: bool = False
    rises_in: int | None = None
    at: Callable[[float, Sequence[LiteralValue], bool], float | None] | None = None
    sql: tuple[str, ...] = ()
    extract: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name as messages write it."""
        return self.name.upper()

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], ScalarFunction], tuple[str]]:
        from discreet.data.language.functions import function_named

        return function_named, (self.name,)
