"""Profiles against the plain maximum over all distances in many digits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_ROW
from discreet.stability.profile import Profile, check_step, last_distance
from effort import examples


def profile_of(local, **others):
    return Profile.of(value=0, local=local, relation=REPLACE_ROW, **others)


def plain(local, decay):
    with mpmath.workdps(60):
        rate = mpmath.mpf(decay.numerator) / decay.denominator
        return max(mpmath.exp(-rate * k) * mpmath.mpf(float(size)) for k, size in enumerate(local))


@given(
    st.lists(st.one_of(st.floats(0, 1e12), st.floats(0, 1e308)), min_size=1, max_size=60).map(sorted),
    st.fractions(0, 20, max_denominator=1000),
)
@settings(max_examples=examples(400), deadline=None)
def test_smooth_is_the_maximum_and_hardly_more(local, decay):
    found = profile_of(local).smooth(decay)
    exact = plain(local, decay)
    if not local[-1]:
        assert found == 0
        return
    with mpmath.workdps(60):
        assert mpmath.mpf(found.numerator) / found.denominator >= exact
        least = mpmath.mpf(2) ** -200
        assert mpmath.mpf(found.numerator) / found.denominator <= max(
            exact * (1 + mpmath.mpf(2) ** -40), least
        )


def test_a_flat_top_is_searched_to_the_end():
    decay = Fraction(1, 50)
    rng = np.random.default_rng(7)
    for _ in range(50):
        local = np.exp(np.arange(400) / 50) * rng.uniform(0.999, 1, 400)
        local = np.maximum.accumulate(local)
        exact = plain(local, decay)
        assert exact <= float(profile_of(local).smooth(decay)) <= exact * (1 + 2.0**-40)


def test_a_sensitivity_that_is_far_away_still_counts():
    local = [0] * 300 + [1.0]
    assert float(profile_of(local).smooth(Fraction(1, 10))) == pytest.approx(math.exp(-30))
    assert profile_of(local).smooth(10) == Profile.FLOOR
    assert profile_of(local).smooth(10**30) == Profile.FLOOR
    assert profile_of([2, 3]).smooth(10**30) == 2 * (1 + Fraction(1, 2**41))


@pytest.mark.parametrize(("power", "place"), [(1000, 745), (900, 744), (1023, 800), (850, 720)])
def test_no_term_is_lost_however_large_the_sensitivity(power, place):
    """exp(-745) is not a normal float, and e^-745 2^1000 is far from small."""
    near, far = (profile_of([0.0] * zeros + [2.0**power]).smooth(1) for zeros in (place, place + 1))
    assert math.log(near / far) <= 1 + Profile.SLACK
    with mpmath.workdps(60):
        exact = mpmath.mpf(2) ** power * mpmath.exp(-place)
        assert exact <= mpmath.mpf(near.numerator) / near.denominator <= exact * (1 + mpmath.mpf(2) ** -40)


@pytest.mark.parametrize("size", [Fraction(10) ** 400, Fraction(10) ** 1000 / 7, Fraction(1, 10**30)])
def test_sensitivities_beyond_floats(size):
    profile = Profile(
        value=Fraction(0), reach=3, sensitivity=lambda k: size * (k + 1), relation=REPLACE_ROW, rows=1
    )
    with mpmath.workdps(60):
        exact = max(mpmath.exp(-mpmath.mpf(k) / 4) * (k + 1) for k in range(4)) * mpmath.mpf(size.numerator)
        found = profile.smooth(Fraction(1, 4))
        ratio = mpmath.mpf(found.numerator) / found.denominator * size.denominator / exact
        assert 1 <= ratio <= 1 + mpmath.mpf(2) ** -40


def test_a_constant_statistic_has_none():
    assert profile_of([0.0, 0.0]).smooth(1) == 0


def test_without_decay_it_is_the_global_sensitivity():
    assert float(profile_of([1, 2, 5]).smooth(0)) == pytest.approx(5, rel=1e-12)


def test_beyond_the_end_the_last_entry_holds():
    profile = profile_of([1, 2, 5])
    assert [profile.local_at(k) for k in range(5)] == [1, 2, 5, 5, 5]


def test_nothing_private_is_shown():
    profile = Profile.of(value=Fraction(7654321, 3), local=[8765432.0], relation=ADD_REMOVE_PERSON, rows=3)
    for text in (repr(profile), str(profile), f"{profile}"):
        assert not any(digit in text for digit in "0123456789")


@pytest.mark.parametrize("local", [[], [[1.0]], [2.0, 1.0], [-1.0], [math.nan], [1.0, math.inf]])
def test_what_is_no_profile_is_refused(local):
    with pytest.raises(ParameterError, match="local"):
        profile_of(local)


@pytest.mark.parametrize("decay", [-1, math.nan, math.inf])
def test_a_decay_is_a_size(decay):
    with pytest.raises(ParameterError, match="decay"):
        profile_of([1.0]).smooth(decay)


def test_one_step_touches_one_value_but_for_a_person():
    assert check_step(ADD_REMOVE_PERSON, 3) == 3
    for relation in (REPLACE_ROW, ADD_REMOVE_ROW):
        assert check_step(relation, 1) == 1
        with pytest.raises(ParameterError, match="rows"):
            check_step(relation, 2)
    with pytest.raises(ParameterError, match="rows"):
        check_step(ADD_REMOVE_PERSON, 0)
    with pytest.raises(ParameterError, match="group"):
        check_step(REPLACE_ROW.group(2), 1)


def test_smooth_is_exact_where_the_largest_term_is():
    """A bound beyond the exact distances matters only if it makes the largest term."""
    for decay, truth in (("0.5", True), ("0.1", False)):
        local = [1.0, 1.5, 1.5, 4.0]  # e^-0.5 * 1.5 < 1, e^-1.5 * 4 < 1; e^-0.3 * 4 is the largest at 0.1
        cut = replace(profile_of(local), exact_to=2)
        assert cut.smooth_is_exact(decay) is truth
        assert truth is (plain(local[:3], Fraction(decay)) == plain(local, Fraction(decay)))
    assert profile_of(local).smooth_is_exact(0)
    assert replace(profile_of(local), exact_to=3).smooth_is_exact(0)
    assert not replace(profile_of(local), exact_to=-1).smooth_is_exact(9)


@given(
    st.lists(st.floats(0, 1e9), min_size=2, max_size=30).map(sorted),
    st.fractions(0, 3, max_denominator=100),
    st.integers(0, 28),
)
def test_smooth_is_called_exact_only_where_bounds_beyond_change_nothing(local, decay, cut):
    """Whatever the true sensitivities beyond are, which are at least the last exact one."""
    cut = min(cut, len(local) - 2)
    bounded = replace(profile_of(local), exact_to=cut)
    if bounded.smooth_is_exact(decay):
        least = local[: cut + 1] + [local[cut]] * (len(local) - cut - 1)
        assert profile_of(least).smooth(decay) == bounded.smooth(decay)


def test_the_farthest_distance_of_a_rule():
    for reach in range(6):
        for last in range(-1, 8):
            assert last_distance(lambda distance, last=last: distance <= last, reach) == min(last, reach)
