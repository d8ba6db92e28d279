"""Asking few queries almost directly: the queries with a large weight, and every cell once.

A = [B; c I] with the integer matrix B close to k W. The cells add c to the norm of each column, which a
large k makes negligible, and give A full rank. Where B is k W, c = 1. Where k W is rounded by up to
1/2, the n rests cost about n / (12 c^2) of a query's variance, and c balances both. With B = U diag(g) V^T,
directions that B does not see left out,

    (A^T A)^-1 = (I - V V^T) / c^2 + V diag(1 / (c^2 + g^2)) V^T,

so nothing larger than m x n is held, and nothing cancels however much the queries depend on each other.
Answers to the queries themselves have about the variance of noise in proportion to W's own sensitivity.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.algebra.modular import IntegerMatrix
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["WeightedQueries", "holds_few_queries"]

MOST_QUERIES = 1024
MOST_COEFFICIENTS = 1 << 22
_UNSEEN = 1e-10


def holds_few_queries(workload: Workload) -> bool:
    """Return whether a workload has no more queries than cells, and few enough to be written down."""
    return (
        workload.queries <= min(MOST_QUERIES, workload.size)
        and workload.queries * workload.size <= MOST_COEFFICIENTS
    )


@dataclass(frozen=True, slots=True, init=False, eq=False)
class WeightedQueries(Strategy):
    """The queries of a workload, weighted, and all cells.

    Parameters
    ----------
    workload : Workload
        At most 1024 queries, no more than cells.
    norm : int
        1 or 2: which norm of columns the weight is chosen for.
    bits : int
        The largest column norm of B is about 2^bits, 1 to 20.
    """

    shape: tuple[int, ...]
    cell_weight: int
    entries: NDArray[np.int64] = field(repr=False)
    _product: IntegerMatrix = field(repr=False)
    _left: Vector = field(repr=False)
    _sizes: Vector = field(repr=False)
    _right: Vector = field(repr=False)

    def __init__(self, workload: Workload, norm: int = 2, bits: int = 16) -> None:
        bits = whole(bits, "bits", least=1, most=20)
        if not holds_few_queries(workload):
            raise ParameterError("workload", "has too many queries", "at most 1024, no more than cells")
        entries, cell_weight = _weighted(workload.matrix(), norm, bits)
        left, sizes, right = np.linalg.svd(entries.astype(np.float64), full_matrices=False)
        seen = sizes > sizes[0] * _UNSEEN
        self._set(
            shape=workload.shape,
            cell_weight=cell_weight,
            entries=entries,
            _product=IntegerMatrix.of(entries),
            _left=left[:, seen],
            _sizes=sizes[seen],
            _right=right[seen],
        )

    @property
    def measurements(self) -> int:
        """The queries and the cells."""
        return len(self.entries) + self.size

    @property
    def column_norm1(self) -> int:
        """The queries' largest, and the weight of the cell."""
        return int(np.abs(self.entries).sum(axis=0).max()) + self.cell_weight

    @property
    def squared_column_norm2(self) -> int:
        """The queries' largest, and the squared weight of the cell."""
        return int((self.entries**2).sum(axis=0).max()) + self.cell_weight**2

    @property
    def largest_entry(self) -> int:
        """The largest weighted coefficient."""
        return max(self.cell_weight, int(np.abs(self.entries).max()))

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Multiply exactly, by limbs, and append the weighted cells."""
        return np.concatenate([self._product.times(cells), cells * np.int64(self.cell_weight)], axis=-1)

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Average what queries y and cells z say in each direction: (g U^T y + c^2 V^T z) / (c^2 + g^2)."""
        values = np.asarray(measured, np.float64)
        queries = values[..., : len(self.entries)]
        cells = values[..., len(self.entries) :] / self.cell_weight
        own, squared = cells @ self._right.T, float(self.cell_weight) ** 2
        both = (self._sizes * (queries @ self._left) + squared * own) / (squared + self._sizes**2)
        return np.asarray(cells + (both - own) @ self._right)

    def covariance_times(self, vectors: Vector) -> Vector:
        """Divide what queries see of a vector by c^2 + g^2, and the rest by c^2."""
        values, squared = np.asarray(vectors, np.float64), float(self.cell_weight) ** 2
        own = values @ self._right.T
        rest = values - own @ self._right
        rest = rest - (rest @ self._right.T) @ self._right  # once more, for what rounding left
        return np.asarray(rest / squared + (own / (squared + self._sizes**2)) @ self._right)

    def trace(self, workload: Workload) -> float:
        """Sum the variances of the queries, where they are few."""
        check_domain(self, workload)
        if not holds_few_queries(workload):
            return Strategy.trace(self, workload)
        rows = workload.matrix()
        return float((rows * self.covariance_times(rows)).sum())


def _weighted(rows: Vector, norm: int, bits: int) -> tuple[NDArray[np.int64], int]:
    """Return B, with columns of norm about 2^bits, and the weight of cells."""
    largest = float((np.abs(rows) ** norm).sum(axis=0).max() ** (1 / norm))
    if not 0 < largest < np.inf:
        raise ParameterError("workload", "has no usable coefficients", "finite ones that are not all 0")
    scale = 2.0**bits / largest
    if scale >= 1 and np.array_equal(rows, np.rint(rows)):
        return np.asarray(rows * int(scale), np.int64), 1
    scaled = rows * scale
    entries = np.rint(scaled)
    rest = float(np.square(scaled - entries).sum(axis=1).max())
    cell_weight = max(1, round((rest * 2.0 ** (norm * bits)) ** (1 / (norm + 2))))
    return entries.astype(np.int64), cell_weight
