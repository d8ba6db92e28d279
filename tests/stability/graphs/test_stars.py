"""Stars under edge privacy against all graphs."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.stability.enumeration import Enumeration
from discreet.stability.graphs.stars import stars
from stability.small_graphs import SmallGraphs


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 4, 5])
def test_stars_equal_the_oracle_on_every_graph(nodes, size):
    graphs = SmallGraphs(nodes)
    oracle = Enumeration(lambda g: sum(comb(d, size) for d in graphs.degrees(g)), graphs.neighbors)
    most = len(graphs.pairs)
    for graph in graphs:
        profile = stars(*graphs.columns(graph), nodes=nodes, size=size)
        assert profile.value == oracle.answer(graph)
        assert [profile.local_at(s) for s in range(most + 1)] == oracle.profile(graph, most)


def test_stars_of_large_graphs_are_exact():
    rays = np.arange(1, 100_001)
    profile = stars(np.zeros_like(rays), rays, nodes=100_001, size=3)
    assert profile.value == comb(100_000, 3)
    assert profile.local_at(0) == comb(99_999, 2)
    assert profile.local_at(2) == comb(99_999, 2) + comb(2, 2)


def test_size_is_checked():
    with pytest.raises(ParameterError):
        stars([0], [1], nodes=2, size=0)


def test_more_stars_than_numbers_are_refused_for_every_graph():
    for edges in (([0], [1]), ([], [])):
        with pytest.raises(ParameterError, match="size"):
            stars(*edges, nodes=10**6, size=100)
    assert stars([0], [1], nodes=10**6, size=20).smooth("0.1") > 0
