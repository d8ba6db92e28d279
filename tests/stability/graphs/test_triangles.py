"""Triangles under edge privacy against all graphs, and against dense matrices."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.stability.enumeration import Enumeration
from discreet.stability.graphs.edges import graph_of
from discreet.stability.graphs.triangles import count_triangles, triangles
from stability.small_graphs import SmallGraphs


@pytest.mark.few(2)
@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 4, 5])
def test_triangles_equal_the_oracle_on_every_graph(nodes):
    graphs = SmallGraphs(nodes)
    oracle = Enumeration(graphs.triangles, graphs.neighbors)
    most = len(graphs.pairs)
    for graph in graphs:
        profile = triangles(*graphs.columns(graph), nodes=nodes)
        assert profile.value == graphs.triangles(graph)
        assert [profile.local_at(s) for s in range(most + 1)] == oracle.profile(graph, most)
        assert profile.relation == ADD_REMOVE_ROW


def dense(adjacency):
    """The published formula, over all pairs."""
    nodes = len(adjacency)
    matrix = adjacency.astype(int)
    upper = np.triu_indices(nodes, 1)
    common = (matrix @ matrix)[upper]
    degrees = matrix.sum(axis=0)
    one = (degrees[:, None] + degrees - 2 * matrix)[upper] - 2 * common
    return lambda s: min(int((common + (s + np.minimum(s, one)) // 2).max()), nodes - 2)


@pytest.mark.parametrize("seed", range(150))
def test_triangles_equal_the_formula_on_random_and_skewed_graphs(seed):
    source = np.random.default_rng(seed)
    nodes = int(source.integers(3, 70))
    weights = source.pareto(1.1, nodes) + 0.1 if seed % 2 else np.ones(nodes)
    chances = source.random() ** 2 * np.outer(weights, weights) / weights.mean() ** 2
    adjacency = np.triu(source.random((nodes, nodes)) < chances, 1)
    first, second = np.nonzero(adjacency)
    adjacency = adjacency | adjacency.T
    profile = triangles(first, second, nodes=nodes)
    matrix = adjacency.astype(int)
    assert profile.value == np.trace(matrix @ matrix @ matrix) // 6
    expected = dense(adjacency)
    assert [profile.local_at(s) for s in range(2 * nodes)] == [expected(s) for s in range(2 * nodes)]


@pytest.mark.few(120, slow=200)
@pytest.mark.parametrize("seed", range(400))
def test_batches_and_pruning_change_nothing(seed, monkeypatch):
    """With one node a batch, almost every pair is left out before it is counted."""
    module = importlib.import_module("discreet.stability.graphs.triangles")
    monkeypatch.setattr(module, "_FIRST_WORK", 1)
    monkeypatch.setattr(module, "_MOST_WORK", 1)
    source = np.random.default_rng(seed)
    nodes = int(source.integers(4, 14))
    edges = int(source.integers(2, 3 * nodes))
    first, second = source.integers(0, nodes, edges) ** 2 // nodes, source.integers(0, nodes, edges)
    adjacency = np.zeros((nodes, nodes), dtype=bool)
    adjacency[first, second] = adjacency[second, first] = True
    np.fill_diagonal(adjacency, False)
    profile, expected = triangles(first, second, nodes=nodes), dense(adjacency)
    assert [profile.local_at(s) for s in range(2 * nodes)] == [expected(s) for s in range(2 * nodes)]


def test_stars_trees_and_hubs_need_no_pass_over_all_paths():
    """A star of 200,000 rays has 2 * 10^10 paths of length two."""
    rays = np.arange(1, 200_001)
    star = triangles(np.zeros_like(rays), rays, nodes=200_001)
    assert star.value == 0
    assert [star.local_at(s) for s in (0, 1, 2, 10)] == [1, 1, 2, 10]
    middle, leaves = rays[:20_000], np.arange(20_001, 100_001)
    tree = triangles(
        np.concatenate([np.zeros_like(middle), np.repeat(middle, 4)]),
        np.concatenate([middle, leaves]),
        nodes=100_001,
    )
    assert tree.value == 0
    assert [tree.local_at(s) for s in (0, 1, 5)] == [1, 2, 6]


def test_bad_rows_of_an_edge_table_do_no_harm():
    clean = triangles([0, 1, 0], [1, 2, 2], nodes=4)
    dirty = triangles([0, 1, 2, 0, 1, 3, 7, -1], [1, 2, 0, 2, 0, 3, 8, 2], nodes=4)
    assert clean.value == dirty.value == 1
    assert [clean.local_at(s) for s in range(6)] == [dirty.local_at(s) for s in range(6)]
    assert repr(clean) == "Profile(private, add-remove row)"


def test_the_smooth_sensitivity_is_far_below_the_number_of_nodes():
    source = np.random.default_rng(9)
    profile = triangles(source.integers(0, 3000, 9000), source.integers(0, 3000, 9000), nodes=3000)
    assert profile.local_at(profile.reach) == 2998
    assert profile.smooth("0.2") < 20


def test_count_alone():
    first, second = np.triu_indices(30, 1)
    assert count_triangles(graph_of(first, second, nodes=30)) == 30 * 29 * 28 // 6


def test_no_node_is_too_large_for_the_machine():
    for first in (
        [2**63, -1, 0, 1, 2],
        [2**70, 5, 0, 1, 2],
        np.array([2**64 - 1, 2**63, 0, 1, 2], np.uint64),
    ):
        assert triangles(first, [1, 2, 1, 2, 0], nodes=3).value == 1
