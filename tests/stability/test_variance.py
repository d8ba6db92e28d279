"""The variance against trying everything: equal where one value changes, above and smooth otherwise."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.variance import variance

module = import_module("discreet.stability.variance")  # the package has a function of this name


def plain(values):
    count = len(values)
    return (
        Fraction(sum(v * v for v in values), count) - Fraction(sum(values), count) ** 2
        if count
        else Fraction(0)
    )


@pytest.mark.parametrize(("top", "size"), [(1, 10), (2, 9), (3, 8), (5, 6), (9, 4)])
def test_the_variance_equals_the_oracle_where_a_value_is_replaced(top, size):
    oracle = Enumeration(plain, neighbors_of(range(top + 1), relation=REPLACE_ROW))
    for data in multisets(range(top + 1), range(size)):
        profile = variance(list(data), lower=0, upper=top, relation=REPLACE_ROW)
        assert profile.value == plain(data)
        assert [profile.local_at(k) for k in range(size + 2)] == oracle.profile(data, size + 1)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(("top", "size", "most"), [(1, 10, 3), (2, 7, 2), (5, 4, 1)])
def test_the_variance_bounds_the_oracle_where_persons_come_and_go(rows, top, size, most, monkeypatch):
    monkeypatch.setattr(module, "within_choices", lambda rows, distance: False)
    oracle = Enumeration(plain, neighbors_of(range(top + 1), relation=ADD_REMOVE_PERSON, rows=rows))
    for data in multisets(range(top + 1), range(size)):
        profile = variance(list(data), lower=0, upper=top, rows=rows)
        bounds = [profile.local_at(k) for k in range(most + 1)]
        assert all(bound >= true for bound, true in zip(bounds, oracle.profile(data, most), strict=True))
        assert bounds == sorted(bounds)


@pytest.mark.parametrize(("top", "size", "rows"), [(2, 5, 1), (7, 3, 1), (1, 5, 2), (2, 4, 2), (1, 4, 3)])
def test_the_variance_equals_the_oracle_where_persons_come_and_go(top, size, rows):
    oracle = Enumeration(plain, neighbors_of(range(top + 1), relation=ADD_REMOVE_PERSON, rows=rows))
    for data in multisets(range(top + 1), range(size)):
        profile = variance(list(data), lower=0, upper=top, rows=rows)
        assert [profile.local_at(k) for k in range(3)] == oracle.profile(data, 2)
        assert profile.smooth_is_exact("0.1")


values = st.lists(st.integers(-4, 9), max_size=14)


@given(
    data=values,
    person=st.lists(st.integers(-4, 9), min_size=1, max_size=3),
    exact=st.sampled_from([-1, 0, 2]),
)
def test_smooth_across_the_distance_up_to_which_all_is_exact(data, person, exact):
    """What holds at distance k of one table is at most that at k + 1 of its neighbor."""
    one = variance(data, lower=-4, upper=9, rows=3)
    other = variance(data + person, lower=-4, upper=9, rows=3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "within_choices", lambda rows, distance: distance <= exact)
        for distance in range(6):
            assert one.local_at(distance) <= other.local_at(distance + 1)
            assert other.local_at(distance) <= one.local_at(distance + 1)


def test_wide_bounds_are_exact_too():
    data = [-(2**53), 2**53, 2**53, 17]
    profile = variance(data, lower=-(2**53), upper=2**53, relation=REPLACE_ROW)
    assert profile.value == plain(data)
    assert profile.local_at(4) == Fraction(3, 16) * Fraction(2**54) ** 2


def test_on_many_values_the_bound_is_near_the_truth():
    data = np.random.default_rng(5).normal(500, 100, 20_000).astype(int)
    profile = variance(data, lower=0, upper=1000)
    held, count = data.clip(0, 1000), len(data)
    mean = held.mean()
    far = max(mean, 1000 - mean)
    truth = (far**2 - held.var()) / count  # by adding one value at the end that is farther from the mean
    assert truth <= float(profile.local_at(0)) * (1 + 1e-3)
    assert float(profile.local_at(0)) <= 1.1 * truth
    assert profile.smooth("0.1") < profile.local_at(profile.reach) / 100
    assert profile.exact_to == 160
    assert profile.smooth_is_exact("0.1")


def test_values_are_clipped_and_small_tables_have_an_answer():
    assert variance([-100, 100], lower=0, upper=2).value == 1
    for relation in (ADD_REMOVE_PERSON, REPLACE_ROW):
        for data in ([], [1], [1, 1]):
            assert variance(data, lower=0, upper=2, relation=relation).value == 0
        assert variance([3, 3], lower=3, upper=3, relation=relation).smooth(1) == 0
    assert variance([], lower=0, upper=2, relation=REPLACE_ROW).smooth(1) == 0
    assert [variance([], lower=0, upper=2).local_at(k) for k in range(3)] == [0, 1, 1]
    assert variance([], lower=0, upper=2, rows=2).local_at(0) == 1


@pytest.mark.parametrize("bounds", [(2, 1), (0.5, 2), (0, 2**60)])
def test_wrong_bounds_are_refused(bounds):
    with pytest.raises(ParameterError):
        variance([1], lower=bounds[0], upper=bounds[1])


@pytest.mark.parametrize("values", [[2**70, 0], [2**63, -1], [10**400, -(10**400)]])
def test_no_value_is_too_long_for_the_machine(values):
    assert variance(values, lower=0, upper=1).value == Fraction(1, 4)
