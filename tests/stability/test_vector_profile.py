"""Profiles of vectors, against all data sets."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability import Profile, VectorProfile, maximum, median, quantile
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of

LEVELS = ("1/4", "1/2", "3/4")


def quartiles(data, relation, norm="l2"):
    parts = [quantile(np.array(data, np.int64), level=q, lower=0, upper=3, relation=relation) for q in LEVELS]
    return VectorProfile.together(parts, norm=norm)


def l2(a, b):
    return Fraction(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW], ids=str)
def test_the_joint_bound_is_at_least_what_all_data_sets_show(relation):
    around = neighbors_of(range(4), relation=relation)
    search = Enumeration(lambda data: quartiles(data, relation).values, around, difference=l2)
    for data in multisets(range(4), range(4)):
        found = [sqrt(x) for x in search.profile(data, 3)]
        bound = quartiles(data, relation).joint
        assert all(float(bound.local_at(k)) >= x - 1e-12 for k, x in enumerate(found))


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_bound_moves_by_one_distance_between_neighbors(norm):
    around = neighbors_of(range(4), relation=ADD_REMOVE_PERSON)
    for data in multisets(range(4), range(4)):
        here = quartiles(data, ADD_REMOVE_PERSON, norm).joint
        for other in around(data):
            there = quartiles(other, ADD_REMOVE_PERSON, norm).joint
            assert all(there.local_at(k) <= here.local_at(k + 1) for k in range(6))


def test_the_norms_of_separate_sensitivities():
    parts = [Profile.of(value=v, local=[3, 4], relation=ADD_REMOVE_PERSON) for v in (1, 2)]
    parts.append(Profile.of(value=5, local=[0, 0, 7], relation=ADD_REMOVE_PERSON))
    assert [VectorProfile.together(parts, norm="l1").joint.local_at(k) for k in (0, 1, 2)] == [6, 8, 15]
    root = VectorProfile.together(parts, norm="l2").joint.local_at(2)
    assert 81 <= root**2 <= 81 + Fraction(1, 2**100)
    assert VectorProfile.together(parts, norm="l2").values == (1, 2, 5)


def test_only_profiles_of_one_relation_are_joined():
    one, other = median([1], lower=0, upper=3), median([1], lower=0, upper=3, relation=REPLACE_ROW)
    for parts in ([], [one, other], [one, 3]):
        with pytest.raises(ParameterError):
            VectorProfile.together(parts, norm="l2")
    with pytest.raises(ParameterError):
        VectorProfile.together([one], norm="l3")
    with pytest.raises(ParameterError):
        VectorProfile.of(values=[], local=[1], norm="l1", relation=ADD_REMOVE_PERSON)


def test_nothing_private_is_shown():
    shown = repr(VectorProfile.together([maximum([2, 3], lower=0, upper=9)] * 2, norm="l2"))
    assert shown == f"VectorProfile(private, 2 coordinates, l2, {ADD_REMOVE_PERSON})"
