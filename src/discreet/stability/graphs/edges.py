"""Edge tables as simple graphs: two columns of node numbers in, clean arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.stability.entries import exact_integers

__all__ = ["SimpleGraph", "columns", "graph_of", "largest_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class SimpleGraph:
    """A simple graph on the nodes 0, …, nodes - 1. Its edges are private, the number of nodes is public."""

    nodes: int
    low: Integers
    """The smaller end of each edge; edges are sorted and distinct."""
    high: Integers
    """The larger end."""

    def degrees(self) -> Integers:
        """Return the number of neighbors of each node."""
        ends = np.concatenate([self.low, self.high])
        return np.bincount(ends, minlength=self.nodes).astype(np.int64)

    def __repr__(self) -> str:
        return f"SimpleGraph(private, nodes={self.nodes})"


def columns(first: ArrayLike, second: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two columns of integers of equal length, of 64 bits where they fit."""
    one, other = exact_integers(first, "first"), exact_integers(second, "second")
    if one.ndim != 1 or one.shape != other.shape:
        raise ParameterError("second", "is not as long as first", "two columns of equal length")
    return one, other


def graph_of(first: ArrayLike, second: ArrayLike, *, nodes: int) -> SimpleGraph:
    """Read an edge table.

    Self-loops are dropped, an edge that is there twice or in both directions counts once, and edges
    to nodes outside 0, …, nodes - 1 are dropped. One row more or less is at most one edge more
    or less.
    """
    count = whole(nodes, "nodes", least=0, most=2**31 - 1)
    one, other = columns(first, second)
    low, high = np.minimum(one, other), np.maximum(one, other)
    inside = ((low != high) & (low >= 0) & (high < count)).astype(bool)
    low, high = low[inside].astype(np.int64), high[inside].astype(np.int64)
    keys = np.unique(low * count + high)
    return SimpleGraph(nodes=count, low=keys // max(count, 1), high=keys % max(count, 1))


def largest_pairs(graph: SimpleGraph) -> list[tuple[int, int]]:
    """Return the largest pairs (p, q), p >= q, of degrees of two nodes, not counting an edge between them.

    Every pair of nodes is dominated by a returned one, in both entries. Nodes are taken by
    falling degree; the best partners of a node are the first after it that is no
    neighbor, and the next one. All the first nodes can be neighbors of each other only where they form a
    clique, so few are looked at.
    """
    if graph.nodes < 2:
        return []
    degrees = graph.degrees()
    order = np.argsort(-degrees, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(graph.nodes)
    sorted_degrees = degrees[order]
    ends = np.sort(np.stack([rank[graph.low], rank[graph.high]]), axis=0)
    ends = ends[:, np.lexsort((ends[1], ends[0]))]
    starts = np.searchsorted(ends[0], np.arange(graph.nodes + 1))
    found: list[tuple[int, int]] = []
    for node in range(graph.nodes - 1):
        best, following = int(sorted_degrees[node]), int(sorted_degrees[node + 1])
        if any(p >= best and q >= following for p, q in found):
            break
        later = ends[1][starts[node] : starts[node + 1]]
        gaps = np.flatnonzero(later != np.arange(node + 1, node + 1 + len(later)))
        apart = node + 1 + (int(gaps[0]) if len(gaps) else len(later))
        if apart < graph.nodes:
            found.append((best, int(sorted_degrees[apart])))
        if len(later):
            found.append((best - 1, int(sorted_degrees[later[0]]) - 1))
    return found
