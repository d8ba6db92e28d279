"""A projection to bounded degree under which a person, with all edges, changes little.

Cutting the edges of nodes of large degree is not stable: one person more can push all
neighbors over the limit. Here edges are added one by one, in an order that each pair of persons has for
itself, and an edge is kept if both ends still have room (Day, Li & Lyu 2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Integers
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass
from discreet.stability.entries import exact_integers
from discreet.stability.graphs.edges import columns

__all__ = [
    "Projection",
    "cumulative_sensitivity",
    "edges_sensitivity",
    "histogram_sensitivity",
    "persons_and_edges",
    "project_to_degree",
]

_MOST_DEGREE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Projection:
    """A graph of bounded degree, private like the graph that it was made of."""

    degree: int
    """The bound on degrees, public."""
    low: NDArray[Any]
    """The smaller identifier of each edge that was kept."""
    high: NDArray[Any]
    """The larger one."""
    degrees: Integers
    """The degree of each person in the projection, isolated ones included."""

    def edges(self) -> int:
        """Return the number of edges; for its sensitivity see `edges_sensitivity`."""
        return len(self.low)

    def histogram(self) -> Integers:
        """Return how many persons have the degree 0, 1, …, `degree`; see `histogram_sensitivity`."""
        return np.bincount(self.degrees, minlength=self.degree + 1).astype(np.int64)

    def cumulative(self) -> Integers:
        """Return how many persons have at most the degree 0, 1, …, `degree`; see `cumulative_sensitivity`."""
        return np.cumsum(self.histogram())

    def __repr__(self) -> str:
        return f"Projection(private, degree={self.degree})"


def edges_sensitivity(degree: int) -> Sensitivity:
    """Return by how much a person changes the number of edges of the projection: `degree`.

    A person who comes adds between 0 and `degree` edges in all (proof: docs/proofs/graphs.md).
    """
    bound = whole(degree, "degree", least=1, most=_MOST_DEGREE)
    return Sensitivity(l0=1, l1=bound, squared_l2=bound**2, linf=bound, neighbors=ADD_REMOVE_PERSON)


def histogram_sensitivity(degree: int) -> Sensitivity:
    """Return by how much a person changes the histogram of degrees: 2 `degree` + 1 in L1.

    At most `degree` others move to the next bin, one up or one down each, and the person is in one bin.
    """
    bound = whole(degree, "degree", least=1, most=_MOST_DEGREE)
    return Sensitivity(
        l0=bound + 1,
        l1=2 * bound + 1,
        squared_l2=bound**2 + (bound + 1) ** 2,
        linf=bound + 1,
        neighbors=ADD_REMOVE_PERSON,
    )


def cumulative_sensitivity(degree: int) -> Sensitivity:
    """Return by how much a person changes the cumulative histogram: `degree` + 1 in L1.

    A person of degree d changes at most d others, one entry each, and is in the entries from d on.
    """
    bound = whole(degree, "degree", least=1, most=_MOST_DEGREE)
    return Sensitivity(
        l0=bound + 1,
        l1=bound + 1,
        squared_l2=bound**2 + 1,
        linf=bound,
        neighbors=ADD_REMOVE_PERSON,
    )


def persons_and_edges(
    first: ArrayLike, second: ArrayLike, persons: ArrayLike
) -> tuple[NDArray[Any], Integers, Integers]:
    """Return the distinct persons, sorted, and the places in it of both ends of each edge between them.

    Self-loops and edges to someone not among the persons are dropped, and an edge that is there
    twice or in both directions counts once: the graph without a person is the graph of the others.
    """
    present = np.unique(exact_integers(persons, "persons"))
    one, other = columns(first, second)
    if not len(present):
        return present, np.zeros(0, np.int64), np.zeros(0, np.int64)
    places = [np.searchsorted(present, ends).clip(max=len(present) - 1) for ends in (one, other)]
    kept = ((present[places[0]] == one) & (present[places[1]] == other) & (one != other)).astype(bool)
    low, high = np.minimum(*places)[kept], np.maximum(*places)[kept]
    keys = np.unique(low * len(present) + high)
    return present, keys // len(present), keys % len(present)


def project_to_degree(
    first: ArrayLike, second: ArrayLike, *, persons: ArrayLike, degree: int, salt: int = 0
) -> Projection:
    """Return the projection of a graph of persons to a bounded degree.

    Parameters
    ----------
    first, second : integers
        The identifiers of both ends of each edge.
    persons : integers
        The identifiers of everyone, isolated persons included. Edges to others are dropped.
    degree : int
        The largest degree that is kept, public.
    salt : int
        From 0 to 2^64 - 1. It picks the order of the edges, and must not be chosen by looking at them.

    Notes
    -----
    Edges are ordered by a hash of their two identifiers and the salt, and where two hashes are equal by the
    identifiers. The place of a pair before another pair therefore depends on these two pairs
    alone: other persons and other edges do not change it.
    """
    bound = whole(degree, "degree", least=1, most=_MOST_DEGREE)
    key = whole(salt, "salt", least=0, most=2**64 - 1)
    present, low, high = persons_and_edges(first, second, persons)
    order = np.lexsort((high, low, _hashes(present[low], present[high], key)))
    low, high = low[order], high[order]
    room = [bound] * len(present)
    kept = np.zeros(len(low), dtype=bool)
    for index, (one, other) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        if room[one] and room[other]:
            room[one] -= 1
            room[other] -= 1
            kept[index] = True
    return Projection(
        degree=bound,
        low=present[low[kept]],
        high=present[high[kept]],
        degrees=bound - np.array(room, dtype=np.int64),
    )


def _hashes(low: NDArray[Any], high: NDArray[Any], salt: int) -> NDArray[np.uint64]:
    """Return a hash of each pair: two rounds of the finalizer of SplitMix64, which is one-to-one.

    Longer identifiers that agree modulo 2^64 share their hashes; the identifiers themselves then decide.
    """
    mixed = _mix(_words(low) ^ np.uint64(salt))
    return _mix(mixed + _words(high))


def _words(identifiers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return identifiers modulo 2^64, for any type of the array that holds them."""
    wrapped = identifiers % 2**64 if identifiers.dtype == object else identifiers
    return wrapped.astype(np.uint64)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
