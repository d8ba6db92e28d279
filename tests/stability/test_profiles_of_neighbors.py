"""Profiles of neighbors, from end to end: distances differ by 1 at most, smooth sensitivities by e^decay.

What each profile says at one distance is tested elsewhere. Here it is what mechanisms take from it, for
which the profile must also be known as far as it grows.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.distances import distance_to_sensitive
from discreet.stability.graphs.stars import stars
from discreet.stability.graphs.triangles import triangles
from discreet.stability.graphs.truncation import truncated_triangles
from discreet.stability.prediction_variance import prediction_variance
from discreet.stability.profile import Profile
from discreet.stability.ratio import ratio
from discreet.stability.reciprocal import reciprocal
from discreet.stability.variance import variance
from effort import sizes

DECAYS = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 3), Fraction(2)]


def check(one, other):
    """Whatever a mechanism may ask of two neighbors."""
    assert abs(one.value - other.value) <= min(one.local_at(0), other.local_at(0))
    assert one.local_at(2**80) == other.local_at(2**80)  # what holds everywhere is public
    for profile, neighbor in ((one, other), (other, one)):
        reach = profile.reach
        for distance in {0, 1, 2, 5, reach // 2, max(reach - 1, 0), reach, neighbor.reach}:
            bound = profile.local_at(distance)
            assert bound <= neighbor.local_at(distance + 1)
            for proposed in (bound, bound * Fraction(999, 1000)):
                apart = distance_to_sensitive(profile, proposed) - distance_to_sensitive(neighbor, proposed)
                assert abs(apart) <= 1
        assert profile.smooth(0) >= profile.local_at(2**80)
        for decay in DECAYS:
            allowed = Fraction(math.exp(decay + Profile.SLACK)) * (1 + Fraction(1, 2**45))
            assert profile.smooth(decay) <= allowed * neighbor.smooth(decay)


def some(source, *values):
    return values[int(source.integers(len(values)))]


@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW])
def test_prediction_variances_of_neighbors_whatever_the_ridge(relation):
    source = np.random.default_rng(1)
    for _ in range(150):
        largest, width = some(source, 1, 2, 3, 10), some(source, 1, 2)
        rows = some(source, 1, 2) if relation is ADD_REMOVE_PERSON else 1
        options = {"largest": largest, "ridge": some(source, "0.01", 1, 2, 50, 3000), "rows": rows}
        data = source.integers(-largest, largest + 1, (int(source.integers(1, 12)), width))
        new = source.integers(-largest, largest + 1, (rows, width))
        kept = data if relation is ADD_REMOVE_PERSON else data[1:]
        point = source.integers(1, 4, width).tolist()
        check(
            *(
                prediction_variance(design, point, relation=relation, **options)
                for design in (data, np.vstack([kept, new]))
            )
        )


def test_a_ridge_far_beyond_the_rows_is_no_end_of_the_profile():
    """The ridge keeps every change small, near the data; it does not keep rows from leaving."""
    four, five = (prediction_variance([[1, 0]] * n, [1, 0], largest=1, ridge=2) for n in (4, 5))
    bound = five.local_at(0)
    assert five.local_at(10**6) == Fraction(1, 6)  # attained: 1/2 without rows, 1/3 with one
    assert abs(distance_to_sensitive(four, bound) - distance_to_sensitive(five, bound)) <= 1
    check(four, five)
    huge = [prediction_variance([[1]] * n, [1], largest=1, ridge=2**256) for n in (4, 5)]
    check(*huge)
    tiny = [prediction_variance([[1]] * n, [2**256], largest=1, ridge=Fraction(1, 2**256)) for n in (0, 1)]
    check(*tiny)


@pytest.mark.parametrize("many", sizes(60, 300))
def test_reciprocals_and_ratios_of_neighbors(many):
    source = np.random.default_rng(2)
    for _ in range(many):
        rows, least = some(source, 1, 2, 5), some(source, 1, 3, 20)
        count, more = int(source.integers(0, 40)), int(source.integers(1, rows + 1))
        check(*(reciprocal(n, least=least, rows=rows) for n in (count, count + more)))
        part, inside = int(source.integers(0, count + 1)), int(source.integers(0, more + 1))
        check(ratio(part, count, rows=rows), ratio(part + inside, count + more, rows=rows))
        total = count + 1
        check(*(reciprocal(n, least=least, total=total, relation=REPLACE_ROW) for n in (count, total)))
        check(*(ratio(part, n, total=total, relation=REPLACE_ROW) for n in (count, total)))


@pytest.mark.parametrize("many", sizes(8, 150))
@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW])
def test_variances_of_neighbors(relation, many):
    source = np.random.default_rng(3)
    for _ in range(many):
        rows, upper = some(source, 1, 2, 3) if relation is ADD_REMOVE_PERSON else 1, some(source, 0, 1, 9, 30)
        data = source.integers(0, upper + 1, int(source.integers(1, 30)))
        new = some(source, np.zeros(rows, int), np.full(rows, upper))
        kept = data if relation is ADD_REMOVE_PERSON else data[1:]
        check(
            *(
                variance(values, lower=0, upper=upper, relation=relation, rows=rows)
                for values in (data, np.concatenate([kept, new]))
            )
        )


def test_subgraph_counts_of_neighbors():
    source = np.random.default_rng(4)
    for _ in range(100):
        nodes = int(source.integers(2, 12))
        table = source.integers(0, nodes, (int(source.integers(1, 30)), 2))
        for count, options in ((triangles, {}), (stars, {"size": 2}), (stars, {"size": 5})):
            check(*(count(edges[:, 0], edges[:, 1], nodes=nodes, **options) for edges in (table, table[1:])))


@pytest.mark.slow
def test_truncated_triangles_of_neighbors():
    source = np.random.default_rng(5)
    for _ in range(100):
        persons = np.arange(int(source.integers(1, 12)))
        table = source.integers(0, len(persons), (int(source.integers(1, 40)), 2))
        degree = some(source, 1, 2, 3, 5)
        check(
            *(
                truncated_triangles(table[:, 0], table[:, 1], persons=present, degree=degree)
                for present in (persons, persons[1:])
            )
        )
