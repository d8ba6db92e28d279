"""Statistics with a profile, released in three ways: values, distances and laws on all small data sets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb
from unittest import mock

import numpy as np
import pytest

from curator.request.statistics.related_tables import (
    BOUNDS,
    all_graphs,
    empty_graph,
    empty_survey,
    graph_steps,
    law_of,
    reading_edges,
    reading_rows,
)
from discreet.audit.divergence import compare_laws
from discreet.curator.request.statistics.by_profile import ByBoughtBound, ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.profiled import QuantileStatistic, TriangleStatistic
from discreet.data import Bounds
from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
from discreet.privacy.events import Pure
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_ROW
from discreet.privacy.offer import Offer
from discreet.stability.distances import distance_to_sensitive
from effort import sizes

LEVEL = Fraction(95, 100)
DELTA = Fraction(1, 100)
BOTH = Offer(epsilon=2, delta=DELTA)
MEDIAN = QuantileStatistic(rows=3, column="x", bounds=BOUNDS, level=Fraction(1, 2))


def triangles_of(edges, nodes):
    return sum({*combinations(three, 2)} <= edges for three in combinations(range(nodes), 3))


def graph_profile(edges, nodes):
    with reading_edges(edges):
        return TriangleStatistic(nodes=nodes).profile(empty_graph(nodes))


@pytest.mark.parametrize("nodes", sizes(4, 5))
def test_triangles_and_their_local_sensitivity_are_those_of_all_graphs(nodes):
    counts = {edges: triangles_of(edges, nodes) for edges in all_graphs(nodes)}
    local = dict.fromkeys(counts, 0)
    for few, more in graph_steps(nodes):
        moved = counts[more] - counts[few]
        local[few], local[more] = max(local[few], moved), max(local[more], moved)
    for edges, count in counts.items():
        profile = graph_profile(edges, nodes)
        assert (profile.value, profile.local_at(0)) == (count, local[edges])
    assert max(local.values()) == TriangleStatistic(nodes=nodes).largest_local
    assert all(abs(local[few] - local[more]) <= 1 for few, more in graph_steps(nodes))  # what a bound costs


def test_the_distance_of_a_proposal_is_that_of_a_search_on_all_graphs_of_four_nodes():
    counts = {edges: triangles_of(edges, 4) for edges in all_graphs(4)}
    near = {edges: [] for edges in counts}
    for few, more in graph_steps(4):
        near[few].append(more)
        near[more].append(few)
    local = {one: max(abs(counts[one] - counts[other]) for other in near[one]) for one in counts}
    far = {edges: 0 if size > 1 else None for edges, size in local.items()}
    for step in range(1, 7):
        for edges, found in list(far.items()):
            if found is None and any(far[other] == step - 1 for other in near[edges]):
                far[edges] = step
    for edges, distance in far.items():
        assert distance_to_sensitive(graph_profile(edges, 4), 1) == distance


def test_medians_and_their_local_sensitivity_are_those_of_all_tables_of_three_rows():
    values = {rows: sorted(rows)[1] for rows in product(range(4), repeat=3)}
    for rows, value in values.items():
        moves = [
            abs(values[(*rows[:place], new, *rows[place + 1 :])] - value)
            for place in range(3)
            for new in range(4)
        ]
        with reading_rows([(one, 0) for one in rows]):
            profile = MEDIAN.profile(empty_survey(3))
        assert (profile.value, profile.local_at(0)) == (value, max(moves))


def graph_laws(statistic, pairs, nodes, *, most_runs=400):
    found = {}
    for edges in {one for pair in pairs for one in pair}:
        with reading_edges(edges):
            found[edges] = law_of(statistic, empty_graph(nodes), LEVEL, most_runs=most_runs)
    return [(found[few], found[more]) for few, more in pairs]


PAIRS = [
    (frozenset(), frozenset({(0, 1)})),
    (frozenset({(0, 1), (1, 2)}), frozenset({(0, 1), (1, 2), (0, 2)})),
    (frozenset({(0, 1), (1, 2), (0, 3), (2, 3)}), frozenset({(0, 1), (1, 2), (0, 3), (2, 3), (0, 2)})),
]


@pytest.mark.slow
def test_the_laws_of_neighboring_graphs_keep_the_promise():
    statistic = ByProposal(statistic=TriangleStatistic(nodes=4), bound=1, offer=BOTH)
    claim = ApproximateDP(epsilon=2, delta=DELTA, neighbors=ADD_REMOVE_ROW)
    for few, more in graph_laws(statistic, PAIRS, 4, most_runs=150):
        assert not compare_laws(few, more, claim).violated
        assert not compare_laws(more, few, claim).violated


@pytest.mark.slow
def test_the_laws_of_a_bought_bound_keep_the_promise_where_one_edge_closes_many_triangles():
    """Two nodes with seven common neighbors: a bound that is too small would show."""
    statistic = ByBoughtBound(statistic=TriangleStatistic(nodes=9), offer=Offer(epsilon=8, delta=DELTA))
    apart = frozenset((end, node) for end in (0, 1) for node in range(2, 9))
    claim = ApproximateDP(epsilon=8, delta=DELTA, neighbors=ADD_REMOVE_ROW)
    ((few, more),) = graph_laws(statistic, [(apart, apart | {(0, 1)})], 9)
    assert not compare_laws(few, more, claim).violated
    assert not compare_laws(more, few, claim).violated


def test_a_bought_bound_is_of_the_local_sensitivity_which_an_edge_moves_by_one():
    statistic = ByBoughtBound(statistic=TriangleStatistic(nodes=9), offer=BOTH)
    assert statistic.mechanism == PrivateLocalSensitivity(
        change=1, global_sensitivity=7, epsilon=2, delta=DELTA, neighbors=ADD_REMOVE_ROW
    )
    apart = frozenset((end, node) for end in (0, 1) for node in range(2, 9))
    answer = mock.Mock(answer=1, bound=1)
    for edges, expected in ((apart, (0, 7)), (apart | {(0, 1)}, (7, 7)), (frozenset(), (0, 0))):
        with (
            reading_edges(edges),
            mock.patch.object(PrivateLocalSensitivity, "release", return_value=answer) as released,
        ):
            statistic.draw(empty_graph(9), LEVEL)
        assert released.call_args.args == expected


def test_the_laws_of_neighboring_tables_keep_the_promise():
    """A proposed bound of one step: (0, 0, 0) is far from needing more, (0, 1, 3) is not."""
    statistic = ByProposal(statistic=MEDIAN, bound=1, offer=BOTH)
    claim, laws = ApproximateDP(epsilon=2, delta=DELTA, neighbors=REPLACE_ROW), {}
    tables = [(0, 0, 0), (0, 0, 3), (0, 3, 3), (0, 1, 3), (1, 1, 3)]
    for rows in tables:
        with reading_rows([(one, 0) for one in rows]):
            laws[rows] = law_of(statistic, empty_survey(3), LEVEL)
    for one, other in combinations(tables, 2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            assert not compare_laws(laws[one], laws[other], claim).violated
            assert not compare_laws(laws[other], laws[one], claim).violated


def test_smooth_noise_keeps_its_epsilon_exactly_on_all_tables_of_three_rows():
    statistic = BySmoothSensitivity(statistic=MEDIAN, offer=Offer(epsilon=1))
    mechanism, profiles = statistic.mechanism, {}
    for rows in product(range(0, 4, 3), repeat=3):
        with reading_rows([(one, 0) for one in rows]):
            profiles[rows] = MEDIAN.profile(empty_survey(3))
    bound = Fraction(np.nextafter(np.e, 3))
    for one, other in product(profiles, repeat=2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            for answer in range(4):
                low, _ = mechanism.probability(profiles[one], answer)
                _, high = mechanism.probability(profiles[other], answer)
                assert low <= bound * high


def test_smooth_noise_of_a_graph_keeps_its_epsilon_on_all_graphs_of_four_nodes():
    statistic = TriangleStatistic(nodes=4)
    mechanism = BySmoothSensitivity(statistic=statistic, offer=Offer(epsilon=1)).mechanism
    laws, bound = {}, Fraction(np.nextafter(np.e, 3))
    known = {}
    for edges in all_graphs(4):
        profile = graph_profile(edges, 4)
        shape = (profile.value, *(profile.local_at(far) for far in range(5)))
        if shape not in known:
            known[shape] = [mechanism.probability(profile, answer) for answer in range(5)]
        laws[edges] = known[shape]
    for few, more in graph_steps(4):
        for (low, high), (least, most) in zip(laws[few], laws[more], strict=True):
            assert low <= bound * most
            assert least <= bound * high


def test_what_is_drawn_is_what_the_mechanism_draws():
    with reading_edges({(0, 1), (1, 2), (0, 2)}):
        table = empty_graph(5)
        for statistic in (
            ByBoughtBound(statistic=TriangleStatistic(nodes=5), offer=BOTH),
            ByProposal(statistic=TriangleStatistic(nodes=5), bound=3, offer=BOTH),
            BySmoothSensitivity(statistic=TriangleStatistic(nodes=5), offer=Offer(epsilon=5)),
        ):
            for _ in range(20):
                drawn = statistic.draw(table, LEVEL)
                assert statistic.may_have_drawn(drawn)
                assert statistic.fits(table)
                statistic.finish(drawn, LEVEL)


def test_no_answer_is_unknown_between_the_ends_and_costs_the_same():
    statistic = ByProposal(statistic=MEDIAN, bound=1, offer=BOTH)
    _, column = statistic.finish([None], LEVEL)
    assert np.isnan(column.values).all()
    assert (column.lower.tolist(), column.upper.tolist(), column.unknown.tolist()) == ([0], [3], [True])
    assert "costs the same" in column.offers
    _, column = statistic.finish([2], LEVEL)
    assert column.values.tolist() == [2]
    assert not statistic.may_have_drawn([None, 1])
    assert not statistic.may_have_drawn([1.5])


def test_steps_bounds_and_offers_that_do_not_fit_are_refused():
    cents = QuantileStatistic(
        rows=3, column="x", bounds=Bounds(0, 3, step=Fraction(1, 2)), level=Fraction(1, 2)
    )
    assert cents.in_steps(Fraction(3, 2), "bound") == 3
    for bad in (Fraction(1, 4), Fraction(0), Fraction(-1, 2)):
        with pytest.raises(ParameterError, match="whole number of steps"):
            cents.in_steps(bad, "bound")
    for offer in (Offer(epsilon=1), Offer(rho=1)):
        with pytest.raises(ParameterError, match="delta"):
            ByProposal(statistic=MEDIAN, bound=1, offer=offer)
        with pytest.raises(ParameterError, match="delta"):
            ByBoughtBound(statistic=TriangleStatistic(nodes=4), offer=offer)
    with pytest.raises(ParameterError, match="no triangle"):
        TriangleStatistic(nodes=2)


def test_what_is_expected_says_what_it_assumes():
    smooth = BySmoothSensitivity(statistic=MEDIAN, offer=Offer(epsilon=1)).expect(LEVEL)
    assert smooth.assumes == "values are spread evenly between the bounds"
    bought = ByBoughtBound(statistic=TriangleStatistic(nodes=10_000), offer=BOTH).expect(LEVEL)
    assert bought.assumes == "no two nodes have more than 100 common neighbors"
    few = ByBoughtBound(statistic=TriangleStatistic(nodes=10_000, common=10), offer=BOTH).expect(LEVEL)
    assert few.margin < bought.margin
    assert TriangleStatistic(nodes=10**6).ends == (0, 2**53)
    assert TriangleStatistic(nodes=100).ends == (0, comb(100, 3))
    assert BySmoothSensitivity(statistic=MEDIAN, offer=Offer(epsilon=1)).event == Pure(
        epsilon=1, neighbors=REPLACE_ROW
    )
