"""Graphs whose edges are private: a table of edges, over nodes that everybody may know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from discreet.data.language.declarations import EACH_ROW, Declared, Keys
from discreet.data.language.serialization import JSON
from discreet.data.language.types import Type
from discreet.data.tables.broken_rows import BrokenRows, broken_graph
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_ROW, Neighbors
from discreet.privacy.rational import whole

__all__ = ["LARGEST_GRAPH", "Graph"]

LARGEST_GRAPH = 2**31 - 1
"""The most nodes: a pair of them is one integer of 64 bits."""


class Graph(RelatedTable):
    """A simple graph whose edges are private, and whose nodes are public.

    Guarantee
    ---------
    What is protected is one edge: one row of the table comes or goes. The graph has an edge between two
    declared nodes if some row names both, in either order, so that one row is at most one edge.
    Rows that name a node twice, nodes that were not declared or NULL are in no graph, and a row that is there
    twice changes nothing: no row makes an answer fail (proof: docs/proofs/other_relations.md, lemma 1).

    Parameters
    ----------
    source : path, frame, address or Ibis table
        The table of edges, as for `Table`.
    ends : (str, str)
        The two columns that name the ends of an edge.
    nodes : int, or iterable of texts or integers
        The nodes, isolated ones included: their number n, if the columns hold 0, …, n - 1; else their
        names. Public: declared without looking at the edges.
    version : str
        The version of the data, as for `Table`.

    Warnings
    --------
    That someone is a node is not protected, nor are all edges of a person together: under "edges" a
    guarantee for k edges at once is k times as weak.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet.data import Graph
    >>> edges = pd.DataFrame({"one": ["Ann", "Bob"], "other": ["Bob", "Cem"]})
    >>> Graph(edges, ends=("one", "other"), nodes=["Ann", "Bob", "Cem", "Dan"])
    Graph(ends=('one', 'other'), nodes=4, version='1')
    """

    __slots__ = ("ends", "nodes")

    relation: ClassVar[Neighbors] = ADD_REMOVE_ROW
    named: ClassVar[str] = "edges"
    unit: ClassVar[str] = "one edge, which is one row"

    ends: tuple[str, str]
    nodes: int

    def __init__(
        self,
        source: object,
        *,
        ends: tuple[str, str],
        nodes: int | Iterable[str] | Iterable[int],
        version: str = "1",
    ) -> None:
        first, second = _columns(ends)
        declared: Declared
        if isinstance(nodes, Iterable):
            declared = Keys(nodes)
            if declared.has_null or declared.type not in {Type.TEXT, Type.INTEGER}:
                raise ParameterError("nodes", "are neither texts nor integers", "the names of all nodes")
            count = len(declared)
        else:
            count, declared = whole(nodes, "nodes", least=1, most=LARGEST_GRAPH), Type.INTEGER
        self.ends, self.nodes = (first, second), count
        super().__init__(
            source, person=EACH_ROW, columns={first: declared, second: declared}, version=version
        )
        wanted = declared.type if isinstance(declared, Keys) else Type.INTEGER
        for name in self.ends:
            if self.schema[name] is not wanted:
                raise ParameterError(
                    "ends",
                    f"names {name!r}, a column of type {self.schema[name].value}",
                    f"columns of type {wanted.value}, as the nodes are",
                )

    @property
    def shape(self) -> dict[str, JSON]:
        """The ends and the number of nodes; their names are those of the columns' keys."""
        return {"graph": {"ends": list(self.ends), "nodes": self.nodes}}

    def broken(self) -> BrokenRows:
        """Return how many rows are no edge, or one that is there already. For the owner alone."""
        return broken_graph(self)

    def __repr__(self) -> str:
        return f"Graph(ends={self.ends!r}, nodes={self.nodes}, version={self.version!r})"


def _columns(ends: object) -> tuple[str, str]:
    if (
        not isinstance(ends, tuple | list)
        or len(ends) != 2
        or not all(isinstance(name, str) for name in ends)
        or ends[0] == ends[1]
    ):
        raise ParameterError("ends", "are not two columns", "such as ends=('from', 'to')")
    return ends[0], ends[1]
