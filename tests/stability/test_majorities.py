"""Majorities against all small tables of answers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability import distance_to_sensitive, majorities, slow_bound
from discreet.stability.enumeration import Enumeration, neighbors_of

QUESTIONS = 2
PERSONS = list(product((0, 1), repeat=QUESTIONS))


def table(data):
    return np.array([PERSONS[person] for person in data], np.int64).reshape(-1, QUESTIONS)


def plain(data):
    """By counting each answer."""
    return frozenset(
        question
        for question in range(QUESTIONS)
        if sum(PERSONS[p][question] for p in data) > sum(1 - PERSONS[p][question] for p in data)
    )


def search(relation):
    return Enumeration(
        plain,
        neighbors_of(range(len(PERSONS)), relation=relation),
        difference=lambda one, other: Fraction(len(one ^ other)),
    )


@pytest.mark.parametrize("size", range(5))
def test_the_set_and_its_profile_are_those_of_all_data_sets(size):
    found = search(ADD_REMOVE_PERSON)
    for data in combinations_with_replacement(range(len(PERSONS)), size):
        chosen, profile = majorities(table(data))
        assert frozenset(chosen) == plain(data)
        assert [profile.local_at(k) for k in range(4)] == found.profile(data, 3)
        for bound in range(QUESTIONS):
            exact = found.distance(data, lambda other, bound=bound: found.local(other) > bound, 3)
            assert min(distance_to_sensitive(profile, bound), 4) == (4 if exact is None else exact)


@pytest.mark.parametrize("size", range(5))
def test_under_replacement_it_is_a_bound_that_moves_by_one_distance(size):
    found = search(REPLACE_ROW)
    for data in combinations_with_replacement(range(len(PERSONS)), size):
        chosen, profile = majorities(table(data), relation=REPLACE_ROW)
        assert frozenset(chosen) == plain(data)
        exact = found.profile(data, 3)
        assert all(profile.local_at(k) >= exact[k] for k in range(4))
        for other in found.around(data):
            there = majorities(table(other), relation=REPLACE_ROW)[1]
            assert all(there.local_at(k) <= profile.local_at(k + 1) for k in range(4))


@pytest.mark.parametrize("change", [1, 2, 3])
def test_the_slow_bound_is_the_least_that_moves_slowly(change):
    """The least function above the local sensitivity that moves by `change`: the cone over all data sets."""
    found = search(ADD_REMOVE_PERSON)
    for size in range(5):
        for data in combinations_with_replacement(range(len(PERSONS)), size):
            bound = slow_bound(majorities(table(data))[1], change)
            local = [max(found.local(other) for other in shell) for shell in found.shells(data, 3)]
            assert bound == max(size - change * k for k, size in enumerate(local))
            for other in found.around(data):
                assert abs(slow_bound(majorities(table(other))[1], change) - bound) <= change


def test_what_is_no_table_is_refused_and_entries_are_yes_or_no():
    assert majorities([[float("nan"), 5, -1]])[0] == (1,)
    for wrong in ([1, 2], [[]], [["yes"]]):
        with pytest.raises(ParameterError):
            majorities(wrong)
    assert majorities(np.zeros((0, 2)), relation=REPLACE_ROW)[1].local_at(5) == 0
