"""Strategies small enough to be held: any matrix of integers, and any real one that is rounded to them."""

from __future__ import annotations

from dataclasses import field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.algebra.modular import IntegerMatrix
from discreet.workloads.queries.base import LARGEST_DENSE, Vector, Workload, checked_shape
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DenseStrategy"]

LARGEST_COEFFICIENT = 1 << 24
LEAST_CONDITION = 1e-9
"""Least reciprocal condition number: rounding, at 2^-53, then moves estimates and variances by a part in a
million at most, with a factor of ten to spare."""
_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True, init=False, eq=False)
class DenseStrategy(Strategy):
    """A strategy that is given by its matrix of integers.

    Parameters
    ----------
    rows : array of int, of shape (p, n)
        The matrix A, of rank n. Once its columns are scaled to norm 1, its condition number must not
        exceed 10^9: beyond, rounding would be seen in the estimates.
    shape : sequence of int, optional
        The domain, if it is a product.
    name : str, optional
        What to call it.

    Notes
    -----
    With A = Q R D (D the norms of the columns, Q with orthonormal columns, R triangular) the estimate is D^-1
    R^-1 Q^T y and a query's variance is ||R^-T D^-1 q||^2. The inverse of A^T A, whose condition number
    is squared, is never formed.
    """

    shape: tuple[int, ...]
    name: str
    entries: NDArray[np.int64] = field(repr=False)
    _product: IntegerMatrix = field(repr=False)
    _norms: Vector = field(repr=False)
    _orthonormal: Vector = field(repr=False)
    _triangle: Vector = field(repr=False)

    def __init__(
        self, rows: NDArray[Any], shape: Sequence[int] | None = None, *, name: str = "a matrix"
    ) -> None:
        entries = np.asarray(rows)
        if entries.ndim != 2 or 0 in entries.shape or entries.dtype.kind not in "iu":
            raise ParameterError("rows", "is not a table of integers", "an array of shape (p, n) of integers")
        if max(int(entries.max()), -int(entries.min())) > LARGEST_COEFFICIENT:
            raise ParameterError(
                "rows", "holds coefficients that are too large", "magnitudes of at most 2^24"
            )
        entries = entries.astype(np.int64)
        if entries.shape[1] > LARGEST_DENSE:
            raise ParameterError("rows", f"has {entries.shape[1]} columns", f"at most {LARGEST_DENSE}")
        domain = (entries.shape[1],) if shape is None else checked_shape(shape)
        if prod(domain) != entries.shape[1]:
            raise ParameterError(
                "shape", "has another number of cells than the rows", f"{entries.shape[1]} cells"
            )
        product = IntegerMatrix.of(entries)
        norms, orthonormal, triangle = _factors(product.entries)
        self._set(
            shape=domain,
            name=name,
            entries=entries,
            _product=product,
            _norms=norms,
            _orthonormal=orthonormal,
            _triangle=triangle,
        )

    @classmethod
    def rounded(
        cls, rows: Vector, bits: int, shape: Sequence[int] | None = None, *, name: str = "a matrix"
    ) -> DenseStrategy:
        """Round a real matrix, whose largest column norm becomes about 2^bits, to integers."""
        bits = whole(bits, "bits", least=1, most=23)
        norm = float(np.sqrt((np.asarray(rows) ** 2).sum(axis=0).max()))
        return cls(np.rint(np.asarray(rows) * (2.0**bits / norm)).astype(np.int64), shape, name=name)

    @property
    def measurements(self) -> int:
        """The number of rows."""
        return int(self.entries.shape[0])

    @property
    def column_norm1(self) -> int:
        """The largest sum of magnitudes in a column."""
        return int(np.abs(self.entries).sum(axis=0).max())

    @property
    def squared_column_norm2(self) -> int:
        """The largest sum of squares in a column."""
        starts = range(0, self.measurements, _ROWS_AT_ONCE)
        parts = [(self.entries[first : first + _ROWS_AT_ONCE] ** 2).sum(axis=0) for first in starts]
        return max(sum(int(part) for part in column) for column in zip(*parts, strict=True))

    @property
    def largest_entry(self) -> int:
        """The largest magnitude."""
        return int(np.abs(self.entries).max())

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Multiply exactly, by limbs."""
        return self._product.times(cells)

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Project on the columns and solve the triangle."""
        return self._solved(np.asarray(measured, np.float64) @ self._orthonormal) / self._norms

    def covariance_times(self, vectors: Vector) -> Vector:
        """Solve the transposed triangle, and the triangle."""
        return self._solved(self._half(vectors)) / self._norms

    def variance(self, query: Vector) -> float:
        """Return the squared norm of the query behind the transposed triangle."""
        half = self._half(query)
        return float(half @ half)

    def trace(self, workload: Workload) -> float:
        """Sum r^T G r over the columns r of D^-1 R^-1: no term is below zero, so that nothing cancels."""
        check_domain(self, workload)
        columns = self._solved(np.eye(self.size)) / self._norms
        return float((columns * workload.gram_times(columns)).sum())

    def _half(self, vectors: Vector) -> Vector:
        """Return R^-T D^-1 v for each vector along the last axis."""
        return self._solved(np.asarray(vectors, np.float64) / self._norms, transposed=True)

    def _solved(self, vectors: Vector, *, transposed: bool = False) -> Vector:
        from scipy.linalg import solve_triangular

        flat = vectors.reshape(-1, self.size)
        solved = solve_triangular(self._triangle, flat.T, trans=1 if transposed else 0)
        return np.ascontiguousarray(solved.T).reshape(vectors.shape)


def _factors(matrix: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the norms of the columns, and Q and R for the columns of norm 1.

    A strategy from which some cells cannot be told is refused, and one where they can but rounding would be
    seen: the condition is LAPACK's estimate in the 1-norm, which for columns of norm 1 is at least 1/n
    of that of the singular values.
    """
    from scipy.linalg import qr
    from scipy.linalg.lapack import dtrcon

    rows, columns = matrix.shape
    norms = np.sqrt(np.square(matrix).sum(axis=0))
    if rows >= columns and norms.min() > 0:
        orthonormal, triangle = qr(matrix / norms, mode="economic")
        if dtrcon(triangle)[0] > LEAST_CONDITION:
            return norms, orthonormal, triangle
    raise ParameterError(
        "rows",
        "are singular, or nearly: some cells cannot be told apart",
        "a matrix of full column rank, whose condition number is at most 10^9",
    )
