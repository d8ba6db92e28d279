"""Stars of a graph whose edges are private: their number, and its local sensitivity at every distance."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.privacy.rational import whole
from discreet.stability.graphs.edges import graph_of, largest_pairs
from discreet.stability.profile import Profile

__all__ = ["stars"]

_MOST_STARS = 2**1000


def stars(first: ArrayLike, second: ArrayLike, *, nodes: int, size: int) -> Profile:
    """Return the number of stars with `size` rays, with its profile where one edge comes or goes.

    A star is a node with a set of `size` of its neighbors: there are sum C(d_v, size) of them. With
    size = 2 these are the paths of length two; three times the triangles over that is the clustering
    coefficient.

    Parameters
    ----------
    first, second, nodes
        As for `triangles`.
    size : int
        The number of rays, 1 to 100, such that the complete graph has at most 2^1000 stars. With 1 the
        stars are the ends of edges, two for each.

    Returns
    -------
    Profile
        Exact, under add/remove of a row. An edge between nodes that have p and q other neighbors is in
        C(p, size - 1) + C(q, size - 1) stars, and s edges more go to the larger of the two while it has
        room, up to nodes - 2 (Karwa, Raskhodnikova, Smith & Yaroslavtsev 2011; proof: docs/proofs/graphs.md).

    Examples
    --------
    >>> from discreet.stability.graphs.stars import stars
    >>> int(stars([0, 0, 0], [1, 2, 3], nodes=4, size=2).value)
    3
    """
    rays = whole(size, "size", least=1, most=100)
    graph = graph_of(first, second, nodes=nodes)
    if graph.nodes * comb(max(graph.nodes - 1, 0), rays) > _MOST_STARS:
        raise ParameterError("size", "allows more stars than there are numbers", "less, or fewer nodes")
    most = max(graph.nodes - 2, 0)
    pairs = largest_pairs(graph)
    values, repeated = np.unique(graph.degrees(), return_counts=True)

    def through(degrees: tuple[int, int], added: int) -> int:
        larger = min(max(degrees) + added, most)
        smaller = min(min(degrees) + added - (larger - max(degrees)), most)
        return comb(larger, rays - 1) + comb(smaller, rays - 1)

    return Profile(
        value=Fraction(
            sum(comb(int(d), rays) * int(times) for d, times in zip(values, repeated, strict=True))
        ),
        reach=2 * most,
        sensitivity=lambda distance: Fraction(max((through(pair, distance) for pair in pairs), default=0)),
        relation=ADD_REMOVE_ROW,
        rows=1,
    )
