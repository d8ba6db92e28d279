"""The ratio of counts against trying everything."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.ratio import ratio

OUTSIDE, WITHOUT, WITH = 0, 1, 2


def share(data):
    return Fraction(data.count(WITH), max(data.count(WITHOUT) + data.count(WITH), 1))


@pytest.mark.parametrize(("rows", "most"), [(1, 6), (2, 5), (3, 4)])
def test_the_ratio_equals_the_oracle_where_persons_come_and_go(rows, most):
    oracle = Enumeration(share, neighbors_of([WITHOUT, WITH], relation=ADD_REMOVE_PERSON, rows=rows))
    for data in multisets([WITHOUT, WITH], range(14)):
        profile = ratio(data.count(WITH), len(data), rows=rows)
        assert profile.value == share(data)
        assert [profile.local_at(k) for k in range(most + 1)] == oracle.profile(data, most)


def test_rows_that_count_for_nothing_change_nothing():
    oracle = Enumeration(share, neighbors_of([OUTSIDE, WITHOUT, WITH], relation=ADD_REMOVE_PERSON, rows=2))
    for data in multisets([OUTSIDE, WITHOUT, WITH], range(6)):
        profile = ratio(data.count(WITH), data.count(WITHOUT) + data.count(WITH), rows=2)
        assert [profile.local_at(k) for k in range(3)] == oracle.profile(data, 2)


def test_the_ratio_equals_the_oracle_where_a_row_is_replaced():
    oracle = Enumeration(share, neighbors_of([OUTSIDE, WITHOUT, WITH], relation=REPLACE_ROW))
    for data in multisets([OUTSIDE, WITHOUT, WITH], range(9)):
        base = data.count(WITHOUT) + data.count(WITH)
        profile = ratio(data.count(WITH), base, total=len(data), relation=REPLACE_ROW)
        assert [profile.local_at(k) for k in range(9)] == oracle.profile(data, 8)


def test_from_its_reach_on_everything_can_change():
    for part, base, rows in [(0, 0, 1), (3, 7, 2), (5, 5, 3)]:
        profile = ratio(part, base, rows=rows)
        assert profile.sensitivity(profile.reach) == profile.sensitivity(profile.reach + 5) == 1


def test_counts_out_of_range_are_brought_into_it():
    assert ratio(5, 3).value == 1
    assert ratio(-1, -1).value == 0
    assert ratio(9, 9, total=0, relation=REPLACE_ROW).smooth(1) == 0


def test_the_total_is_public_or_unknown():
    with pytest.raises(ParameterError):
        ratio(1, 2, total=5)
    with pytest.raises(ParameterError):
        ratio(1, 2, relation=REPLACE_ROW)


def test_no_count_is_too_large_for_the_machine():
    assert ratio(1, 10**400).smooth("0.1") > 0
    assert ratio(10**400, 2 * 10**400).value == Fraction(1, 2)
    # Each kind is clamped by itself: one row more of the part stays one row more.
    assert ratio(5, 2**64).value < ratio(6, 2**64 + 1).value
    assert ratio(5, 2**64).value == Fraction(5, 5 + 2**62)
