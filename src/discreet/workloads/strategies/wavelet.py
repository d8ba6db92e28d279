"""The Haar wavelet: the total, and at each level the difference of the two halves of a block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.queries.base import checked_size
from discreet.workloads.strategies.blocks import (
    LevelStrategy,
    block_sums,
    checked_weights,
    level_traces,
    widths_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["Wavelet"]

_FINEST = 1 << 12


@dataclass(frozen=True, slots=True, init=False)
class Wavelet(LevelStrategy):
    """Haar's wavelet over an ordered domain (Privelet: Xiao, Wang & Gehrke 2011).

    If the domain is not a power of two, the last blocks are cut: their rows are shorter, and more than cells.

    Parameters
    ----------
    size : int
        The number of cells.
    weights : sequence of int, optional
        The weight of each level: the differences of neighboring cells first, the total last; by default 1.

    Examples
    --------
    >>> Wavelet(4).matrix()
    array([[ 1, -1,  0,  0],
           [ 0,  0,  1, -1],
           [ 1,  1, -1, -1],
           [ 1,  1,  1,  1]])
    """

    shape: tuple[int, ...]
    widths: tuple[int, ...]
    weights: tuple[int, ...]

    def __init__(self, size: int, weights: Sequence[int] | None = None) -> None:
        shape, widths = (checked_size(size),), widths_of(size, 2)
        self._set(shape=shape, widths=widths, weights=checked_weights(weights, len(widths)))
        if min(self.weights) == 0:
            raise ParameterError(
                "weights", "leave a level unmeasured, so cells cannot be told apart", "integers of at least 1"
            )

    @classmethod
    def best(cls, workload: Workload, norm: int = 2) -> Wavelet:
        """Return the wavelet with the best weights for noise in proportion to the L1 or the L2 norm.

        The total variance is sum of a_l / weight_l^2 at the sensitivity (sum of weight_l^norm)^(1 /
        norm), so that weight_l proportional to a_l^(1 / (norm + 2)) is best; then rounded to
        integers.
        """
        size = workload.size
        plain = cls(size)
        shares = level_traces(workload, plain.widths) / np.array(plain.supports, np.float64)
        ideal = np.maximum(shares, shares.max() * 1e-12) ** (1 / (norm + 2))
        return cls(size, [max(1, round(weight)) for weight in ideal / ideal.max() * _FINEST])

    @property
    def measurements(self) -> int:
        """The number of blocks of two halves that have cells in the domain, and one for the total."""
        return sum(self.blocks(width) for width in self.supports)

    @property
    def supports(self) -> tuple[int, ...]:
        """How many cells a row of each level has, where its block is not cut."""
        return (*self.widths[1:], self.widths[-1])

    @property
    def coefficients(self) -> tuple[int, ...]:
        """As (s - t)^2 = 2 s^2 + 2 t^2 - (s + t)^2 for halves s and t, a block counts twice as a half."""
        squares = [weight**2 for weight in self.weights]
        halves = [2 * square for square in squares[:-1]] + squares[-1:]
        return tuple(half - below for half, below in zip(halves, [0, *squares[:-1]], strict=True))

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return weighted differences of halves, from neighbors up, and the weighted total."""
        sums, parts = cells, []
        for weight in self.weights[:-1]:
            sums = np.asarray(self.pad(sums, 2), np.int64)
            parts.append((sums[..., ::2] - sums[..., 1::2]) * np.int64(weight))
            sums = block_sums(sums, 2)
        return np.concatenate([*parts, sums * np.int64(self.weights[-1])], axis=-1)

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Invert the transform: rows are orthogonal, so each coefficient is divided by its own norm.

        Rows of cut blocks are not: there, solve from A^T y.
        """
        values = np.asarray(measured, np.float64)
        if self.size < self.padded:
            right = self._transposed(values) / float(self.coefficients[0])
            return self.solve(right, [None] * (len(self.widths) - 1))
        means = values[..., -1:] / (float(self.weights[-1]) * self.padded)
        end = self.padded - 1
        for level in range(len(self.widths) - 2, -1, -1):
            count = self.padded // self.widths[level + 1]
            half = values[..., end - count : end] / (float(self.weights[level]) * self.widths[level + 1])
            means = np.stack([means + half, means - half], axis=-1).reshape(*means.shape[:-1], -1)
            end -= count
        return means

    def _transposed(self, values: Vector) -> Vector:
        """Return A^T y."""
        end = self.measurements - 1
        right = values[..., end:] * float(self.weights[-1])
        for level in range(len(self.widths) - 2, -1, -1):
            count = self.blocks(self.widths[level + 1])
            half = values[..., end - count : end] * float(self.weights[level])
            both = np.stack([right + half, right - half], axis=-1).reshape(*right.shape[:-1], -1)
            right = both[..., : self.blocks(self.widths[level])]
            end -= count
        return right
