"""Workloads made of others: Kronecker products over product domains, and weighted unions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational
from discreet.records import dataclass
from discreet.workloads.queries.base import Vector, Workload, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Product", "WeightedUnion", "along_axes"]


def along_axes(
    table: NDArray[Any], sizes: Sequence[int], maps: Sequence[Callable[[NDArray[Any]], NDArray[Any]]]
) -> NDArray[Any]:
    """Apply one map to each axis of a product, the last axes of an array; each map works on last axes."""
    lead = table.ndim - 1
    result = table.reshape(*table.shape[:-1], *sizes)
    for place, apply in enumerate(maps):
        axis = lead + place
        result = np.moveaxis(apply(np.ascontiguousarray(np.moveaxis(result, axis, -1))), -1, axis)
    return result.reshape(*result.shape[:lead], -1)


@dataclass(frozen=True, slots=True, init=False)
class Product(Workload):
    """All products of a query of each factor: W = W_1 ⊗ W_2 ⊗ … ⊗ W_d.

    Parameters
    ----------
    *factors : Workload
        One for each axis. `Product(AllRanges(64), AllRanges(32))` holds all rectangles of a map.
    """

    factors: tuple[Workload, ...]
    shape: tuple[int, ...]

    def __init__(self, *factors: Workload) -> None:
        if not factors:
            raise ParameterError("factors", "is empty", "at least one workload")
        self._set(factors=factors, shape=tuple(size for factor in factors for size in factor.shape))

    @property
    def queries(self) -> int:
        """Return the product of the factors' numbers of queries."""
        return prod(factor.queries for factor in self.factors)

    @property
    def _sizes(self) -> list[int]:
        return [factor.size for factor in self.factors]

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Answer axis by axis."""
        self.check_answers()
        maps = [_vectorized(factor.answer) for factor in self.factors]
        return along_axes(flat(x, self.size), self._sizes, maps)

    def gram_times(self, vectors: Vector) -> Vector:
        """Apply the Gram matrix of each factor along its axis."""
        maps = [factor.gram_times for factor in self.factors]
        return along_axes(np.asarray(vectors, dtype=np.float64), self._sizes, maps)

    def gram_diagonal(self) -> Vector:
        """Return the Kronecker product of the factors' diagonals."""
        return _kronecker([factor.gram_diagonal() for factor in self.factors])

    def root_diagonal(self) -> Vector:
        """(G_1 ⊗ G_2)^(1/2) = G_1^(1/2) ⊗ G_2^(1/2), and so are the diagonals."""
        return _kronecker([factor.root_diagonal() for factor in self.factors])

    def row(self, index: int) -> Vector:
        """Return the product of one query of each factor, the last factor's counted fastest."""
        rest, rows = self.check_index(index), []
        for factor in reversed(self.factors):
            rest, own = divmod(rest, factor.queries)
            rows.append(factor.row(own))
        return _kronecker(rows[::-1])


@dataclass(frozen=True, slots=True, init=False)
class WeightedUnion(Workload):
    """Several workloads over one domain, each query multiplied by its workload's weight.

    Parameters
    ----------
    parts : sequence of Workload
        Over the same domain.
    weights : sequence of number, optional
        Positive; by default 1 each. Errors count with the square of the weight.
    """

    parts: tuple[Workload, ...]
    weights: tuple[float, ...]
    shape: tuple[int, ...]

    def __init__(self, parts: Sequence[Workload], weights: Sequence[Number] | None = None) -> None:
        parts = tuple(parts)
        if not parts:
            raise ParameterError("parts", "is empty", "at least one workload")
        if len({part.size for part in parts}) > 1:
            raise ParameterError("parts", "have different domains", "workloads over the same cells")
        weights = [1] * len(parts) if weights is None else weights
        if len(weights) != len(parts):
            raise ParameterError("weights", "has another length than parts", f"{len(parts)} weights")
        exact = (rational(weight, "weights", positive=True) for weight in weights)
        self._set(parts=parts, weights=tuple(map(float, exact)), shape=parts[0].shape)

    @property
    def queries(self) -> int:
        """Return the number of queries of all parts."""
        return sum(part.queries for part in self.parts)

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the weighted answers of the parts, one part after the other."""
        self.check_answers()
        return np.concatenate(
            [weight * part.answer(x) for part, weight in zip(self.parts, self.weights, strict=True)]
        )

    def gram_times(self, vectors: Vector) -> Vector:
        """Add the parts' Gram matrices with their squared weights."""
        return self._sum(lambda part: part.gram_times(vectors))

    def gram_diagonal(self) -> Vector:
        """Add the parts' diagonals with their squared weights."""
        return self._sum(lambda part: part.gram_diagonal())

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """Return the largest of the parts', times their squared weights."""
        found = [part.largest_variance(covariance_times) for part in self.parts]
        known = [weight**2 * one for weight, one in zip(self.weights, found, strict=True) if one is not None]
        return max(known) if len(known) == len(found) else None

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Add the parts' traces with their squared weights."""
        return self._sum(lambda part: part.block_traces(widths))

    def diagonal_sums(self) -> Vector:
        """Add the parts' sums with their squared weights."""
        return self._sum(lambda part: part.diagonal_sums())

    def row(self, index: int) -> Vector:
        """Return one weighted query."""
        index = self.check_index(index)
        place = 0
        while index >= self.parts[place].queries:
            index -= self.parts[place].queries
            place += 1
        return self.weights[place] * self.parts[place].row(index)

    def _sum(self, value: Callable[[Workload], Vector]) -> Vector:
        total = np.zeros(1)
        for part, weight in zip(self.parts, self.weights, strict=True):
            total = total + weight**2 * value(part)
        return total


def _vectorized(answer: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda table: np.apply_along_axis(answer, -1, table)


def _kronecker(parts: Sequence[Vector]) -> Vector:
    result = parts[0]
    for part in parts[1:]:
        result = np.multiply.outer(result, part).reshape(-1)
    return result
