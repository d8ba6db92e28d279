"""What a strategy is: the integer matrix A that is measured, and how cells are estimated from it.

Instead of noisy answers W x, noisy measurements A x are released, for a matrix A of *integers*: a
public scale times a strategy that is good for the workload, rounded. Sensitivity is that of the
rounded matrix, and so is the estimate: with independent noise of variance v, the least-squares
estimate is unbiased and its covariance is v (A^T A)^-1, exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.workloads.exact import LARGEST_CELL, fold
from discreet.workloads.workload import LARGEST_DENSE, Vector, Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Strategy", "check_domain"]

_AT_ONCE = 512


class Strategy(ABC):
    """An integer matrix A of full column rank, applied without being built.

    Attributes
    ----------
    shape : tuple of int
        The domain.
    """

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells of the domain, n."""
        return prod(self.shape)

    @property
    @abstractmethod
    def measurements(self) -> int:
        """The number of rows of A, p."""

    @property
    @abstractmethod
    def column_norm1(self) -> int:
        """The largest sum of magnitudes in a column of A."""

    @property
    @abstractmethod
    def squared_column_norm2(self) -> int:
        """The largest sum of squares in a column of A."""

    @property
    @abstractmethod
    def largest_entry(self) -> int:
        """The largest magnitude in A."""

    @abstractmethod
    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return A x modulo 2^64, for integer vectors along the last axis."""

    @abstractmethod
    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Return the least-squares estimate (A^T A)^-1 A^T y of the cells, along the last axis."""

    @abstractmethod
    def covariance_times(self, vectors: Vector) -> Vector:
        """Return (A^T A)^-1 v for each vector v along the last axis."""

    def measure(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """Return A x for counts x, as 64-bit integers.

        Cells beyond 2^29 - 1 are clamped, and sums beyond 2^62 are reflected there. Neither moves
        neighbors further apart, so the sensitivity holds for all data, and nothing about the data
        is said aloud.
        """
        counts = np.asarray(x)
        if counts.dtype.kind not in "iu" or counts.size != self.size:
            raise ParameterError(
                "x", "is no array of as many integers as the domain has cells", f"{self.size} counts"
            )
        cells = np.clip(counts.reshape(self.size), -LARGEST_CELL, LARGEST_CELL).astype(np.int64)
        return fold(self.times(cells))

    def matrix(self) -> NDArray[np.int64]:
        """Return A as an array, for small domains."""
        _check_dense(self.size * self.measurements, self.size)
        return np.ascontiguousarray(self.times(np.eye(self.size, dtype=np.int64)).T)

    def sensitivity(
        self, rows: int = 1, *, groups: int = 1, neighbors: Neighbors = ADD_REMOVE_PERSON
    ) -> Sensitivity:
        """Return the sensitivity of A x, when one person has up to `rows` rows.

        Parameters
        ----------
        rows : int
            How many rows a person may add: k rows move A x by at most k times the largest column,
            and by exactly that where they share a cell.
        groups : int
            In how many groups, each with a table x of its own that A is applied to, a person may
            have so many rows. (Where the cells of one table are the groups, a person of g cells with
            r rows each has g r rows.)
        neighbors : Neighbors
            Adding or removing a person. (To replace one is to remove and to add: twice as far.)
        """
        rows, groups = whole(rows, "rows", least=1), whole(groups, "groups", least=1)
        return Sensitivity(
            l0=groups * self.measurements,
            l1=groups * rows * self.column_norm1,
            squared_l2=groups * rows**2 * self.squared_column_norm2,
            linf=rows * self.largest_entry,
            neighbors=neighbors,
            integers=True,
        )

    def trace(self, workload: Workload) -> float:
        """Return tr(W (A^T A)^-1 W^T): the answers' total variance, for noise of variance 1."""
        check_domain(self, workload)
        _check_dense(self.size**2, self.size)
        return float(np.trace(workload.gram_times(self.covariance_times(np.eye(self.size)))))

    def cell_variances(self) -> Vector:
        """Return the diagonal of (A^T A)^-1: variances of the estimates, for noise of variance 1."""
        _check_dense(self.size**2, self.size)
        blocks = []
        for first in range(0, self.size, _AT_ONCE):
            units = np.eye(min(_AT_ONCE, self.size - first), self.size, first)
            blocks.append((units * self.covariance_times(units)).sum(axis=1))
        return np.concatenate(blocks)

    def variance(self, query: Vector) -> float:
        """Return q^T (A^T A)^-1 q: the variance of one linear query's answer, for noise of variance 1."""
        return float(query @ self.covariance_times(query))


def check_domain(strategy: Strategy, workload: Workload) -> None:
    """Refuse a workload over another domain than the strategy's."""
    if strategy.size != workload.size:
        raise ParameterError(
            "strategy", "has another domain than the workload", f"a domain of {workload.size} cells"
        )


def _check_dense(entries: int, size: int) -> None:
    if entries > LARGEST_DENSE**2 * 2:
        raise ParameterError(
            "strategy",
            f"has a domain of {size} cells, for which this needs an array of {entries} numbers",
            f"at most {LARGEST_DENSE} cells, or a pair of strategy and workload with a closed form",
        )
