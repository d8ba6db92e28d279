"""What a window computes within one person, and the order of rows in it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from discreet.errors import UnsupportedQuery
from discreet.records import dataclass

__all__ = ["LARGEST_OFFSET", "LATER", "NUMBERED", "PLACED", "Order", "WindowFunction"]

LATER: Mapping[str, bool] = {"later": True}
"""Marks a field that plans did not have once: with its default it is not written (`serialization`)."""
LARGEST_OFFSET = 1_000
"""How many rows before or after a row LAG and LEAD may look."""


class WindowFunction(StrEnum):
    """What a window computes for a row, of the rows of the same person and the same partition."""

    ROW_NUMBER = "row number"
    """1, 2, 3, … in the stated order; rows that are equal in it are ordered by all their columns."""
    COUNT = "count"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    SUM = "sum"
    MEAN = "mean"
    RANK = "rank"
    """One more than the number of rows that come before in the stated order."""
    DENSE_RANK = "dense rank"
    """One more than the number of different places before."""
    LAG = "lag"
    """What a column holds some rows before, in the order of the row number; NULL if there is none."""
    LEAD = "lead"
    """What it holds some rows after."""


NUMBERED = frozenset({WindowFunction.ROW_NUMBER, WindowFunction.RANK, WindowFunction.DENSE_RANK})
"""Places of rows: functions of the order alone."""
PLACED = NUMBERED | {WindowFunction.LAG, WindowFunction.LEAD}
"""Functions that need an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A column to order by. NULL comes last either way."""

    column: str
    descending: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.column, str) and isinstance(self.descending, bool)):
            raise UnsupportedQuery("a part of the plan has the wrong type; build it from its parts")
