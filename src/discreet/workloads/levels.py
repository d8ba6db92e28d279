"""Nested blocks: the algebra that trees and wavelets share.

Let w_0 = 1 | w_1 | … | w_k be block widths, P_l the averaging over blocks of width w_l, and Q_l =
P_l - P_(l+1), with P_(k+1) = 0. The Q_l are orthogonal projections that add up to the identity. A
strategy with A^T A = sum of mu_l Q_l is inverted level by level in O(n), and its total variance is
the sum over l of tr(G Q_l) / mu_l.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.workloads.strategy import Strategy, check_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.workloads.workload import Vector, Workload

__all__ = ["LARGEST_WEIGHT", "LevelStrategy", "block_sums", "checked_weights", "level_traces", "widths_of"]

LARGEST_WEIGHT = 1 << 24


def widths_of(size: int, branching: int | Sequence[int]) -> tuple[int, ...]:
    """Return the widths of blocks, from single cells to one block that holds the domain.

    Parameters
    ----------
    size : int
        The number of cells.
    branching : int or sequence of int
        How many blocks make the next one, the same at each level; or, from the leaves to the root, for each
        level. The last block may reach past the end of the domain.
    """
    widths = [1]
    if isinstance(branching, int | np.integer):
        factor = whole(branching, "branching", least=2)
        while widths[-1] < size:
            widths.append(widths[-1] * factor)
        return tuple(widths)
    for step in branching:
        widths.append(widths[-1] * whole(step, "branching", least=2))
    if widths[-1] < size or (len(widths) > 1 and widths[-2] >= size):
        raise ParameterError(
            "branching", "does not lead to one block of the domain", f"a product of at least {size}"
        )
    return tuple(widths)


def checked_weights(weights: Sequence[int] | None, levels: int) -> tuple[int, ...]:
    """Check the integer weights of levels, from the cells to the whole."""
    if weights is None:
        return (1,) * levels
    if len(weights) != levels:
        raise ParameterError("weights", "has another length than there are levels", f"{levels} integers")
    return tuple(whole(weight, "weights", least=0, most=LARGEST_WEIGHT) for weight in weights)


def block_sums(cells: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Sum neighbors along the last axis, whose length is a multiple of the width."""
    sums: NDArray[np.int64] = cells.reshape(*cells.shape[:-1], -1, width).sum(axis=-1)
    return sums


def level_traces(workload: Workload, widths: Sequence[int]) -> Vector:
    """Return tr(G Q_l) for each level, from the cells to the whole."""
    traces = workload.block_traces(widths)
    return np.asarray(np.maximum(traces - np.append(traces[1:], 0.0), 0.0))


class LevelStrategy(Strategy):
    """A strategy with A^T A = sum of mu_l Q_l over nested blocks."""

    widths: tuple[int, ...]

    @property
    @abstractmethod
    def eigenvalues(self) -> Vector:
        """mu_l, from the cells to the whole."""

    @property
    def padded(self) -> int:
        """The number of cells with those past the end of the domain, which are empty."""
        return self.widths[-1]

    def solve(self, right: Vector) -> Vector:
        """Return (A^T A)^-1 r on the padded domain, level by level."""
        inverse = 1 / self.eigenvalues
        means, result = right, right * inverse[0]
        for level in range(1, len(self.widths)):
            means = means.reshape(*means.shape[:-1], -1, self.widths[level] // self.widths[level - 1]).mean(
                axis=-1
            )
            result += np.repeat(means, self.widths[level], axis=-1) * (inverse[level] - inverse[level - 1])
        return np.asarray(result)

    def pad(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Append empty cells along the last axis."""
        extra = [(0, 0)] * (vectors.ndim - 1) + [(0, self.padded - self.size)]
        return np.pad(vectors, extra)

    def covariance_times(self, vectors: Vector) -> Vector:
        """Solve on the padded domain and forget the cells past the end."""
        return self.solve(np.asarray(self.pad(np.asarray(vectors, dtype=np.float64)), np.float64))[
            ..., : self.size
        ]

    def trace(self, workload: Workload) -> float:
        """Sum tr(G Q_l) / mu_l."""
        check_domain(self, workload)
        return float((level_traces(workload, self.widths) / self.eigenvalues).sum())
