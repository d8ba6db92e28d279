"""Noisy counts by size, and how many of them lie beyond an edge.

Persons are counted by how many rows they have, values by how large they are, in cells between public edges.
One noisy table of counts then says, at no further cost, how much lies beyond every edge, with a margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.curator import Release, Request
from discreet.curator.request.request import Part
from discreet.data import Formula, Relation, count
from discreet.data.language.formulas.cases import when
from discreet.data.language.relations import leftmost
from discreet.mechanisms import Laplace
from discreet.queries.outputs.base import margin_of, of_several, variance_of
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.question.query import Query
from discreet.records import dataclass

__all__ = ["SIZE", "Edge", "SizeCounts", "counted_by_size"]

Edge = Fraction | int
SIZE = "size"
_COUNT = "n"
_ROUNDING = 1 + 1e-9
"""Covers the rounding of roots and logarithms."""
_SLOPES = 64
"""How many values of x are tried; each gives a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCounts:
    """How many there are in each cell between edges, with noise; the last cell is open.

    Attributes
    ----------
    edges : tuple of numbers
        In order.
    counts : array of int
        One more than there are edges. What is beyond the last edge is in the last.
    part : Part
        The noise, independent in every cell.
    """

    edges: tuple[Edge, ...]
    counts: NDArray[np.int64]
    part: Part

    @classmethod
    def read(cls, release: Release, edges: tuple[Edge, ...]) -> SizeCounts:
        """Return the counts of an answer to `counted_by_size`."""
        assert isinstance(release.request, Request)  # noqa: S101
        (column,) = release.outputs
        found = dict(zip(release.keys[SIZE], column.values.tolist(), strict=True))
        counts = np.array([found[place] for place in range(len(edges) + 1)], np.int64)
        return cls(edges=edges, counts=counts, part=release.request.parts[0])

    @property
    def total(self) -> int:
        """How many there are in all."""
        return int(self.counts.sum())

    def above(self, place: int) -> int:
        """Return how many lie beyond an edge."""
        return int(self.counts[place + 1 :].sum())

    def below(self, place: int) -> int:
        """Return how many are in the cells up to an edge."""
        return int(self.counts[: place + 1].sum())

    def deviation(self, cells: int) -> float:
        """Return the standard deviation of the noise of a sum of so many cells."""
        return sqrt(cells * variance_of(self.part))

    def margin(self, cells: int, confidence: Fraction) -> int:
        """Return a t that the noise of a sum of so many cells exceeds with at most the failure probability.

        The smallest of three bounds: each noise within its own quantile, at a share of the failure
        probability; Chebyshev's, since the noises are independent; and, of Laplace noise, Chernoff's.
        """
        if cells == 0:
            return 0
        bounds = [
            cells * margin_of(self.part, of_several(confidence, cells)),
            self.deviation(cells) / sqrt(1 - confidence),
        ]
        if isinstance(self.part.mechanism, Laplace):
            bounds.append(_chernoff(float(self.part.mechanism.scale), cells, float(1 - confidence)))
        return ceil(min(bounds) * _ROUNDING)


def _chernoff(scale: float, cells: int, failure: float) -> float:
    """Return a t with P(abs(N1 + N2 + …) > t) <= failure, for discrete Laplace noises of a scale.

    With r = exp(-1 / scale), E exp(x N) = (1 - r)^2 / ((1 - r exp(x)) (1 - r exp(-x))) for x < 1 / scale. For
    every such x, P(sum > t) <= E exp(x N)^cells exp(-x t), and the noise is symmetric.
    """
    ratio = exp(-1 / scale)
    bounds = []
    for place in range(1, _SLOPES):
        slope = place / _SLOPES / scale
        ends = log(1 - ratio * exp(slope)) + log(1 - ratio * exp(-slope))
        bounds.append((cells * (2 * log(1 - ratio) - ends) + log(2 / failure)) / slope)
    return min(bounds)


def counted_by_size(relation: Relation, value: Formula, edges: Sequence[Edge], *, strictly: int = 0) -> Query:
    """Return the query for the number of rows of a relation by the size of a value.

    A cell ends with its edge; those of the first `strictly` edges end before it.
    """
    rows = TableRequest(table=leftmost(relation).table, relation=relation)
    return rows.group_by(**{SIZE: _place(value, edges, strictly)}).agg(**{_COUNT: count()})


def _place(value: Formula, edges: Sequence[Edge], strictly: int) -> Formula:
    """Return the number of the cell that contains a value; the last is open, and NULL is in none."""
    inside = [value < edge if place < strictly else value <= edge for place, edge in enumerate(edges)]
    cases = when(inside[0]).then(0)
    for place, condition in enumerate(inside[1:], start=1):
        cases = cases.when(condition).then(place)
    return cases.when(value > edges[-1]).then(len(edges))
