"""The hierarchy: counts of nested blocks, level by level, each level with its weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.queries.base import checked_size
from discreet.workloads.strategies.blocks import LevelStrategy, block_sums, checked_weights, widths_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector

__all__ = ["Hierarchy"]


@dataclass(frozen=True, slots=True, init=False)
class Hierarchy(LevelStrategy):
    """A tree of blocks over an ordered domain, with least squares (Hay et al. 2010; Qardaji et al. 2013).

    Parameters
    ----------
    size : int
        The number of cells.
    branching : int or sequence of int
        How many children each block has; a sequence goes from the leaves to the root.
    weights : sequence of int, optional
        The weight of each level, from single cells to the root: by default 1. A level of weight 0
        is not measured; cells are.

    Examples
    --------
    >>> Hierarchy(16, branching=2).column_norm1
    5
    """

    shape: tuple[int, ...]
    widths: tuple[int, ...]
    weights: tuple[int, ...]

    def __init__(
        self, size: int, branching: int | Sequence[int] = 2, weights: Sequence[int] | None = None
    ) -> None:
        shape, widths = (checked_size(size),), widths_of(size, branching)
        self._set(shape=shape, widths=widths, weights=checked_weights(weights, len(widths)))
        if self.weights[0] == 0:
            raise ParameterError(
                "weights",
                "leave cells unmeasured, so they cannot be told apart",
                "a first weight of at least 1",
            )

    @property
    def measurements(self) -> int:
        """The number of blocks of all measured levels that have cells in the domain."""
        return sum(
            self.blocks(width) for width, weight in zip(self.widths, self.weights, strict=True) if weight > 0
        )

    @property
    def coefficients(self) -> tuple[int, ...]:
        """The squared weights."""
        return tuple(weight**2 for weight in self.weights)

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return weighted block sums, from single cells to the root."""
        sums, width, parts = cells, 1, []
        for next_width, weight in zip(self.widths, self.weights, strict=True):
            step, width = next_width // width, next_width
            sums = block_sums(np.asarray(self.pad(sums, step), np.int64), step)
            if weight > 0:
                parts.append(sums * np.int64(weight))
        return np.concatenate(parts, axis=-1)

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Solve from each measurement divided by its weight."""
        start, parts = 0, []
        for width, weight in zip(self.widths, self.weights, strict=True):
            part = None
            if weight > 0:
                end = start + self.blocks(width)
                part, start = np.asarray(measured[..., start:end], np.float64) / float(weight), end
            parts.append(part)
        assert parts[0] is not None  # noqa: S101  # cells are measured
        return self.solve(parts[0], parts[1:])
