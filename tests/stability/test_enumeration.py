"""The oracle, where the answers are known by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_ROW
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of


def test_multisets_are_counted_by_the_binomial():
    for values, size in ((2, 3), (4, 2), (3, 5)):
        assert len(set(multisets(range(values), [size]))) == math.comb(values + size - 1, size)
    assert list(multisets([5, 1], range(2))) == [(), (1,), (5,)]


def test_neighbors_under_replace():
    around = neighbors_of([0, 1, 2], relation=REPLACE_ROW)
    assert around((0, 0, 1)) == {(0, 1, 1), (0, 1, 2), (0, 0, 0), (0, 0, 2)}
    assert around(()) == set()


def test_neighbors_under_add_remove():
    around = neighbors_of([0, 1], relation=ADD_REMOVE_ROW)
    assert around((0, 1)) == {(0,), (1,), (0, 0, 1), (0, 1, 1)}
    assert around(()) == {(0,), (1,)}


def test_a_person_adds_or_removes_but_does_not_mix():
    around = neighbors_of([0, 1], relation=ADD_REMOVE_PERSON, rows=2)
    assert around((0,)) == {(), (0, 0), (0, 1), (0, 0, 0), (0, 0, 1), (0, 1, 1)}
    assert (1,) not in around((0,))
    oracle = Enumeration(sum, around)
    assert oracle.distance((0,), lambda other: other == (1,), 5) == 2


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_distance_is_persons_added_and_persons_removed(rows):
    oracle = Enumeration(len, neighbors_of([0, 1], relation=ADD_REMOVE_PERSON, rows=rows))
    for added in range(5):
        for removed in range(4):
            goal = (0,) * (3 - removed) + (1,) * added if removed <= 3 else None
            if goal is None:
                continue
            expected = -(-added // rows) - (-removed // rows)
            assert oracle.distance((0, 0, 0), lambda other, goal=goal: other == goal, 9) == expected


def test_the_sum_has_the_same_sensitivity_everywhere():
    oracle = Enumeration(sum, neighbors_of(range(5), relation=REPLACE_ROW))
    assert oracle.profile((2, 2), 3) == [2, 4, 4, 4]
    assert oracle.smooth((2, 2), Fraction(1, 10), 3) == pytest.approx(4 * math.exp(-0.1))


def test_the_maximum_of_no_value_is_not_sensitive():
    oracle = Enumeration(lambda values: values[-1], neighbors_of([0, 1], relation=REPLACE_ROW))
    assert oracle.profile((0, 0), 2) == [1, 1, 1]
    assert oracle.profile((1, 1, 1), 3) == [0, 0, 1, 1]


def test_shells_do_not_overlap_and_cover_everything():
    oracle = Enumeration(sum, neighbors_of(range(3), relation=REPLACE_ROW))
    shells = list(oracle.shells((0, 0, 0), 4))
    assert [len(shell) for shell in shells] == [1, 2, 3, 4, 0]
    assert set().union(*shells) == set(multisets(range(3), [3]))


def test_instability_is_another_answer_next_door():
    oracle = Enumeration(lambda values: values.count(1) > 2, neighbors_of([0, 1], relation=REPLACE_ROW))
    assert oracle.unstable((0, 1, 1))
    assert not oracle.unstable((0, 0, 1))
    assert oracle.distance((0, 0, 0, 0), oracle.unstable, 5) == 2
    assert oracle.distance((0, 0, 0, 0), lambda values: len(values) == 5, 5) is None
