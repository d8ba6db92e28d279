"""Products of strategies: one strategy for each axis of a product domain."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.queries.products import Product, along_axes
from discreet.workloads.strategies.base import Strategy, check_domain
from discreet.workloads.strategies.fourier import Fourier
from discreet.workloads.strategies.square_root import SquareRoot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["Kronecker"]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Kronecker(Strategy):
    """A = A_1 ⊗ A_2 ⊗ …, applied axis by axis.

    Parameters
    ----------
    *factors : Strategy
        One for each axis. Products are taken modulo 2^64, which all but `SquareRoot` and `Fourier`
        allow at any axis: give those as the first factor, or round them to a `DenseStrategy`.

    Notes
    -----
    A column of A is a product of columns, and so are its norms. Where each factor is best for its
    factor of a `Product` of workloads under Gaussian noise, the product is best for the product.
    """

    factors: tuple[Strategy, ...]
    shape: tuple[int, ...]

    def __init__(self, *factors: Strategy) -> None:
        if not factors:
            raise ParameterError("factors", "is empty", "at least one strategy")
        if any(_takes_single_cells(factor) for factor in factors[1:]):
            raise ParameterError(
                "factors",
                "has a strategy behind the first that takes only single cells",
                "SquareRoot and Fourier as the first factor; all others at any place",
            )
        self._set(factors=factors, shape=tuple(size for factor in factors for size in factor.shape))

    @property
    def measurements(self) -> int:
        """The product of the factors' numbers."""
        return prod(factor.measurements for factor in self.factors)

    @property
    def column_norm1(self) -> int:
        """The product of the factors' norms."""
        return prod(factor.column_norm1 for factor in self.factors)

    @property
    def squared_column_norm2(self) -> int:
        """The product of the factors' squared norms."""
        return prod(factor.squared_column_norm2 for factor in self.factors)

    @property
    def largest_entry(self) -> int:
        """The product of the factors' largest entries."""
        return prod(factor.largest_entry for factor in self.factors)

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Multiply axis by axis, modulo 2^64."""
        return along_axes(
            cells, [factor.size for factor in self.factors], [factor.times for factor in self.factors]
        )

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Estimate axis by axis: the pseudo-inverse of a product is the product of pseudo-inverses."""
        sizes = [factor.measurements for factor in self.factors]
        values = np.asarray(measured, np.float64)
        return along_axes(values, sizes, [factor.reconstruct for factor in self.factors])

    def covariance_times(self, vectors: Vector) -> Vector:
        """Multiply by each factor's covariance along its axis."""
        sizes = [factor.size for factor in self.factors]
        return along_axes(
            np.asarray(vectors, np.float64), sizes, [factor.covariance_times for factor in self.factors]
        )

    def cell_variances(self) -> Vector:
        """The inverse of a product is the product of the inverses, and so are diagonals."""
        variances = np.ones(1)
        for factor in self.factors:
            variances = np.multiply.outer(variances, factor.cell_variances()).reshape(-1)
        return variances

    def trace(self, workload: Workload) -> float:
        """For a product of workloads over the same axes, the product of the factors' traces."""
        check_domain(self, workload)
        parts = self._parts_of(workload)
        if parts is None:
            return Strategy.trace(self, workload)
        return prod(own.trace(part) for own, part in zip(self.factors, parts, strict=True))

    def largest_variance(self, workload: Workload) -> float | None:
        """For a product of workloads over the same axes, the product of the factors' largest."""
        parts = self._parts_of(workload)
        if parts is None:
            return Strategy.largest_variance(self, workload)
        found = [own.largest_variance(part) for own, part in zip(self.factors, parts, strict=True)]
        known = [one for one in found if one is not None]
        return prod(known) if len(known) == len(found) else None

    def _parts_of(self, workload: Workload) -> tuple[Workload, ...] | None:
        """Return a workload's parts along the factors' axes, if it is a product of such."""
        if not isinstance(workload, Product):
            return None
        same = [part.shape for part in workload.factors] == [factor.shape for factor in self.factors]
        return workload.factors if same else None


def _takes_single_cells(factor: Strategy) -> bool:
    """Return whether a strategy, or one that is nested in it, takes cells up to 2^29 - 1 only."""
    if isinstance(factor, Kronecker):
        return any(_takes_single_cells(part) for part in factor.factors)
    return isinstance(factor, SquareRoot | Fourier)
