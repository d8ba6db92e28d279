"""Triangles under node privacy: the bound holds on every graph, and is smooth."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.stability.distances import distance_to_sensitive
from discreet.stability.graphs.truncation import truncated_triangles
from stability.small_graphs import SmallGraphs


def profiles(nodes, degree):
    """The profile of every graph on the nodes, by its set of edges and its persons."""
    found = {}
    for size in range(nodes + 1):
        for persons in combinations(range(nodes), size):
            graphs = SmallGraphs(size)
            for graph in graphs:
                edges = frozenset((persons[i], persons[j]) for i, j in graphs.edges(graph))
                table = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
                found[persons, edges] = truncated_triangles(
                    table[:, 0], table[:, 1], persons=np.array(persons, dtype=np.int64), degree=degree
                )
    return found


@pytest.mark.parametrize("degree", [2, 3])
def test_triangles_under_node_privacy_are_bounded_and_smooth_on_every_graph(degree):
    found = profiles(5, degree)
    moved = 0
    for (persons, edges), profile in found.items():
        for person in persons:
            others = tuple(other for other in persons if other != person)
            fewer = found[others, frozenset(edge for edge in edges if person not in edge)]
            change = abs(profile.value - fewer.value)
            moved = max(moved, change / min(profile.local_at(0), fewer.local_at(0)))
            assert change <= min(profile.local_at(0), fewer.local_at(0))
            for distance in range(4):
                assert profile.local_at(distance) <= fewer.local_at(distance + 1)
                assert fewer.local_at(distance) <= profile.local_at(distance + 1)
    assert moved == 1  # some person attains the bound


def test_persons_beyond_the_degree_are_left_out():
    first, second = np.array([0, 0, 1, 0, 0]), np.array([1, 2, 2, 3, 4])
    assert truncated_triangles(first, second, persons=np.arange(5), degree=4).value == 1
    assert truncated_triangles(first, second, persons=np.arange(5), degree=3).value == 0


def test_far_from_the_limit_the_smooth_sensitivity_is_that_of_bounded_graphs():
    source = np.random.default_rng(3)
    profile = truncated_triangles(
        source.integers(0, 500, 1000), source.integers(0, 500, 1000), persons=np.arange(500), degree=40
    )
    assert profile.smooth("0.5") < 2 * 40 * 39 / 2
    assert profile.relation == ADD_REMOVE_PERSON


def test_rounding_beyond_the_reach_is_within_the_slack():
    one = truncated_triangles([], [], persons=[1], degree=4)
    other = truncated_triangles([], [], persons=[], degree=4)
    assert one.local_at(one.reach) <= other.local_at(other.reach) * (1 + one.SLACK / 4)


def test_small_graphs_have_an_answer_and_parameters_are_checked():
    for persons in ([], [3], [3, 4]):
        assert truncated_triangles([3], [4], persons=persons, degree=1).value == 0
    with pytest.raises(ParameterError):
        truncated_triangles([3], [4], persons=[3, 4], degree=0)


def test_what_no_graph_exceeds_is_public():
    """However large the bound that is proposed, the distances of neighbors are one apart at most."""
    one = truncated_triangles([0, 1, 2], [1, 2, 0], persons=range(3), degree=2)
    other = truncated_triangles([1], [2], persons=[1, 2], degree=2)
    for bound in range(2**60 - 2, 2**60 + 5):
        assert abs(distance_to_sensitive(one, bound) - distance_to_sensitive(other, bound)) <= 1
