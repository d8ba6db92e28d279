"""Workloads without structure in the domain: every cell, their total, and any matrix."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.queries.base import Vector, Workload, checked_shape, checked_size, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Identity", "Matrix", "Total"]


@dataclass(frozen=True, slots=True, init=False)
class Identity(Workload):
    """Every cell: W = I.

    Parameters
    ----------
    shape : int or sequence of int
        The number of cells, or the shape of a product domain.
    """

    shape: tuple[int, ...]

    def __init__(self, shape: int | Sequence[int]) -> None:
        self._set(shape=_domain(shape))

    @property
    def queries(self) -> int:
        """One for each cell."""
        return self.size

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the cells themselves."""
        return flat(x, self.size).copy()

    def gram_times(self, vectors: Vector) -> Vector:
        """Return the vectors: G = I."""
        return np.array(vectors, dtype=np.float64)

    def gram_diagonal(self) -> Vector:
        """Return ones."""
        return np.ones(self.size)

    def row(self, index: int) -> Vector:
        """Return a unit vector."""
        return _unit(self.size, self.check_index(index))

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Each block of w cells adds (number of its cells in the domain) / w."""
        return np.array([self.size / width for width in widths])

    def diagonal_sums(self) -> Vector:
        """Only the main diagonal has entries."""
        return self.size * _unit(self.size, 0)

    def root_diagonal(self) -> Vector:
        """G^(1/2) = I."""
        return np.ones(self.size)


@dataclass(frozen=True, slots=True, init=False)
class Total(Workload):
    """The number of all: W = (1, …, 1).

    Parameters
    ----------
    shape : int or sequence of int
        The number of cells, or the shape of a product domain.
    """

    shape: tuple[int, ...]

    def __init__(self, shape: int | Sequence[int]) -> None:
        self._set(shape=_domain(shape))

    @property
    def queries(self) -> int:
        """One."""
        return 1

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the cells, as an array of one."""
        return np.asarray(flat(x, self.size).sum(keepdims=True))

    def gram_times(self, vectors: Vector) -> Vector:
        """G is all ones."""
        totals = np.asarray(vectors, dtype=np.float64).sum(axis=-1, keepdims=True)
        return np.repeat(totals, self.size, axis=-1)

    def gram_diagonal(self) -> Vector:
        """Return ones."""
        return np.ones(self.size)

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """Return the variance of the only query."""
        total = np.ones(self.size)
        return float(total @ covariance_times(total))

    def row(self, index: int) -> Vector:
        """Return ones."""
        self.check_index(index)
        return np.ones(self.size)

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Each block of w cells adds (number of its cells in the domain)^2 / w."""
        traces = []
        for width in widths:
            full, rest = divmod(self.size, width)
            traces.append((full * width**2 + rest**2) / width)
        return np.array(traces)

    def diagonal_sums(self) -> Vector:
        """Return n along each diagonal."""
        return np.full(self.size, float(self.size))

    def root_diagonal(self) -> Vector:
        """G = n u u^T with the unit vector u, so each entry of G^(1/2) is 1 / sqrt(n)."""
        return np.full(self.size, self.size**-0.5)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Matrix(Workload):
    """Any linear queries, one for each row of an array.

    Parameters
    ----------
    rows : array of shape (m, n)
        Finite coefficients.
    shape : sequence of int, optional
        The domain, if it is a product; its size is n.
    """

    shape: tuple[int, ...]
    coefficients: Vector = field(repr=False)

    def __init__(self, rows: NDArray[Any], shape: Sequence[int] | None = None) -> None:
        array = np.array(rows, dtype=np.float64)
        if array.ndim != 2 or 0 in array.shape:
            raise ParameterError(
                "rows", "is not a table of coefficients", "an array of at least one row and column"
            )
        if not np.isfinite(array).all():
            raise ParameterError("rows", "holds coefficients that are not finite", "finite numbers")
        domain = (array.shape[1],) if shape is None else checked_shape(shape)
        self._set(shape=domain, coefficients=array)
        if self.size != array.shape[1]:
            raise ParameterError(
                "shape", "has another number of cells than the rows", f"{array.shape[1]} cells"
            )

    @property
    def queries(self) -> int:
        """One for each row."""
        return int(self.coefficients.shape[0])

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return W x."""
        return np.asarray(self.coefficients @ flat(x, self.size))

    def gram_times(self, vectors: Vector) -> Vector:
        """Apply W, then its transpose."""
        return np.asarray((vectors @ self.coefficients.T) @ self.coefficients)

    def gram_diagonal(self) -> Vector:
        """Return the squared norms of the columns."""
        return np.asarray((self.coefficients**2).sum(axis=0))

    def row(self, index: int) -> Vector:
        """Return one row."""
        return np.array(self.coefficients[self.check_index(index)])

    def matrix(self) -> Vector:
        """Return W."""
        return self.coefficients.copy()


def _domain(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (checked_size(shape, "shape"),) if isinstance(shape, int | np.integer) else checked_shape(shape)


def _unit(size: int, index: int) -> Vector:
    vector = np.zeros(size)
    vector[index] = 1.0
    return vector
