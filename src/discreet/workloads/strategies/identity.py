"""The identity strategy: every cell is measured once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.records import dataclass
from discreet.workloads.queries.cells import Identity
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["MeasureCells"]


@dataclass(frozen=True, slots=True, init=False)
class MeasureCells(Strategy):
    """A = I: noisy cells, from which all else is summed. Good for few cells, bad for wide ranges."""

    shape: tuple[int, ...]

    def __init__(self, shape: int | Sequence[int]) -> None:
        self._set(shape=Identity(shape).shape)

    @property
    def measurements(self) -> int:
        """One for each cell."""
        return self.size

    @property
    def column_norm1(self) -> int:
        """One person is in one cell."""
        return 1

    @property
    def squared_column_norm2(self) -> int:
        """One person is in one cell."""
        return 1

    @property
    def largest_entry(self) -> int:
        """One."""
        return 1

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells."""
        return cells.copy()

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Return the measurements."""
        return np.array(measured, dtype=np.float64)

    def covariance_times(self, vectors: Vector) -> Vector:
        """Return the vectors."""
        return np.array(vectors, dtype=np.float64)

    def trace(self, workload: Workload) -> float:
        """tr(G)."""
        check_domain(self, workload)
        return float(workload.gram_diagonal().sum())

    def cell_variances(self) -> Vector:
        """Return 1 for each cell."""
        return np.ones(self.size)
