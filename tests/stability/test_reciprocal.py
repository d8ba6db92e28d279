"""The reciprocal of a count against trying everything."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.reciprocal import reciprocal


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("least", [1, 2, 3, 5])
def test_the_reciprocal_equals_the_oracle_where_persons_come_and_go(rows, least):
    oracle = Enumeration(
        lambda x: Fraction(1, max(sum(x), least)),
        neighbors_of([0, 1], relation=ADD_REMOVE_PERSON, rows=rows),
    )
    for data in multisets([0, 1], range(9)):
        if data.count(0) > 2:
            continue
        profile = reciprocal(sum(data), least=least, rows=rows)
        assert profile.value == Fraction(1, max(sum(data), least))
        assert [profile.local_at(k) for k in range(5)] == oracle.profile(data, 4)


@pytest.mark.parametrize("least", [1, 2, 4])
def test_the_reciprocal_equals_the_oracle_where_a_row_is_replaced(least):
    oracle = Enumeration(
        lambda x: Fraction(1, max(sum(x), least)), neighbors_of([0, 1], relation=REPLACE_ROW)
    )
    for data in multisets([0, 1], range(10)):
        profile = reciprocal(sum(data), least=least, total=len(data), relation=REPLACE_ROW)
        assert [profile.local_at(k) for k in range(10)] == oracle.profile(data, 9)
        expected = oracle.smooth(data, 0.3, 10)
        assert expected <= profile.smooth("0.3") or expected == pytest.approx(float(profile.smooth("0.3")))
        assert float(profile.smooth("0.3")) <= expected * (1 + 1e-11) + 1e-60


def test_from_its_reach_on_a_profile_stays_the_same():
    for count in range(12):
        for rows in (1, 3):
            profile = reciprocal(count, least=4, rows=rows)
            last = profile.sensitivity(profile.reach)
            assert all(profile.sensitivity(profile.reach + more) == last for more in range(20))
            assert last == Fraction(1, 4) - Fraction(1, 4 + rows)


def test_large_counts_need_no_large_arrays():
    profile = reciprocal(10**15)
    assert profile.local_at(0) == Fraction(1, 10**15 * (10**15 - 1))
    assert profile.smooth(1) >= profile.local_at(0)


def test_counts_out_of_range_are_brought_into_it():
    assert reciprocal(-3).value == 1
    assert reciprocal(9, total=4, relation=REPLACE_ROW).value == Fraction(1, 4)
    assert reciprocal(0, total=0, relation=REPLACE_ROW).smooth(1) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"least": 0},
        {"count": 2.5},
        {"total": 5},
        {"relation": REPLACE_ROW},
        {"relation": REPLACE_ROW, "total": 5, "rows": 2},
        {"rows": 0},
    ],
)
def test_wrong_parameters_are_refused(options):
    with pytest.raises(ParameterError):
        reciprocal(**{"count": 3, **options})


def test_no_count_is_too_large_for_the_machine():
    assert reciprocal(10**400).value == reciprocal(2**62).value
    assert reciprocal(10**400).smooth("0.1") > 0
    assert reciprocal(-(10**400)).value == 1
    with pytest.raises(ParameterError):
        reciprocal(1, least=10**30)
