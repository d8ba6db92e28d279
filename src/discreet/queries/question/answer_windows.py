"""Windows over an answer: what is taken of the released groups around each group.

A window acts after HAVING, so that it sees the groups that are left. Which groups it takes together, and in
which order, is settled by released values; where only keys decide, these are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from discreet.data.language.expressions import Expression, columns_of
from discreet.records import dataclass

__all__ = ["AnswerFunction", "AnswerWindow", "Frame", "WindowOrder"]


class AnswerFunction(Enum):
    """What a window takes."""

    SUM = "sum"
    COUNT = "count"
    MEAN = "avg"
    MINIMUM = "min"
    MAXIMUM = "max"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"
    LAST_VALUE = "last_value"
    NTH_VALUE = "nth_value"
    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    PERCENT_RANK = "percent_rank"
    CUME_DIST = "cume_dist"
    NTILE = "ntile"

    @property
    def ranks(self) -> bool:
        """Whether it is about places in an order, and takes no operand."""
        return self in _RANKS

    @property
    def whole(self) -> bool:
        """Whether it is an integer, whatever it is taken of."""
        return self is AnswerFunction.COUNT or (self.ranks and self not in _SHARES)


_SHARES = {AnswerFunction.PERCENT_RANK, AnswerFunction.CUME_DIST}
_RANKS = _SHARES | {
    AnswerFunction.ROW_NUMBER,
    AnswerFunction.RANK,
    AnswerFunction.DENSE_RANK,
    AnswerFunction.NTILE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOrder:
    """What a window sorts by; missing values come last, or first."""

    expression: Expression
    descending: bool = False
    missing_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The rows around the one at hand, in the order of the window.

    Attributes
    ----------
    start, end : int or None
        The first and the last of them, counted from the row at hand: -2 is two rows before. None is the
        first or last row of the partition.
    peers : bool
        Whether rows that sort alike belong with the row at hand, as in RANGE.
    """

    start: int | None = None
    end: int | None = None
    peers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWindow:
    """A function of the groups around each group.

    Attributes
    ----------
    name : str
        By which calculations read it.
    function : AnswerFunction
        What is taken.
    operand : Expression or None
        Of what, over keys and outputs; None for ranks and for COUNT(*).
    partition : tuple of Expression
        Groups that agree in these are taken together.
    order : tuple of WindowOrder
        How they are sorted.
    frame : Frame
        Which of them are taken.
    parameter : int
        How many rows before or after for LAG and LEAD, which row of NTH_VALUE, how many parts of NTILE.
    default : Expression or None
        What LAG and LEAD give where there is no such row; NULL if there is none.
    """

    name: str
    function: AnswerFunction
    operand: Expression | None = None
    partition: tuple[Expression, ...] = ()
    order: tuple[WindowOrder, ...] = ()
    frame: Frame = Frame()
    parameter: int = 1
    default: Expression | None = None

    @property
    def placing(self) -> frozenset[str]:
        """The columns that decide which groups are taken together, and in which order."""
        return _read(*self.partition, *(one.expression for one in self.order))

    @property
    def taken(self) -> frozenset[str]:
        """The columns that the value is taken of."""
        return _read(*(one for one in (self.operand, self.default) if one is not None))

    @property
    def reads(self) -> frozenset[str]:
        """All columns that it reads."""
        return self.placing | self.taken

    def expressions(self) -> Iterator[Expression]:
        """Return what it is made of."""
        yield from self.partition
        yield from (one.expression for one in self.order)
        yield from (one for one in (self.operand, self.default) if one is not None)


def _read(*expressions: Expression) -> frozenset[str]:
    return frozenset[str]().union(*map(columns_of, expressions))
