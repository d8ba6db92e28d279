"""How far one person moves the answer to any one linear query."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.values import Lattice, Value
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import whole
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import check_entries

__all__ = ["HasMatrix", "PersonChange", "counts_of", "integer_queries", "largest_change"]

LARGEST_ENTRY = 1 << 20


class HasMatrix(Protocol):
    """A workload that can be written down."""

    def matrix(self) -> NDArray[Any]:
        """Return one row for each query, one column for each cell."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonChange(Record):
    """What one person may change in the counts of the cells.

    Parameters
    ----------
    rows : int
        How many rows one person has, at most; or, with `groups`, in any one cell.
    groups : int, optional
        In how many cells one person has rows, at most; any number by default.
    neighbors : Neighbors
        Whether the person comes or goes, or has other rows.
    """

    rows: int = 1
    groups: int | None = None
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __post_init__(self) -> None:
        self._amend(rows=whole(self.rows, "rows", least=1, most=1 << 30))
        if self.groups is not None:
            self._amend(groups=whole(self.groups, "groups", least=1, most=1 << 30))
        check_relation(self.neighbors)
        if self.neighbors.size != 1:
            raise ParameterError("neighbors", "is not the relation of one unit", "of size 1")

    @property
    def counts(self) -> int:
        """How many rows come or go at most, in all cells together, when a person comes or goes."""
        return self.rows * (1 if self.groups is None else self.groups)


def largest_change(queries: NDArray[np.int64], change: PersonChange) -> int:
    """Return the most by which one person moves the answer to any one of the queries.

    With `rows` alone, k rows fall where a query weighs most: k times its largest entry. With `groups`,
    r rows fall in each of the g cells where it weighs most: r times the sum of its g largest entries. Only
    entries of one sign add up. A person who is replaced may take away what weighs below zero and bring what
    weighs above it, from no rows to all of them: both signs together.
    """
    kept = min(1 if change.groups is None else change.groups, queries.shape[1])
    raised = np.partition(np.maximum(queries, 0), -kept, axis=1)[:, -kept:].sum(axis=1)
    lowered = np.partition(np.maximum(-queries, 0), -kept, axis=1)[:, -kept:].sum(axis=1)
    added = change.neighbors.change is Change.ADD_REMOVE
    reach = np.maximum(raised, lowered) if added else raised + lowered
    return int(change.rows * reach.max())


def integer_queries(queries: object) -> NDArray[np.int64]:
    """Return queries, given as a matrix or as a workload that can be written down, as integers."""
    if not isinstance(queries, np.ndarray | list | tuple) and hasattr(queries, "matrix"):
        queries = cast("HasMatrix", queries).matrix()
    allowed = "a matrix of integers, one row for each query; multiply fractions by a common denominator"
    try:
        array = np.asarray(queries)
    except ValueError:
        raise ParameterError("queries", "do not form a matrix", allowed) from None
    if array.ndim != 2:
        raise ParameterError("queries", f"have {array.ndim} dimensions", allowed)
    if array.size == 0:
        raise ParameterError("queries", "are empty", "at least one query over at least one cell")
    check_entries(array.shape, "queries", "ask fewer queries, or merge cells")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and np.array_equal(array, np.rint(array)):
        array = array.astype(np.int64) if (np.abs(array) <= LARGEST_ENTRY).all() else array
    if array.dtype.kind not in "iu":
        raise ParameterError("queries", "hold numbers that are not integers, or too large", allowed)
    if (array > LARGEST_ENTRY).any() or (array.astype(np.int64) < -LARGEST_ENTRY).any():
        raise ParameterError(
            "queries", "hold entries out of range", f"from -{LARGEST_ENTRY} to {LARGEST_ENTRY}"
        )
    if not array.any():
        raise ParameterError("queries", "are all zero, so that their answers are known", "a query that asks")
    return array.astype(np.int64)


def counts_of(x: Value, size: int, most: int) -> NDArray[np.int64]:
    """Return the counts of all cells, clamped to [0, most] without a word.

    What is refused depends on their type and number alone. Clamping moves no two counts apart.
    """
    array = Lattice(step=Fraction(1), integers=True).enter(x, "x")
    if array.size != size:
        raise ParameterError("x", "has another number of cells than the queries", f"{size} counts")
    return array.ravel().clip(0, most)
