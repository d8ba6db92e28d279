"""The projection to bounded degree, by brute force: every graph, every person who leaves."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.stability.graphs import projection
from discreet.stability.graphs.projection import (
    cumulative_sensitivity,
    edges_sensitivity,
    histogram_sensitivity,
    project,
)
from stability.small_graphs import SmallGraphs


def pairs_of_neighbors(nodes, degree, salts):
    """Yield the projections of every graph, with and without each person."""
    graphs = SmallGraphs(nodes)
    everyone = np.arange(nodes)
    for graph in graphs:
        first, second = graphs.columns(graph)
        for salt in salts:
            full = project(first, second, persons=everyone, degree=degree, salt=salt)
            for person in range(nodes):
                others = everyone[everyone != person]
                yield full, project(first, second, persons=others, degree=degree, salt=salt)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_person_changes_the_projection_as_little_as_claimed_and_no_less(degree):
    seen = np.zeros(7)
    for nodes, salts in ((1, [0]), (2, [0]), (3, [0, 1]), (4, range(5)), (5, [6])):
        for full, fewer in pairs_of_neighbors(nodes, degree, salts):
            gained = full.edges() - fewer.edges()
            assert 0 <= gained <= degree
            bins = np.abs(full.histogram() - fewer.histogram())
            sums = np.abs(full.cumulative() - fewer.cumulative())
            found = [gained, bins.sum(), (bins**2).sum(), bins.max(), sums.sum(), (sums**2).sum(), sums.max()]
            seen = np.maximum(seen, found)
    edges, bins, sums = (
        edges_sensitivity(degree),
        histogram_sensitivity(degree),
        cumulative_sensitivity(degree),
    )
    claimed = [edges.l1, bins.l1, bins.squared_l2, bins.linf, sums.l1, sums.squared_l2, sums.linf]
    assert seen.tolist() == [int(value) for value in claimed]


@pytest.mark.parametrize("seed", range(40))
def test_a_person_changes_larger_graphs_no_more(seed):
    source = np.random.default_rng(seed)
    nodes, degree = 40, int(source.integers(1, 6))
    first, second = source.integers(0, nodes, 300) ** 2 // nodes, source.integers(0, nodes, 300)
    everyone = np.arange(nodes)
    full = project(first, second, persons=everyone, degree=degree, salt=seed)
    assert full.degrees.max() <= degree
    for person in range(nodes):
        fewer = project(first, second, persons=everyone[everyone != person], degree=degree, salt=seed)
        assert 0 <= full.edges() - fewer.edges() <= degree
        assert np.abs(full.histogram() - fewer.histogram()).sum() <= 2 * degree + 1
        assert np.abs(full.cumulative() - fewer.cumulative()).sum() <= degree + 1


def test_cutting_by_degree_is_not_stable():
    """What this projection is there to avoid: one person more empties the graph."""
    hub, circle = 0, np.arange(1, 21)
    first = np.concatenate([circle, np.zeros(20, int)])
    second = np.concatenate([np.roll(circle, 1), circle])

    def cut(persons, degree):
        inside = np.isin(first, persons) & np.isin(second, persons)
        degrees = np.bincount(np.concatenate([first[inside], second[inside]]), minlength=21)
        return int((inside & (degrees[first] <= degree) & (degrees[second] <= degree)).sum())

    everyone = np.arange(21)
    assert cut(everyone[everyone != hub], 2) - cut(everyone, 2) == 20
    with_hub = project(first, second, persons=everyone, degree=2)
    without = project(first, second, persons=circle, degree=2)
    assert 0 <= with_hub.edges() - without.edges() <= 2


def test_triangles_of_this_projection_are_not_stable():
    """Why `truncation` exists: a chain of changed edges touches more triangles than a person is in."""
    worst, nodes = 0, 14
    everyone = np.arange(nodes)

    def triangles(persons, seed):
        graph = project(first, second, persons=persons, degree=2, salt=seed)
        adjacency = np.zeros((nodes, nodes), dtype=int)
        adjacency[graph.low, graph.high] = adjacency[graph.high, graph.low] = 1
        return np.trace(adjacency @ adjacency @ adjacency) // 6

    for seed in range(150):
        source = np.random.default_rng(seed)
        first, second = source.integers(0, nodes, 84), source.integers(0, nodes, 84)
        full = triangles(everyone, seed)
        worst = max(worst, *(abs(full - triangles(np.delete(everyone, p), seed)) for p in everyone))
    assert worst > 1  # with degrees of 2 a person is in one triangle at most


def test_the_order_depends_on_each_pair_alone(monkeypatch):
    """A mutant that orders edges by their place in the table, which others change, is caught."""
    first, second = np.array([5, 5, 9, 1]), np.array([9, 1, 1, 7])
    one = project(first, second, persons=[1, 5, 7, 9], degree=1, salt=3)
    other = project(second[::-1], first[::-1], persons=[9, 7, 5, 1, 1], degree=1, salt=3)
    assert one.low.tolist() == other.low.tolist()
    assert one.degrees.tolist() == other.degrees.tolist()
    hashes = projection._hashes

    def by_place(low, high, salt):
        return (hashes(low, high, salt) % np.uint64(64)) * np.uint64(0) + np.arange(
            len(low), dtype=np.uint64
        )[:: -1 if len(low) % 2 else 1]

    monkeypatch.setattr(projection, "_hashes", by_place)
    worst = max(
        int(np.abs(full.histogram() - fewer.histogram()).sum())
        for full, fewer in pairs_of_neighbors(5, 1, [0])
    )
    assert worst > histogram_sensitivity(1).l1


def test_the_salt_changes_the_order_and_identifiers_may_be_anything():
    first, second = np.array([-5, 2**62, 3, 3]), np.array([2**62, 3, -5, 8])
    kept = {
        tuple(project(first, second, persons=[-5, 3, 8, 2**62], degree=1, salt=salt).low.tolist())
        for salt in range(20)
    }
    assert len(kept) > 1


def test_absent_persons_loops_and_empty_tables():
    graph = project([1, 1, 2, 3], [1, 2, 1, 99], persons=[1, 2, 3, 4], degree=3)
    assert graph.edges() == 1
    assert graph.histogram().tolist() == [2, 2, 0, 0]
    assert repr(graph) == "Projection(private, degree=3)"
    empty = project([1], [2], persons=[], degree=2)
    assert (empty.edges(), empty.histogram().tolist()) == (0, [0, 0, 0])


@pytest.mark.parametrize(
    "options", [{"degree": 0}, {"degree": 1, "salt": -1}, {"degree": 1, "persons": [0.5]}]
)
def test_wrong_parameters_are_refused(options):
    with pytest.raises(ParameterError):
        project([0], [1], **{"persons": [0, 1], **options})


def test_no_identifier_is_too_large_for_the_machine():
    """Identifiers are told apart, and the order of the others' edges does not change."""
    others = [3, 5, -7, 11]
    first, second = [3, 3, 5, 5, -7], [5, -7, -7, 11, 11]
    alone = project(first, second, persons=others, degree=1)
    for far in (2**63, 2**64 + 3, 10**400, -(2**70)):
        with_far = project(first, second, persons=[*others, far], degree=1)
        assert with_far.low.tolist() == alone.low.tolist()
        assert with_far.high.tolist() == alone.high.tolist()
        assert sorted(with_far.degrees.tolist()) == sorted([*alone.degrees.tolist(), 0])
        edge = project([far], [3], persons=[3, far], degree=1)
        assert sorted([edge.low[0], edge.high[0]]) == sorted([3, far])
    unsigned = np.array([2**64 - 1, 2**63], np.uint64)
    assert project(unsigned[:1], unsigned[1:], persons=unsigned, degree=1).edges() == 1
    assert project([-1], [2**63], persons=unsigned, degree=1).edges() == 0  # -1 is not 2^64 - 1
