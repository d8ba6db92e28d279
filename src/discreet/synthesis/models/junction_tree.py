"""Junction trees: sets of columns, joined so that a model of all of them is a product of small tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from discreet.errors import ParameterError

__all__ = ["CliqueLink", "JunctionTree", "tree_cells"]

ColumnSet = tuple[int, ...]
"""Places of columns, increasing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CliqueLink:
    """A clique below another: they share the columns of the separator, perhaps none."""

    parent: int
    child: int
    separator: ColumnSet


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTree:
    """Cliques over columns, each below one before it, such that every column's cliques are connected.

    Attributes
    ----------
    shape : tuple of int
        How many values each column has.
    cliques : tuple of tuples of int
        The columns of each clique; the first is the root, and parents come before their children.
    branches : tuple of CliqueLink
        One for each clique but the root, in the order of the children.
    """

    shape: tuple[int, ...]
    cliques: tuple[ColumnSet, ...]
    branches: tuple[CliqueLink, ...]

    @classmethod
    def spanning(cls, shape: Sequence[int], sets: Iterable[Iterable[int]]) -> JunctionTree:
        """Return a tree in which every one of the sets lies within a clique, and every column is in one."""
        sizes = tuple(shape)
        if not sizes:
            raise ParameterError("shape", "is empty", "at least one column")
        return cls._rooted(sizes, _maximal(_eliminated(sizes, sets)))

    @classmethod
    def _rooted(cls, sizes: tuple[int, ...], cliques: Sequence[ColumnSet]) -> JunctionTree:
        """Join cliques by a spanning tree of most shared columns, from the first on (Prim)."""
        left = sorted(cliques)
        order = [left.pop(0)]
        branches: list[CliqueLink] = []
        best = {clique: (0, len(_shared(order[0], clique))) for clique in left}
        while left:
            child = max(left, key=lambda clique: (best[clique][1], [-column for column in clique]))
            left.remove(child)
            parent = best[child][0]
            branches.append(
                CliqueLink(parent=parent, child=len(order), separator=_shared(order[parent], child))
            )
            order.append(child)
            for clique in left:
                common = len(_shared(child, clique))
                if common > best[clique][1]:
                    best[clique] = (len(order) - 1, common)
        return cls(shape=sizes, cliques=tuple(order), branches=tuple(branches))

    @property
    def cells(self) -> int:
        """How many numbers the tables of all cliques hold."""
        return sum(prod(self.shape[column] for column in clique) for clique in self.cliques)

    def clique_of(self, columns: Iterable[int]) -> int | None:
        """Return the smallest clique that holds some columns, or None."""
        wanted = set(columns)
        holding = [place for place, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(holding, key=self._size, default=None)

    def _size(self, place: int) -> int:
        return prod(self.shape[column] for column in self.cliques[place])


def tree_cells(shape: Sequence[int], sets: Iterable[Iterable[int]]) -> int:
    """Return how many numbers the tables of a model over some sets hold."""
    sizes = tuple(shape)
    cliques = _maximal(_eliminated(sizes, sets))
    return sum(prod(sizes[column] for column in clique) for clique in cliques)


def _eliminated(sizes: tuple[int, ...], sets: Iterable[Iterable[int]]) -> list[frozenset[int]]:
    """Return the cliques of a triangulation: columns are taken away one by one, the cheapest first.

    What a column is joined with when it goes becomes a clique. The cheapest is one whose neighbors are joined
    already, so that nothing is added; else that whose clique is smallest. Sets that need no more joins, as
    the pairs of a tree, are their own cliques.
    """
    joined: dict[int, set[int]] = {column: set() for column in range(len(sizes))}
    for chosen in sets:
        for one, other in combinations(set(chosen), 2):
            joined[one].add(other)
            joined[other].add(one)

    def cost(column: int) -> tuple[bool, int]:
        beside = joined[column]
        adds = any(not beside - {other} <= joined[other] for other in beside)
        return adds, prod(sizes[other] for other in beside) * sizes[column]

    costs = {column: cost(column) for column in joined}
    cliques: list[frozenset[int]] = []
    while joined:
        column = min(joined, key=lambda place: (costs[place], place))
        beside = joined.pop(column)
        del costs[column]
        cliques.append(frozenset(beside | {column}))
        for other in beside:
            joined[other] |= beside - {other}
            joined[other].discard(column)
        for other in beside | {near for one in beside for near in joined[one]}:
            costs[other] = cost(other)
    return cliques


def _maximal(cliques: Iterable[frozenset[int]]) -> list[ColumnSet]:
    kept: list[frozenset[int]] = []
    for clique in sorted(set(cliques), key=len, reverse=True):
        if not any(clique <= other for other in kept):
            kept.append(clique)
    return [tuple(sorted(clique)) for clique in kept]


def _shared(one: ColumnSet, other: ColumnSet) -> ColumnSet:
    return tuple(sorted(set(one) & set(other)))
