"""Edge tables: what is dropped, what is merged, and the pairs of largest degrees."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.stability.graphs.edges import graph_of, largest_pairs
from stability.small_graphs import SmallGraphs


def test_loops_are_dropped_and_repeated_edges_merged():
    graph = graph_of([0, 1, 2, 2, 3, 9, -1], [1, 0, 2, 1, 1, 1, 0], nodes=5)
    assert list(zip(graph.low.tolist(), graph.high.tolist(), strict=True)) == [(0, 1), (1, 2), (1, 3)]
    assert graph.degrees().tolist() == [1, 3, 1, 1, 0]
    assert repr(graph) == "SimpleGraph(private, nodes=5)"


def test_empty_tables_are_graphs():
    for nodes in (0, 1, 2):
        graph = graph_of([], [], nodes=nodes)
        assert graph.degrees().tolist() == [0] * nodes
        assert largest_pairs(graph) == ([(0, 0)] if nodes == 2 else [])


@pytest.mark.parametrize(
    ("first", "second", "nodes"),
    [([0], [1, 2], 3), ([0.5], [1], 3), ([0], [1], -1), ([[0]], [[1]], 3), (["a"], ["b"], 3)],
)
def test_what_is_no_edge_table_is_refused(first, second, nodes):
    with pytest.raises(ParameterError):
        graph_of(first, second, nodes=nodes)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_the_largest_pairs_dominate_all_pairs_and_are_some_of_them(nodes):
    graphs = SmallGraphs(nodes)
    for graph in graphs:
        degrees = graphs.degrees(graph)
        true = {
            tuple(sorted((degrees[i] - edge, degrees[j] - edge), reverse=True))
            for (i, j), index in graphs.bit.items()
            for edge in [graph >> index & 1]
        }
        first, second = graphs.columns(graph)
        found = largest_pairs(graph_of(first, second, nodes=nodes))
        assert {tuple(sorted(pair, reverse=True)) for pair in found} <= true
        assert all(any(p >= a and q >= b for p, q in found) for a, b in true)


def test_a_large_clique_is_searched_to_its_end():
    first, second = np.triu_indices(60, 1)
    assert max(p + q for p, q in largest_pairs(graph_of(first, second, nodes=60))) == 2 * 58
    assert max(p + q for p, q in largest_pairs(graph_of(first, second, nodes=61))) == 2 * 58
