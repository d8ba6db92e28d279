"""Trees of sums: every node counts what its children count together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real, real_vector

__all__ = ["Tree"]

MOST_LEAVES = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """A tree whose nodes stand level by level, from the root to the leaves; all leaves on the last level.

    Attributes
    ----------
    offsets : tuple of integer arrays
        For each level but the last: node i has the children offsets[i], …, offsets[i + 1] - 1 of the
        level below.
    """

    offsets: tuple[NDArray[np.int64], ...]
    leaves: int

    @classmethod
    def over(cls, leaves: int, branching: int = 2) -> Tree:
        """Return the tree over a number of cells that groups `branching` neighbors on each level.

        Where that does not divide, the last group of a level is smaller.
        """
        leaves = whole(leaves, "leaves", least=1, most=MOST_LEAVES)
        branching = whole(branching, "branching", least=2)
        levels: list[NDArray[np.int64]] = []
        width = leaves
        while width > 1:
            levels.append(np.append(np.arange(0, width, branching), width).astype(np.int64))
            width = levels[-1].size - 1
        return cls(offsets=tuple(reversed(levels)), leaves=leaves)

    @classmethod
    def of_branching(cls, branching: Sequence[int]) -> Tree:
        """Return the tree whose nodes on level l have branching[l] children each."""
        width, levels = 1, []
        for position, factor in enumerate(branching):
            below = width * whole(factor, f"branching[{position}]", least=1)
            if below > MOST_LEAVES:
                raise ParameterError(
                    "branching", f"makes {below} nodes on one level", f"at most {MOST_LEAVES}: drop a level"
                )
            levels.append(np.arange(0, below + 1, factor, dtype=np.int64))
            width = below
        return cls(offsets=tuple(levels), leaves=width)

    @property
    def widths(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return (*(offsets.size - 1 for offsets in self.offsets), self.leaves)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return sum(self.widths)

    def split(self, values: Real) -> list[Real]:
        """Return the parts of a vector over all nodes, level by level."""
        return np.split(values, np.cumsum(self.widths)[:-1])

    def sums(self, cells: Real) -> Real:
        """Return the sums at all nodes."""
        levels = [cells]
        for offsets in reversed(self.offsets):
            levels.append(np.add.reduceat(levels[-1], offsets[:-1]))
        return np.concatenate(levels[::-1])

    def spread(self, values: Real) -> Real:
        """Return, for each leaf, the sum of its value and all those above it: the transpose of `sums`."""
        levels = self.split(values)
        above = levels[0]
        for offsets, level in zip(self.offsets, levels[1:], strict=True):
            above = np.repeat(above, np.diff(offsets)) + level
        return above

    def per_node(self, values: ArrayLike, name: str) -> Real:
        """Return non-negative numbers for all nodes, given one, one for each level, or one for each node."""
        array = np.array(values, np.float64)
        if array.ndim == 0:
            array = np.full(self.nodes, array)
        elif array.shape == (len(self.widths),):
            array = np.repeat(array, self.widths)
        if array.shape != (self.nodes,):
            raise ParameterError(
                name,
                f"are {array.size} numbers",
                f"one, {len(self.widths)} (one for each level), or {self.nodes} (one for each node)",
            )
        if np.isnan(array).any() or (array < 0).any():
            raise ParameterError(
                name, "are not all 0 or greater", "0 for what is known, infinite for no answer"
            )
        return array

    def enter(self, answers: ArrayLike, variances: ArrayLike) -> tuple[Real, Real]:
        """Return answers and variances for all nodes, the leaves measured or known."""
        values = real_vector(answers, "answers", self.nodes)
        variance = self.per_node(variances, "variances")
        if np.isinf(self.split(variance)[-1]).any():
            raise ParameterError(
                "variances",
                "are infinite for a leaf, which other answers need not determine",
                "finite on the last level",
            )
        return values, variance
