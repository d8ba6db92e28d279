"""Triangles under node privacy: persons of large degree are left out, and what that costs is a profile.

Leaving out persons by degree is not stable everywhere: one person more can push others over the
limit. It is stable on graphs in which few persons are near the limit, and the smooth
sensitivity says how stable (Kasiviswanathan, Nissim, Raskhodnikova & Smith 2013).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.stability.graphs.edges import graph_of
from discreet.stability.graphs.projection import persons_and_edges
from discreet.stability.graphs.triangles import count_triangles
from discreet.stability.profile import Profile

__all__ = ["truncated_triangles"]

_REACH = 2**60  # more persons than there are: no more can be pushed out


def truncated_triangles(first: ArrayLike, second: ArrayLike, *, persons: ArrayLike, degree: int) -> Profile:
    """Return the number of triangles among persons of bounded degree, with a smooth bound for node privacy.

    Parameters
    ----------
    first, second : integers
        The identifiers of both ends of each edge.
    persons : integers
        The identifiers of everyone. Edges to others are dropped.
    degree : int
        Persons with more neighbors than this are left out, with all their edges. Public. It should lie in
        a gap of the degrees, as far as public knowledge tells.

    Returns
    -------
    Profile
        Under add/remove of a person with all edges. Whoever comes adds at most C(degree, 2) triangles, or
        pushes out persons whose degree was `degree`, each in at most C(degree, 2) triangles; so at distance
        k the change is at most C(degree, 2) max(1, N_k), where N_k is k and the number of persons whose
        degree is within k of `degree`, or of `degree` + 1 (proof: docs/proofs/graphs.md).

    Examples
    --------
    >>> from discreet.stability.graphs.truncation import truncated_triangles
    >>> profile = truncated_triangles([1, 2, 3], [2, 3, 1], persons=[1, 2, 3, 4], degree=5)
    >>> int(profile.value), int(profile.local_at(0))
    (1, 10)
    """
    bound = whole(degree, "degree", least=1, most=2**20)
    present, low, high = persons_and_edges(first, second, persons)
    degrees = np.bincount(np.concatenate([low, high]), minlength=len(present))
    stays = degrees <= bound
    kept = stays[low] & stays[high]
    gaps = [np.sort(np.abs(degrees - limit)) for limit in (bound, bound + 1)]

    def sensitivity(distance: int) -> Fraction:
        near = max(int(np.searchsorted(gap, distance, side="right")) for gap in gaps)
        return Fraction(comb(bound, 2) * min(max(near + distance, 1), _REACH))

    return Profile(
        value=Fraction(count_triangles(graph_of(low[kept], high[kept], nodes=len(present)))),
        reach=_REACH,
        sensitivity=sensitivity,
        relation=ADD_REMOVE_PERSON,
        rows=1,
        exact_to=-1,
    )
