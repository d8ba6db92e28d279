"""Distances to instability by breadth-first search, and mechanisms of several inputs as ones of a tuple."""

from __future__ import annotations

from collections import deque
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from discreet.audit.divergence import compare
from discreet.audit.enumeration import output_law

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

Graph = "dict[Hashable, list[Hashable]]"


class Joined:
    """A mechanism whose release takes several inputs, for audits that know of one."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def release(self, inputs):
        return self.mechanism.release(*inputs)

    def neighboring_inputs(self):
        return self.mechanism.neighboring_inputs()

    @property
    def guarantee(self):
        return self.mechanism.guarantee

    @property
    def event(self):
        return self.mechanism.event

    def __repr__(self):
        return repr(self.mechanism)


def persons_of(candidates: int, rows: int) -> list[tuple[int, ...]]:
    """All persons: the votes of one, from 1 to `rows` of them, as counts of each candidate."""
    votes = [v for size in range(1, rows + 1) for v in combinations_with_replacement(range(candidates), size)]
    return [tuple(vote.count(candidate) for candidate in range(candidates)) for vote in votes]


def add_or_remove(persons: list[Hashable], most: int) -> Graph:
    """All multisets of at most this many persons, with those that have one more or one less."""
    sets = [s for size in range(most + 1) for s in combinations_with_replacement(persons, size)]
    known = set(sets)
    graph = {}
    for data in sets:
        removed = {data[:place] + data[place + 1 :] for place in range(len(data))}
        added = {tuple(sorted((*data, person), key=persons.index)) for person in persons}
        graph[data] = sorted((removed | added) & known)
    return graph


def replace(persons: list[Hashable], size: int) -> Graph:
    """All multisets with this many persons, with those in which one person is another."""
    graph = {}
    for data in combinations_with_replacement(persons, size):
        others = {
            tuple(sorted((*data[:place], *data[place + 1 :], person), key=persons.index))
            for place in range(len(data))
            for person in persons
        }
        graph[data] = sorted(others - {data})
    return graph


def distances(graph: Graph, value: Callable[[Hashable], Hashable]) -> dict[Hashable, int]:
    """The steps from each data set to the nearest that has a neighbor with another value."""
    values = {data: value(data) for data in graph}
    return steps_to(graph, (x for x, around in graph.items() if any(values[y] != values[x] for y in around)))


def steps_to(graph: Graph, targets: Iterable[Hashable]) -> dict[Hashable, int]:
    """The steps from each data set to the nearest target; absent where none is reached."""
    found = dict.fromkeys(targets, 0)
    waiting = deque(found)
    while waiting:
        data = waiting.popleft()
        for other in graph[data]:
            if other not in found:
                found[other] = found[data] + 1
                waiting.append(other)
    return found


def edges(graph: Graph) -> Iterator[tuple[Hashable, Hashable]]:
    """All neighbors, in both orders."""
    return ((x, y) for x, around in graph.items() for y in around)


def worst(mechanism, graph: Graph, inputs: Callable[[Hashable], tuple], claim=None):
    """The tightest comparison of the laws of the code, on all neighbors, with the promise."""
    laws = {}

    def law(data):
        key = inputs(data)
        if key not in laws:
            laws[key] = output_law(lambda given: mechanism.release(*given), key)
        return laws[key]

    claim = claim or mechanism.guarantee
    pairs = {(inputs(x), inputs(y)): (x, y) for x, y in edges(graph)}
    found = [compare(law(x), law(y), claim) for x, y in pairs.values()]
    return max(found, key=lambda comparison: (comparison.violated, comparison.tightness))
