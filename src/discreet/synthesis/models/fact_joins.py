"""Which columns declared facts join in a model, and how much larger another pair makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.possible_rows import PossibleRows

__all__ = ["FactJoins", "merged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactJoins:
    """The cliques of facts, and the parts that they join columns to.

    Attributes
    ----------
    possible : PossibleRows
        The facts.
    cells : int
        How many numbers a model of them alone holds.
    pairs : set of pairs of int
        Columns that share a clique of it.
    parts : tuple of int
        For each column the number of its part: columns of one part are joined, directly or by others.
    """

    possible: PossibleRows
    cells: int
    pairs: frozenset[tuple[int, ...]]
    parts: tuple[int, ...]

    @classmethod
    def of(cls, possible: PossibleRows) -> FactJoins:
        """Return what facts join."""
        tree = JunctionTree.spanning(possible.shape, possible.sets)
        parts: Sequence[int] = range(len(possible.shape))
        for chosen in possible.sets:
            for other in chosen[1:]:
                parts = merged(parts, chosen[0], other)
        return cls(
            possible=possible,
            cells=tree.cells,
            pairs=frozenset(pair for clique in tree.cliques for pair in combinations(clique, 2)),
            parts=tuple(parts),
        )

    def together(self, one: int, other: int) -> bool:
        """Return whether two columns, in order, share a clique: their table makes the model no larger."""
        return (one, other) in self.pairs

    def size_with(self, pair: tuple[int, int]) -> int:
        """Return a bound on how many numbers a model of the facts and a pair holds.

        A pair between two parts closes no circle, so that nothing else is joined: it is a clique of its own.
        """
        one, other = pair
        if self.together(one, other):
            return self.cells
        if self.parts[one] != self.parts[other]:
            return self.cells + self.possible.shape[one] * self.possible.shape[other]
        return self.possible.cells_with([pair])


def merged(parts: Sequence[int], one: int, other: int) -> list[int]:
    """Return the parts with those of two columns made one."""
    kept, gone = parts[one], parts[other]
    return [kept if part == gone else part for part in parts]
