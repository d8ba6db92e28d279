"""Edges and degrees of a graph of which one edge comes or goes."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np

from discreet.array_types import Integers
from discreet.curator.request.statistics.base import AnswerKeys, offer_object
from discreet.curator.request.statistics.noisy_integers import NoisyIntegers
from discreet.data.bounding.coded_rows import edge_codes
from discreet.data.tables.graph import Graph
from discreet.data.tables.related_table import RelatedTable
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.privacy.offer import Offer
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass
from discreet.stability.graphs.edges import SimpleGraph, graph_of

__all__ = ["DegreeCounts", "EdgeCount", "simple_graph"]


def simple_graph(table: RelatedTable) -> SimpleGraph:
    """Return the simple graph of a table of edges; private. A row more or less is at most an edge."""
    assert isinstance(table, Graph)  # noqa: S101
    return graph_of(*edge_codes(table), nodes=table.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeCount(NoisyIntegers):
    """The number of edges, which one edge moves by 1."""

    kind: ClassVar[str] = "edges"

    nodes: int
    offer: Offer

    @property
    def name(self) -> str:
        """The name of the output."""
        return "edges"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return "the number of edges, with noise for one edge"

    @property
    def sensitivity(self) -> Sensitivity:
        """One edge."""
        return Sensitivity(l0=1, l1=1, squared_l2=1, linf=1, neighbors=ADD_REMOVE_ROW)

    @property
    def keys(self) -> AnswerKeys:
        """One number."""
        return {}

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """No edge, and all."""
        return Fraction(0), Fraction(comb(self.nodes, 2))

    @property
    def parameters(self) -> dict[str, object]:
        """The number of nodes, and the offer."""
        return {"nodes": self.nodes, "offer": offer_object(self.offer)}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether it is a graph of as many nodes."""
        return isinstance(table, Graph) and table.nodes == self.nodes

    def exact(self, table: RelatedTable) -> Integers:
        """Return the number of edges."""
        return np.array([len(simple_graph(table).low)], np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeCounts(NoisyIntegers):
    """How many nodes have 0, 1, … edges; the last count is of those that have `most` or more.

    An edge moves each of its two ends by one degree: two nodes leave a count each and enter another. That is
    4 in L1, and in L2 at most sqrt(8), where both leave the same count and enter the same one.
    """

    kind: ClassVar[str] = "degrees"

    nodes: int
    most: int
    offer: Offer

    @property
    def name(self) -> str:
        """The name of the output."""
        return "nodes"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return "the number of nodes of each degree, with noise for one edge"

    @property
    def sensitivity(self) -> Sensitivity:
        """Two nodes of one degree that both get one edge more."""
        return Sensitivity(l0=4, l1=4, squared_l2=8, linf=2, neighbors=ADD_REMOVE_ROW)

    @property
    def keys(self) -> AnswerKeys:
        """The degrees."""
        return {"degree": list(range(self.most + 1))}

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """No node, and all."""
        return Fraction(0), Fraction(self.nodes)

    @property
    def parameters(self) -> dict[str, object]:
        """The number of nodes, the last degree, and the offer."""
        return {"nodes": self.nodes, "most": self.most, "offer": offer_object(self.offer)}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether it is a graph of as many nodes."""
        return isinstance(table, Graph) and table.nodes == self.nodes

    def exact(self, table: RelatedTable) -> Integers:
        """Return the counts."""
        degrees = np.minimum(simple_graph(table).degrees(), self.most)
        return np.bincount(degrees, minlength=self.most + 1).astype(np.int64)
