"""Edges and degrees of all small graphs: what one edge moves, and the law of what is drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from curator.request.statistics.related_tables import (
    ENDS,
    all_graphs,
    empty_graph,
    graph,
    graph_steps,
    law_of,
    reading_edges,
)
from discreet.audit.divergence import compare_laws
from discreet.curator.request.statistics.graph_counts import DegreeCounts, EdgeCount, simple_graph
from discreet.curator.request.statistics.noisy_integers import counting_noise
from discreet.data import Graph
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from discreet.privacy.offer import Offer

LEVEL = Fraction(95, 100)
ONE = Offer(epsilon=1)


def exact(statistic, edges):
    with reading_edges(edges):
        return statistic.exact(empty_graph(statistic.nodes))


@pytest.mark.parametrize(
    "statistic",
    [
        EdgeCount(nodes=5, offer=ONE),
        DegreeCounts(nodes=5, most=4, offer=ONE),
        DegreeCounts(nodes=5, most=2, offer=ONE),
    ],
    ids=["edges", "degrees", "few degrees"],
)
def test_no_edge_of_any_graph_moves_more_than_the_sensitivity(statistic):
    found = {edges: exact(statistic, edges) for edges in all_graphs(5)}
    moves = np.array([found[more] - found[few] for few, more in graph_steps(5)])
    bound = statistic.sensitivity
    assert bound.neighbors == ADD_REMOVE_ROW
    assert np.abs(moves).sum(axis=1).max() == bound.l1
    assert (moves**2).sum(axis=1).max() == bound.squared_l2
    assert np.abs(moves).max() == bound.linf
    assert (moves != 0).sum(axis=1).max() <= bound.l0


def test_counts_are_those_of_all_small_graphs():
    for edges in all_graphs(4):
        degrees = [sum(node in pair for pair in edges) for node in range(4)]
        assert exact(EdgeCount(nodes=4, offer=ONE), edges).tolist() == [len(edges)]
        counted = exact(DegreeCounts(nodes=4, most=2, offer=ONE), edges).tolist()
        assert counted == [degrees.count(0), degrees.count(1), sum(degree >= 2 for degree in degrees)]


def test_rows_that_are_no_edge_change_nothing():
    """In the engine: loops, repetitions, both directions and undeclared nodes."""
    edges = [(0, 1), (1, 2)]
    broken = [*edges, (1, 0), (0, 1), (2, 2), (3, 9), (-1, 0)]
    for table in (graph(edges, nodes=4), graph(broken, nodes=4)):
        found = simple_graph(table)
        assert (found.low.tolist(), found.high.tolist()) == ([0, 1], [1, 2])


def test_files_are_read_as_frames_are(tmp_path):
    frame = pd.DataFrame([(0, 1), (1, 2), (2, 0), (0, 0), (1, 0)], columns=list(ENDS))
    frame.to_parquet(tmp_path / "edges.parquet")
    frame.to_csv(tmp_path / "edges.csv", index=False)
    for source in (frame, tmp_path / "edges.parquet", tmp_path / "edges.csv"):
        assert EdgeCount(nodes=4, offer=ONE).exact(Graph(source, ends=ENDS, nodes=4)).tolist() == [3]
    named = Graph(tmp_path / "edges.csv", ends=ENDS, nodes=["0", "1", "2"])
    assert EdgeCount(nodes=3, offer=ONE).exact(named).tolist() == [3]


@pytest.mark.parametrize("offer", [Offer(epsilon=1), Offer(epsilon=Fraction(1, 3))], ids=repr)
def test_the_law_of_a_count_keeps_its_epsilon_between_neighbors(offer):
    statistic, laws = EdgeCount(nodes=4, offer=offer), []
    for edges in (frozenset({(0, 1)}), frozenset({(0, 1), (0, 2)})):
        with reading_edges(edges):
            laws.append(law_of(statistic, empty_graph(4), LEVEL))
    claim = PureDP(epsilon=offer.epsilon, neighbors=ADD_REMOVE_ROW)
    for pair in (laws, laws[::-1]):
        found = compare_laws(*pair, claim)
        assert not found.violated
        assert found.tightness > 0.99
    assert compare_laws(
        *laws, PureDP(epsilon=offer.epsilon * Fraction(9, 10), neighbors=ADD_REMOVE_ROW)
    ).violated


def test_an_offer_buys_the_noise_that_errs_least():
    bound = DegreeCounts(nodes=100, most=99, offer=ONE).sensitivity
    assert isinstance(counting_noise(Offer(epsilon=1), bound, 100), Laplace)
    assert isinstance(counting_noise(Offer(rho=Fraction(1, 2)), bound, 100), Gaussian)
    both = [
        counting_noise(Offer(epsilon=e, delta=Fraction(1, 10**6)), bound, 100) for e in (1, Fraction(1, 50))
    ]
    alone = [Laplace(sensitivity=bound, epsilon=e, size=100) for e in (1, Fraction(1, 50))]
    assert all(one.error.variance <= other.error.variance for one, other in zip(both, alone, strict=True))
    with pytest.raises(ParameterError, match="rho"):
        counting_noise(Offer.concentrated(1, Fraction(1, 100)), bound, 100)


def test_answers_and_intervals():
    statistic = EdgeCount(nodes=4, offer=ONE)
    keys, column = statistic.finish([5], LEVEL)
    assert (keys, column.values.tolist(), column.lower.tolist(), column.upper.tolist()) == ({}, [5], [2], [6])
    assert column.excess == statistic.mechanism.error.mean_absolute / 2  # as that of any other count
    assert statistic.may_have_drawn([3])
    assert not any(statistic.may_have_drawn(bad) for bad in ([], [1, 2], [1.5], [None], ["1"], [True]))
    keys, column = DegreeCounts(nodes=9, most=2, offer=ONE).finish([1, 2, 3], LEVEL)
    assert keys == {"degree": [0, 1, 2]}
    assert column.values.tolist() == [1, 2, 3]
    assert statistic.expect(LEVEL).margin == statistic.mechanism.error.quantile(LEVEL)
