"""Distances against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.distances import NEVER, distance_to_sensitive, distance_to_unstable_mode, mode
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.order_statistics.quantile import median
from discreet.stability.order_statistics.trimmed_mean import trimmed_mean
from discreet.stability.profile import Profile
from stability.order_oracle import BOUNDS, STEPS, farthest, oracle, small_data


@pytest.mark.few(7)
@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
@pytest.mark.parametrize("bound", [0, 1, 2, 5, 7])
def test_distance_to_data_of_a_larger_sensitivity(relation, rows, bound):
    enumeration = oracle(lambda values: values[(len(values) + 1) // 2 - 1] if values else 0, relation, rows)
    for values in small_data(40, seed=rows):
        profile = median(np.array(values, dtype=np.int64), relation=relation, rows=rows, **BOUNDS)
        most = farthest(values, relation, rows)
        exact = enumeration.distance(values, lambda other: enumeration.local(other) > bound, most)
        found = distance_to_sensitive(profile, bound)
        assert found == exact if exact is not None else found > most


def test_distance_by_trying_every_step():
    rng = np.random.default_rng(2)
    for _ in range(200):
        local = np.sort(rng.integers(0, 20, rng.integers(1, 40)))
        profile = Profile.of(value=0, local=local, relation=REPLACE_ROW)
        for bound in range(21):
            beyond = [k for k, size in enumerate(local) if size > bound]
            assert distance_to_sensitive(profile, bound) == (beyond[0] if beyond else NEVER)


@pytest.mark.slow
def test_a_distance_moves_by_one_between_neighbors():
    rng = np.random.default_rng(8)
    for _ in range(60):
        values = rng.integers(0, 100, rng.integers(0, 30))
        more = np.concatenate((values, rng.integers(0, 100, rng.integers(1, 4))))
        one, two = (
            trimmed_mean(data, trim=0.2, lower=0, upper=100, relation=ADD_REMOVE_PERSON, rows=3)
            for data in (values, more)
        )
        for bound in (1, 5, 20):
            assert abs(distance_to_sensitive(one, bound) - distance_to_sensitive(two, bound)) <= 1


def test_the_bound_is_a_size():
    with pytest.raises(ParameterError, match="bound"):
        distance_to_sensitive(Profile.of(value=0, local=[1], relation=REPLACE_ROW), -1)


def winner(values, domain=(0, 1, 2)):
    """Return the mode by its definition."""
    return max(domain, key=lambda value: (values.count(value), -value))


@pytest.mark.parametrize(("relation", "rows"), STEPS, ids=str)
def test_distance_to_an_unstable_mode(relation, rows):
    domain = (0, 1, 2)
    enumeration = Enumeration(winner, neighbors_of(domain, relation=relation, rows=rows))
    for values in multisets(domain, range(7)):
        data = np.array(values, dtype=np.int64)
        assert mode(data, lower=0, upper=2) == winner(values)
        exact = enumeration.distance(values, enumeration.unstable, 4)
        found = distance_to_unstable_mode(data, lower=0, upper=2, relation=relation, rows=rows)
        assert found == exact if exact is not None else found > 4


def test_the_distance_is_to_unstable_data_not_to_another_answer():
    # Five votes to two: three more make a draw, which the smaller value wins, and a fourth tips it.
    data = np.array([1] * 2 + [0] * 5)
    assert distance_to_unstable_mode(data, lower=0, upper=1, relation=ADD_REMOVE_PERSON) == 3


def test_values_that_nobody_has_compete_too():
    votes = np.array([5] * 4)
    assert distance_to_unstable_mode(votes, lower=5, upper=9, relation=ADD_REMOVE_PERSON) == 4
    assert distance_to_unstable_mode(votes, lower=0, upper=9, relation=ADD_REMOVE_PERSON) == 3
    assert distance_to_unstable_mode(votes, lower=0, upper=9, relation=ADD_REMOVE_PERSON, rows=2) == 1
    assert distance_to_unstable_mode(votes, lower=5, upper=5, relation=ADD_REMOVE_PERSON) == NEVER


def test_no_votes():
    nobody = np.array([], dtype=np.int64)
    assert mode(nobody, lower=3, upper=9) == 3
    assert distance_to_unstable_mode(nobody, lower=3, upper=9, relation=ADD_REMOVE_PERSON) == 0
    assert distance_to_unstable_mode(nobody, lower=3, upper=9, relation=REPLACE_ROW) == NEVER
