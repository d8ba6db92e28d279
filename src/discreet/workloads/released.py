"""Estimated cells: from one release, any linear query over the domain, each with its error."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.error.intervals import LinearAnswer
from discreet.workloads.queries.ranges import checked_range
from discreet.workloads.strategies.base import check_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.mechanisms import Gaussian, Laplace
    from discreet.workloads.queries.base import Vector, Workload
    from discreet.workloads.strategies.base import Strategy

__all__ = ["ReleasedCells"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedCells:
    """What was released, as an estimate of every cell. All that follows is free.

    Unbiased for every table of at most `strategy.largest_total` rows with at most 2^29 - 1 in a cell:
    larger ones are measured as smaller ones (`Strategy.measure`).

    Attributes
    ----------
    cells : array
        The estimate of the data vector, in the shape of the domain. Entries are real and may be negative.
    strategy : Strategy
        What was measured.
    mechanism : Laplace or Gaussian
        With which noise.
    measured : array of int
        The noisy measurements.
    """

    cells: Vector = field(repr=False)
    strategy: Strategy
    mechanism: Laplace | Gaussian
    measured: NDArray[np.int64] = field(repr=False)

    def query(self, coefficients: NDArray[Any]) -> LinearAnswer:
        """Answer any linear query, given by its coefficients."""
        row = np.asarray(coefficients, np.float64).reshape(-1)
        if row.size != self.strategy.size or not np.isfinite(row).all():
            raise ParameterError(
                "coefficients", "is not a query of the domain", f"{self.strategy.size} finite numbers"
            )
        factor = max(0.0, self.strategy.variance(row))
        return LinearAnswer(
            value=float(row @ self.cells.reshape(-1)),
            variance=factor * self.mechanism.error.variance,
            mechanism=self.mechanism,
            factor=factor,
        )

    def range(self, first: int | Sequence[int], last: int | Sequence[int]) -> LinearAnswer:
        """Answer the sum from the first to the last cell, both included: corners of a box, in a product."""
        return self.query(self._box(_corner(first), _corner(last)))

    def prefix(self, last: int) -> LinearAnswer:
        """Answer the sum of all cells up to the last one, included."""
        return self.range(0, last)

    def cell(self, index: int | Sequence[int]) -> LinearAnswer:
        """Answer one cell."""
        return self.range(index, index)

    def total(self) -> LinearAnswer:
        """Answer the number of all."""
        return self.query(np.ones(self.strategy.size))

    def answers(self, workload: Workload) -> NDArray[Any]:
        """Return the answers of a whole workload."""
        check_domain(self.strategy, workload)
        return workload.answer(self.cells)

    def _box(self, first: tuple[int, ...], last: tuple[int, ...]) -> Vector:
        shape = self.strategy.shape
        if len(first) != len(shape) or len(last) != len(shape):
            raise ParameterError(
                "first", "has another number of places than the domain has axes", f"{len(shape)}"
            )
        row = np.zeros(shape)
        bounds = [checked_range(low, high, size) for low, high, size in zip(first, last, shape, strict=True)]
        row[tuple(slice(low, high + 1) for low, high in bounds)] = 1.0
        return row


def _corner(place: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(place, int | np.integer):
        return (int(place),)
    return tuple(whole(number, "first", least=0) for number in place)
