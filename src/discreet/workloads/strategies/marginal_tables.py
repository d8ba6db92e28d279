"""The marginals themselves, made to agree: for Laplace noise mostly better than the residual basis.

Every marginal is measured as it is, so that a column of the strategy holds a one for each of them, and
nothing else. Each interaction S is then seen in all marginals T that hold it, with independent noise: summed
over the attributes outside S, a cell has |T| / |S| times the variance. The average weighted by
1 / |T| is the least-squares estimate, since the parts of a table that belong to different interactions are
orthogonal (docs/proofs/strategies.md, proposition 12).
"""

from __future__ import annotations

from dataclasses import field
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass
from discreet.workloads.algebra.modular import LARGEST_CELL, clamped_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector
    from discreet.workloads.queries.marginals import Marginals
    from discreet.workloads.strategies.residual_part import Set

__all__ = ["MarginalTables", "TablePart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePart:
    """One marginal, measured cell by cell."""

    chosen: Set
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of its cells."""
        return prod(self.shape)

    @property
    def measurements(self) -> int:
        """One for each cell."""
        return self.size

    @property
    def column_norm1(self) -> int:
        """A row is in one cell."""
        return 1

    @property
    def squared_column_norm2(self) -> int:
        """A row is in one cell."""
        return 1

    @property
    def largest_entry(self) -> int:
        """One."""
        return 1

    def measure(self, x: NDArray[Any], /) -> NDArray[np.int64]:
        """Return the counts, clamped as by `Strategy.measure`."""
        return clamped_counts(x, self.size).reshape(-1)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class MarginalTables(Record):
    """All marginals of a workload, measured as they are and made to agree by least squares.

    Parameters
    ----------
    workload : Marginals
        Which marginals are asked for.

    Examples
    --------
    >>> from discreet.workloads import Marginals
    >>> MarginalTables(Marginals((2, 3, 4), ways=2)).column_norm1
    3
    """

    workload: Marginals
    _precisions: dict[Set, float] = field(repr=False)

    def __init__(self, workload: Marginals) -> None:
        precisions: dict[Set, float] = {}
        for holder in workload.sets:
            for part in _subsets(holder):
                precisions[part] = precisions.get(part, 0.0) + workload.cells(part) / workload.cells(holder)
        self._set(workload=workload, _precisions=precisions)

    @property
    def measurements(self) -> int:
        """The number of cells of all marginals."""
        return self.workload.queries

    @property
    def column_norm1(self) -> int:
        """A row is in one cell of every marginal."""
        return len(self.workload.sets)

    @property
    def squared_column_norm2(self) -> int:
        """A row is in one cell of every marginal."""
        return len(self.workload.sets)

    def sensitivity(self, rows: int = 1, *, groups: int = 1) -> Sensitivity:
        """Return the sensitivity of all measurements together, of a person as for `Strategy.sensitivity`."""
        rows, groups = whole(rows, "rows", least=1), whole(groups, "groups", least=1)
        many = groups * len(self.workload.sets)
        return Sensitivity(
            l0=groups * self.measurements,
            l1=many * rows,
            squared_l2=many * rows**2,
            linf=rows,
            neighbors=ADD_REMOVE_PERSON,
            integers=True,
        )

    def parts(self) -> tuple[TablePart, ...]:
        """Return what is measured of each marginal."""
        shape = self.workload.shape
        return tuple(
            TablePart(chosen=chosen, shape=tuple(shape[place] for place in chosen))
            for chosen in self.workload.sets
        )

    def gathered(self, measured: Mapping[Set, NDArray[Any]]) -> NDArray[Any]:
        """Return the measurements of all marginals, in the order that `reconstruct` takes."""
        return np.concatenate([measured[chosen] for chosen in self.workload.sets])

    @property
    def largest_total(self) -> int:
        """How many rows a table may hold before anything is reflected: as many as cells may."""
        return LARGEST_CELL

    def measure(self, marginals: Mapping[Set, NDArray[Any]]) -> NDArray[np.int64]:
        """Return the counts of all marginals, one after the other."""
        return self.gathered({part.chosen: part.measure(marginals[part.chosen]) for part in self.parts()})

    def reconstruct(self, measured: NDArray[Any]) -> dict[Set, Vector]:
        """Return the least-squares estimate of each marginal; they agree on what they share."""
        ends = np.cumsum([part.size for part in self.parts()])[:-1]
        pieces = np.split(np.asarray(measured, np.float64), ends)
        interactions = dict.fromkeys(self._precisions, np.zeros(()))
        for part, piece in zip(self.parts(), pieces, strict=True):
            for subset in _subsets(part.chosen):
                own = _interaction(piece.reshape(part.shape), part.chosen, subset)
                share = self.workload.cells(subset) / (part.size * self._precisions[subset])
                interactions[subset] = interactions[subset] + share * own
        return {part.chosen: self._assembled(interactions, part) for part in self.parts()}

    def cell_variance(self, chosen: Set) -> float:
        """Return the variance of each cell of one marginal, for noise of variance 1."""
        first = np.zeros([self.workload.shape[place] for place in chosen])
        first[(0,) * len(chosen)] = 1.0
        return self.variance(chosen, first)

    def variance(self, chosen: Set, query: Vector) -> float:
        """Return the variance of a linear query of one marginal, for noise of variance 1.

        With q_S the query summed over the attributes outside S, and P q_S its part that sums to zero along
        every attribute of S: the sum over S of ||P q_S||^2 (|S| / |T|)^2 / (|S| sum of 1 / |T'|), T' the
        marginals that hold S.
        """
        table = np.asarray(query, np.float64)
        return sum(
            float(np.square(_interaction(table, chosen, subset)).sum())
            * (self.workload.cells(subset) / table.size) ** 2
            / self._precisions[subset]
            for subset in _subsets(chosen)
        )

    def trace(self) -> float:
        """Return the total variance over all cells: the number of free parameters of all interactions."""
        shape = self.workload.shape
        return float(sum(prod(shape[place] - 1 for place in subset) for subset in self._precisions))

    def _assembled(self, interactions: Mapping[Set, Vector], part: TablePart) -> Vector:
        table = np.zeros(part.shape)
        for subset in _subsets(part.chosen):
            kept = [
                size if place in subset else 1 for place, size in zip(part.chosen, part.shape, strict=True)
            ]
            table = table + interactions[subset].reshape(kept) * (self.workload.cells(subset) / part.size)
        return table


def _subsets(chosen: Sequence[int]) -> list[Set]:
    return [subset for size in range(len(chosen) + 1) for subset in combinations(chosen, size)]


def _interaction(table: Vector, chosen: Set, subset: Set) -> Vector:
    """Return a table summed to some attributes, less its means along each of them."""
    rest = table.sum(axis=tuple(axis for axis, place in enumerate(chosen) if place not in subset))
    for axis in range(len(subset)):
        rest = rest - rest.mean(axis=axis, keepdims=True)
    return np.asarray(rest)
