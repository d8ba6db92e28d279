"""Triangles of a graph whose edges are private: their number, and its local sensitivity at every distance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Integers
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.stability.graphs.edges import SimpleGraph, graph_of, largest_pairs
from discreet.stability.profile import Profile

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["count_triangles", "triangles"]

_FIRST_WORK, _MOST_WORK = 1 << 18, 1 << 23


def triangles(first: ArrayLike, second: ArrayLike, *, nodes: int) -> Profile:
    """Return the number of triangles, with its sensitivity profile where one edge comes or goes.

    Parameters
    ----------
    first, second : integers
        The ends of each edge, from 0 to nodes - 1. Self-loops are dropped, an edge that is
        there twice or in both directions counts once.
    nodes : int
        The public number of nodes, isolated ones included.

    Returns
    -------
    Profile
        Exact, under add/remove of a row. For nodes i and j with a common neighbors and b nodes
        that are neighbors of exactly one of them,
        A_s = max over i, j of min(a + floor((s + min(s, b)) / 2), nodes - 2)
        (Nissim, Raskhodnikova & Smith 2007; proof: docs/proofs/graphs.md).

    Notes
    -----
    Pairs are visited by falling degree, and those whose degrees leave no chance against pairs already seen
    are skipped. What remains is at most the number of paths of length 2.

    Examples
    --------
    >>> from discreet.stability.graphs.triangles import triangles
    >>> profile = triangles([0, 1, 2, 2], [1, 2, 0, 3], nodes=5)
    >>> int(profile.value), int(profile.local_at(0)), int(profile.local_at(1))
    (1, 1, 2)
    """
    graph = graph_of(first, second, nodes=nodes)
    most = max(graph.nodes - 2, 0)
    # sums[a]: the largest 2 a_ij + b_ij of all pairs with at least a common neighbors.
    sums = _largest_sums(graph) if most else np.zeros(1, np.int64)
    common = np.arange(len(sums))

    def sensitivity(distance: int) -> Fraction:
        best = np.minimum(common + distance, (sums + distance) // 2).max()
        return Fraction(min(int(best), most))

    return Profile(
        value=Fraction(count_triangles(graph)),
        reach=2 * most,
        sensitivity=sensitivity,
        relation=ADD_REMOVE_ROW,
        rows=1,
    )


def count_triangles(graph: SimpleGraph) -> int:
    """Return the number of triangles.

    Each edge points to its end of larger degree (or larger number), so no node points to more
    than sqrt(2 edges) others; a triangle is a path of two arrows with a third from start to end.
    """
    order = np.lexsort((np.arange(graph.nodes), graph.degrees()))
    low, high = _renumbered(graph, order)
    arrows = _matrix(low, high, graph.nodes)
    out = np.diff(arrows.indptr)
    work = np.bincount(low, weights=out[high], minlength=graph.nodes).astype(np.float64)
    found = 0
    for start, stop in _batches(work):
        here = arrows[start:stop]
        found += int((here @ arrows).multiply(here).sum(dtype=np.int64))
    return found


def _largest_sums(graph: SimpleGraph) -> Integers:
    """Return, for a = 0, 1, …, the largest d_i + d_j - 2 [i ~ j] of pairs with a or more common neighbors."""
    degrees = graph.degrees()
    ends = np.concatenate([graph.low, graph.high]), np.concatenate([graph.high, graph.low])
    matrix = _matrix(*ends, graph.nodes)
    # Only neighbors that have another neighbor can be common ones.
    useful = np.asarray(matrix @ (degrees > 1), dtype=np.int64)
    found = np.full(int(useful.max()) + 1, -1, dtype=np.int64)
    found[0] = max(p + q for p, q in largest_pairs(graph))
    work = np.asarray(matrix @ degrees, dtype=np.float64)
    waiting = np.argsort(-degrees, kind="stable")
    allowed = _FIRST_WORK
    while True:
        seen = np.maximum.accumulate(found[::-1])[::-1]
        # A pair has at most min(useful) common neighbors and a sum of at most that of its degrees.
        waiting = waiting[
            (useful[waiting] > 0) & (seen[useful[waiting]] < degrees[waiting] + degrees[waiting[:1]])
        ]
        if len(waiting) < 2:
            return seen[seen >= 0]
        taken = max(int(np.searchsorted(np.cumsum(work[waiting]), allowed)), 1)
        nodes, allowed = waiting[:taken], min(2 * allowed, _MOST_WORK)
        bound = np.minimum(useful[waiting], useful[nodes].max())
        partners = waiting[seen[bound] < degrees[waiting] + degrees[nodes[0]]]
        _record_pairs(found, matrix, degrees, nodes, partners)
        waiting = waiting[taken:]


def _record_pairs(
    found: Integers, matrix: csr_array, degrees: Integers, nodes: Integers, partners: Integers
) -> None:
    """Enter the pairs of some nodes and some partners that have common neighbors."""
    here = matrix[nodes]
    pairs = (2 * (here @ matrix[:, partners]) + here[:, partners]).tocoo()  # the last bit tells of an edge
    one, other = nodes[pairs.coords[0]], partners[pairs.coords[1]]
    kept = (pairs.data > 1) & (one != other)
    one, other, data = one[kept], other[kept], pairs.data[kept]
    np.maximum.at(found, data >> 1, degrees[one] + degrees[other] - 2 * (data & 1))


def _renumbered(graph: SimpleGraph, order: Integers) -> tuple[Integers, Integers]:
    """Return the edges with each node replaced by its place in an order, smaller place first."""
    place = np.empty_like(order)
    place[order] = np.arange(graph.nodes)
    one, other = place[graph.low], place[graph.high]
    return np.minimum(one, other), np.maximum(one, other)


def _matrix(rows: Integers, columns: Integers, size: int) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=(size, size))


def _batches(work: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of nodes of about the same work; a single node may exceed it."""
    done = np.cumsum(work)
    start = 0
    while start < len(work):
        before = done[start - 1] if start else 0.0
        stop = max(int(np.searchsorted(done, before + _MOST_WORK, side="right")), start + 1)
        yield start, stop
        start = stop
