"""Local and smooth sensitivity by trying everything: an oracle for small data sets.

Nothing here knows a formula. Data sets are nodes, neighbors are edges, distances are found
breadth first, and each statistic is evaluated on every data set that is met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Generic, TypeVar

from discreet.privacy.neighbors import Change, Neighbors
from discreet.stability.profile import check_step

__all__ = ["Enumeration", "multisets", "neighbors_of"]

Node = TypeVar("Node")
Answer = TypeVar("Answer")

MultiSet = tuple[int, ...]


def multisets(domain: Sequence[int], sizes: Iterable[int]) -> Iterator[MultiSet]:
    """Yield every data set of the given sizes with values in a domain, each as a sorted tuple."""
    for size in sizes:
        yield from combinations_with_replacement(sorted(domain), size)


def neighbors_of(
    domain: Sequence[int], *, relation: Neighbors, rows: int = 1
) -> Callable[[MultiSet], set[MultiSet]]:
    """Return the function that lists the neighbors of a sorted tuple of values.

    Under replace, one value becomes another of the domain. Under add/remove, between 1 and
    `rows` values are added, or as many are removed.
    """
    rows = check_step(relation, rows)
    grid = sorted(set(domain))
    added = list(multisets(grid, range(1, rows + 1)))

    def replaced(values: MultiSet) -> set[MultiSet]:
        rest = {values[:index] + values[index + 1 :] for index in range(len(values))}
        return {tuple(sorted((*kept, new))) for kept in rest for new in grid} - {values}

    def changed(values: MultiSet) -> set[MultiSet]:
        more = {tuple(sorted(values + new)) for new in added}
        size = len(values)
        return more | {
            kept for gone in range(1, min(rows, size) + 1) for kept in combinations(values, size - gone)
        }

    return replaced if relation.change is Change.REPLACE else changed


def _difference(one: Answer, other: Answer) -> Fraction:
    return abs(Fraction(one) - Fraction(other))  # type: ignore[call-overload,no-any-return]


class Enumeration(Generic[Node, Answer]):
    """A statistic on a graph of data sets, with everything about its stability by exhaustion.

    Parameters
    ----------
    function : callable
        The statistic. By default its answers are numbers.
    neighbors : callable
        The neighbors of a data set, such as `neighbors_of` returns. Data sets are hashable.
    difference : callable, optional
        How far two answers are apart, by default the absolute difference.
    """

    def __init__(
        self,
        function: Callable[[Node], Answer],
        neighbors: Callable[[Node], Iterable[Node]],
        *,
        difference: Callable[[Answer, Answer], Fraction] = _difference,
    ) -> None:
        self._function = function
        self._neighbors = neighbors
        self._difference = difference
        self._answers: dict[Node, Answer] = {}
        self._around: dict[Node, tuple[Node, ...]] = {}
        self._local: dict[Node, Fraction] = {}

    def answer(self, data: Node) -> Answer:
        """Return the statistic of a data set."""
        if data not in self._answers:
            self._answers[data] = self._function(data)
        return self._answers[data]

    def around(self, data: Node) -> tuple[Node, ...]:
        """Return the neighbors of a data set."""
        if data not in self._around:
            self._around[data] = tuple(self._neighbors(data))
        return self._around[data]

    def local(self, data: Node) -> Fraction:
        """Return the local sensitivity: the largest difference to a neighbor."""
        if data not in self._local:
            here = self.answer(data)
            gaps = (self._difference(here, self.answer(other)) for other in self.around(data))
            self._local[data] = max(gaps, default=Fraction(0))
        return self._local[data]

    def shells(self, data: Node, most: int) -> Iterator[set[Node]]:
        """Yield the data sets at distance 0, 1, …, most."""
        shell = {data}
        before: set[Node] = set()
        for _ in range(most + 1):
            yield shell
            after = {other for one in shell for other in self.around(one)} - shell - before
            before, shell = shell, after

    def profile(self, data: Node, most: int) -> list[Fraction]:
        """Return the local sensitivities at the distances 0, 1, …, most."""
        found: list[Fraction] = []
        for shell in self.shells(data, most):
            here = max((self.local(other) for other in shell), default=Fraction(0))
            found.append(max(here, found[-1]) if found else here)
        return found

    def smooth(self, data: Node, decay: float | Fraction, most: int) -> float:
        """Return the largest e^{-decay k} A_k over the distances k up to `most`, as a float."""
        local = self.profile(data, most)
        return max(math.exp(-float(decay) * distance) * float(size) for distance, size in enumerate(local))

    def distance(self, data: Node, found: Callable[[Node], bool], most: int) -> int | None:
        """Return how far the nearest data set is on which `found` holds; None beyond `most`."""
        for distance, shell in enumerate(self.shells(data, most)):
            if any(found(other) for other in shell):
                return distance
        return None

    def unstable(self, data: Node) -> bool:
        """Return whether some neighbor has another answer."""
        return any(self.answer(other) != self.answer(data) for other in self.around(data))
