"""What a strategy is: the integer matrix A that is measured, and how cells are estimated from it.

Instead of noisy answers W x, noisy measurements A x are released, for a matrix A of *integers*: a
public scale times a strategy that is good for the workload, rounded. Sensitivity is that of the
rounded matrix, and so is the estimate B y, with a matrix B for which B A = I: with independent
noise of variance v it is unbiased and its covariance is v B B^T, exactly. B is least squares, (A^T
A)^-1 A^T, for all strategies but a `SquareRoot` of more than 8192 cells, whose least squares is
that of a slightly longer domain, with cells at its end that are always empty.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record
from discreet.workloads.algebra.modular import LARGEST_SUM, clamped_counts, fold_wrapped
from discreet.workloads.queries.base import LARGEST_DENSE, Vector, Workload, about
from discreet.workloads.queries.cells import Identity

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Strategy", "check_domain"]

_AT_ONCE = 512


class Strategy(Record, ABC):
    """An integer matrix A of full column rank, applied without being built.

    Attributes
    ----------
    shape : tuple of int
        The domain.
    """

    __slots__ = ()

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
        """The largest magnitude in A, or a bound on it."""

    @property
    def largest_total(self) -> int:
        """How many rows a table may hold, at least, so that no measurement of it is reflected.

        2^62 divided by the largest entry. (Each cell is besides clamped to 2^29 - 1 rows.)
        """
        return LARGEST_SUM // self.largest_entry

    @abstractmethod
    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return A x modulo 2^64, for integer vectors along the last axis."""

    @abstractmethod
    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Return the estimate B y of the cells, for measurements y along the last axis."""

    @abstractmethod
    def covariance_times(self, vectors: Vector) -> Vector:
        """Return B B^T v, which for least squares is (A^T A)^-1 v, for each vector v along the last axis."""

    def measure(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """Return A x for counts x, as 64-bit integers.

        Cells beyond 2^29 - 1 are clamped, and sums beyond 2^62 are reflected there. Neither moves
        neighbors further apart, so the sensitivity holds for all data, and nothing about the data
        is said aloud. A table of at most `largest_total` rows is measured as it is, if no cell has
        more than 2^29 - 1 of them; of any other, estimates may be biased.
        """
        return fold_wrapped(self.times(clamped_counts(x, self.size).reshape(self.size)))

    def matrix(self) -> NDArray[np.int64]:
        """Return A as an array, for small domains."""
        _check_dense(self.size * self.measurements, self.size)
        return np.ascontiguousarray(self.times(np.eye(self.size, dtype=np.int64)).T)

    def sensitivity(self, rows: int = 1, *, groups: int = 1) -> Sensitivity:
        """Return the sensitivity of A x to adding or removing a person who has up to `rows` rows.

        Parameters
        ----------
        rows : int
            How many rows a person may add: k rows move A x by at most k times the largest column,
            and by exactly that where they share a cell.
        groups : int
            In how many groups, each with a table x of its own that A is applied to, a person may
            have this many rows. (Where the cells of one table are the groups, a person of g cells with
            r rows each has g r rows.)
        """
        rows, groups = whole(rows, "rows", least=1), whole(groups, "groups", least=1)
        return Sensitivity(
            l0=groups * self.measurements,
            l1=groups * rows * self.column_norm1,
            squared_l2=groups * rows**2 * self.squared_column_norm2,
            linf=rows * self.largest_entry,
            integers=True,
        )

    def trace(self, workload: Workload) -> float:
        """Return tr(W B B^T W^T): the answers' total variance, for noise of variance 1."""
        check_domain(self, workload)
        _check_dense(self.size**2, self.size)
        return float(np.trace(workload.gram_times(self.covariance_times(np.eye(self.size)))))

    def largest_variance(self, workload: Workload) -> float | None:
        """Return the largest variance of an answer, for noise of variance 1; None if there are too many."""
        check_domain(self, workload)
        if not isinstance(workload, Identity):
            return workload.largest_variance(self.covariance_times)
        with suppress(ParameterError):
            return float(self.cell_variances().max())
        return None

    def cell_variances(self) -> Vector:
        """Return the diagonal of B B^T: variances of the estimates, for noise of variance 1."""
        _check_dense(self.size**2, self.size)
        blocks = []
        for first in range(0, self.size, _AT_ONCE):
            units = np.eye(min(_AT_ONCE, self.size - first), self.size, first)
            blocks.append((units * self.covariance_times(units)).sum(axis=1))
        return np.concatenate(blocks)

    def variance(self, query: Vector) -> float:
        """Return ||B^T q||^2: the variance of one linear query's answer, for noise of variance 1."""
        return float(query @ self.covariance_times(query))


def check_domain(strategy: Strategy, workload: Workload) -> None:
    """Refuse a workload over another domain than the strategy's."""
    if strategy.size != workload.size:
        raise ParameterError(
            "strategy", "has another domain than the workload", f"a domain of {about(workload.size)} cells"
        )


def _check_dense(entries: int, size: int) -> None:
    if entries > LARGEST_DENSE**2 * 2:
        raise ParameterError(
            "strategy",
            f"has a domain of {about(size)} cells, for which this needs an array of {about(entries)} numbers",
            f"at most {LARGEST_DENSE} cells, or a pair of strategy and workload with a closed form",
        )
