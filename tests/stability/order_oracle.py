"""What every statistic of ordered values is tried on: enumeration where data are few, neighbors otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
from hypothesis import strategies as st

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW, Change
from discreet.stability.enumeration import Enumeration, neighbors_of
from discreet.stability.profile import Profile

STEPS = [(REPLACE_ROW, 1), (ADD_REMOVE_PERSON, 1), (ADD_REMOVE_PERSON, 2), (ADD_REMOVE_PERSON, 3)]
"""Relations with the most values of a person."""

DOMAIN = (0, 1, 3, 7)
"""A grid with gaps of several sizes; its ends are the bounds."""

BOUNDS = {"lower": DOMAIN[0], "upper": DOMAIN[-1]}

DECAYS = [Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(3)]

ROUNDING = 1 + Fraction(1, 2**49)
"""By what a bound that is rounded up may exceed another that is as large."""


def small_data(count, seed, most=5):
    """Return random sorted tuples of up to `most` values of the domain."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most + 1, count)
    return [tuple(sorted(int(value) for value in rng.choice(DOMAIN, size))) for size in sizes]


def oracle(function, relation, rows):
    """Return the enumeration of a statistic of sorted tuples."""
    return Enumeration(function, neighbors_of(DOMAIN, relation=relation, rows=rows))


def farthest(values, relation, rows):
    """Return a distance that is enumerated in time; for one value it is the whole profile."""
    if relation.change is Change.REPLACE:
        return len(values) + 1
    return {1: len(values) + 1, 2: 3, 3: 2}[rows]


def profiles(statistic, function, relation, rows, data):
    """Yield each profile with the local sensitivities of the enumeration, after comparing the answers."""
    enumeration = oracle(function, relation, rows)
    for values in data:
        profile = statistic(np.array(values, dtype=np.int64), relation=relation, rows=rows, **BOUNDS)
        assert profile.value == enumeration.answer(values)
        yield profile, enumeration.profile(values, farthest(values, relation, rows))


def check_exact(statistic, function, relation, rows, data):
    """Check that local and smooth sensitivities are those of the enumeration."""
    for profile, local in profiles(statistic, function, relation, rows, data):
        assert [profile.local_at(k) for k in range(len(local))] == local
        if local[-1] == profile.local_at(profile.reach):  # the whole profile was enumerated
            for decay in DECAYS:
                exact = max(math.exp(-float(decay) * k) * float(size) for k, size in enumerate(local))
                assert math.isclose(float(profile.smooth(decay)), exact, rel_tol=1e-11, abs_tol=1e-55)


def check_bound(statistic, function, step, data, *, most):
    """Check that local sensitivities are never below those of the enumeration, nor `most` times as large."""
    for profile, local in profiles(statistic, function, *step, data):
        for distance, size in enumerate(local):
            assert size <= profile.local_at(distance) <= max(most * size, profile.local_at(0))


def check_smooth(profile, other, decay):
    """Check that smooth sensitivities of neighbors differ by at most e^(decay + SLACK), distances by one."""
    for one, two in ((profile, other), (other, profile)):
        for distance in range(one.reach + 2):
            assert one.local_at(distance) <= two.local_at(distance + 1) * ROUNDING
        with mpmath.workdps(40):
            factor = mpmath.exp(
                mpmath.mpf((decay + Profile.SLACK).numerator) / (decay + Profile.SLACK).denominator
            )
            sizes = [
                mpmath.mpf(size.numerator) / size.denominator
                for size in (one.smooth(decay), two.smooth(decay))
            ]
            assert sizes[0] <= factor * sizes[1]


@st.composite
def neighbors(draw, most=25):
    """Draw data of up to `most` values, neighboring data, the relation and the most values of a person."""
    relation, rows = draw(st.sampled_from([*STEPS, (ADD_REMOVE_PERSON, 5)]))
    value = st.one_of(st.integers(0, 5), st.integers(0, 1000), st.sampled_from([0, 1000]))
    values = draw(st.lists(value, max_size=most))
    changed = draw(st.lists(value, min_size=1, max_size=rows))
    if relation.change is Change.REPLACE:
        return values, [*values[1:], changed[0]] if values else values, relation, rows
    return values, values + changed, relation, rows


def check_neighbors(statistic, drawn, decay):
    """Check smoothness on a drawn pair."""
    one, two, relation, rows = drawn
    first, second = (
        statistic(np.array(values, dtype=np.int64), lower=0, upper=1000, relation=relation, rows=rows)
        for values in (one, two)
    )
    check_smooth(first, second, decay)
