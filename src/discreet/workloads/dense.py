"""Strategies small enough to be held: any matrix of integers, and any real one that is rounded to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.workloads.exact import IntegerMatrix
from discreet.workloads.strategy import Strategy
from discreet.workloads.workload import LARGEST_DENSE, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DenseStrategy"]

LARGEST_COEFFICIENT = 1 << 24
_LEAST_CONDITION = 1e-12


@dataclass(frozen=True, slots=True, init=False, eq=False)
class DenseStrategy(Strategy):
    """A strategy that is given by its matrix of integers.

    Parameters
    ----------
    rows : array of int, of shape (p, n)
        The matrix A, of rank n.
    shape : sequence of int, optional
        The domain, if it is a product.
    name : str, optional
        What to call it.
    """

    shape: tuple[int, ...]
    name: str
    entries: NDArray[np.int64] = field(repr=False)
    _product: IntegerMatrix = field(repr=False)
    _covariance: Vector = field(repr=False)

    def __init__(
        self, rows: NDArray[Any], shape: Sequence[int] | None = None, *, name: str = "a matrix"
    ) -> None:
        entries = np.asarray(rows)
        if entries.ndim != 2 or 0 in entries.shape or entries.dtype.kind not in "iu":
            raise ParameterError("rows", "is no table of integers", "an array of shape (p, n) of integers")
        entries = entries.astype(np.int64)
        if np.abs(entries).max() > LARGEST_COEFFICIENT:
            raise ParameterError(
                "rows", "holds coefficients that are too large", "magnitudes of at most 2^24"
            )
        if entries.shape[1] > LARGEST_DENSE:
            raise ParameterError("rows", f"has {entries.shape[1]} columns", f"at most {LARGEST_DENSE}")
        gram = entries.T.astype(np.float64) @ entries.astype(np.float64)
        for name_of, value in {
            "shape": (entries.shape[1],) if shape is None else tuple(shape),
            "name": name,
            "entries": entries,
            "_product": IntegerMatrix.of(entries),
            "_covariance": _inverse(gram),
        }.items():
            object.__setattr__(self, name_of, value)

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
        return int((self.entries**2).sum(axis=0).max())

    @property
    def largest_entry(self) -> int:
        """The largest magnitude."""
        return int(np.abs(self.entries).max())

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Multiply exactly, by limbs."""
        return self._product.times(cells)

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Solve the normal equations."""
        return np.asarray((np.asarray(measured, dtype=np.float64) @ self._product.entries) @ self._covariance)

    def covariance_times(self, vectors: Vector) -> Vector:
        """Multiply by the inverse of A^T A."""
        return np.asarray(vectors @ self._covariance)


def _inverse(gram: Vector) -> Vector:
    """Invert A^T A, or refuse a strategy from which the cells cannot be told."""
    from scipy.linalg import cho_factor, cho_solve

    scale = np.sqrt(np.diagonal(gram))
    if scale.min() > 0:
        normalized = gram / scale / scale[:, None]
        try:
            factor = cho_factor(normalized)
        except np.linalg.LinAlgError:
            factor = None
        if factor is not None and np.abs(np.diagonal(factor[0])).min() ** 2 > _LEAST_CONDITION:
            inverse: Vector = cho_solve(factor, np.eye(len(gram))) / scale / scale[:, None]
            return (inverse + inverse.T) / 2
    raise ParameterError(
        "rows", "are singular: some cells cannot be told apart", "a matrix of full column rank"
    )
