"""Shuffled answers to a yes-or-no question, by enumeration of every crowd."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from scipy import stats

from accounting.loss.profiles import of_masses
from discreet import accounting
from discreet.accounting import theorems
from discreet.accounting.loss.pair import pair_of
from discreet.accounting.loss.shuffled_response import _crowds
from discreet.privacy import events
from discreet.privacy.directed import exp_interval


def _laws(people, ones, truth):
    """The number of yeses if the person holds a yes and if not; `ones` of the others hold one."""
    others = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, truth),
        stats.binom.pmf(np.arange(people - ones), people - 1 - ones, 1 - truth),
    )
    return np.convolve(others, [1 - truth, truth]), np.convolve(others, [truth, 1 - truth])


def _worst(people, truth, epsilon, crowds):
    found = [of_masses(*laws, epsilon) for ones in crowds for laws in (_laws(people, ones, truth),)]
    return max(found + [of_masses(*_laws(people, ones, truth)[::-1], epsilon) for ones in crowds])


@pytest.mark.parametrize(("people", "truth"), [(2, 0.7), (3, 0.9), (12, 0.6), (40, 0.75), (150, 0.9)])
def test_no_crowd_exceeds_the_pair_and_the_worst_comes_close(people, truth):
    pair = pair_of(events.Shuffled(events.RandomizedResponse(truth=str(truth)), people=people))
    above = pair.law(0, "upper", 1)
    for share in (0.0, 0.03, 0.1, 0.3, 0.6, 0.95):
        epsilon = share * log(truth / (1 - truth))
        exact = _worst(people, truth, epsilon, range(people))
        found = above.delta(epsilon) + above.infinity
        assert exact <= found * (1 + 1e-12) + 1e-15
        assert found <= exact * 1.1 + 1e-20
        for direction in range(2):
            assert pair.law(direction, "lower", 1).delta(epsilon) <= exact * (1 + 1e-9) + 1e-30


def test_negative_epsilons_are_covered_too():
    pair = pair_of(events.Shuffled(events.RandomizedResponse(truth="3/4"), people=12))
    above = pair.law(0, "upper", 1)
    for epsilon in np.linspace(-1.2, 0, 7):
        assert _worst(12, 0.75, epsilon, range(12)) <= above.delta(epsilon) + above.infinity + 1e-14


@pytest.mark.parametrize(("people", "truth"), [(1000, "3/4"), (10_000, "9/10")])
def test_epsilon_is_known_from_both_sides_and_well_below_the_clones(people, truth):
    event = events.Shuffled(events.RandomizedResponse(truth=truth), people=people)
    found = accounting.epsilon(event, delta=1e-6)
    assert found.certified
    assert found.upper <= found.lower * 1.002
    assert found.upper < 0.7 * theorems.shuffled_epsilon(event.inner.epsilon, people, 1e-6)
    some = [0, 1, 5, people // 4, people // 2, people - 1]
    assert _worst(people, event.inner.truth.__float__(), found.upper, some) <= 1e-6 * (1 + 1e-9)


def test_blocks_cover_every_crowd_up_to_half():
    for people in (2, 3, 10, 101, 5000):
        covered = []
        for others, ones in _crowds(people):
            covered += range(ones, ones + people - 1 - others + 1)
        assert covered == list(range((people - 1) // 2 + 1))


def test_a_crowd_of_which_some_reports_are_told_hides_less():
    """What blocks rely on: m to m + j yeses of n are covered by m yeses of n - j."""
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        for ones, told in ((0, 3), (5, 4)):
            most = max(of_masses(*_laws(30 - told, ones, 0.75), epsilon), 0)
            most = max(most, of_masses(*_laws(30 - told, ones, 0.75)[::-1], epsilon))
            for more in range(told + 1):
                laws = _laws(30, ones + more, 0.75)
                assert max(of_masses(*laws, epsilon), of_masses(*laws[::-1], epsilon)) <= most + 1e-14


def test_compositions_are_covered():
    event = events.Shuffled(events.RandomizedResponse(truth="3/4"), people=6)
    p, q = _laws(6, 0, 0.75)
    other = _laws(6, 5, 0.75)
    for epsilon in (0.2, 0.8):
        found = accounting.delta(event * 2, epsilon=epsilon)
        alike = of_masses(np.outer(q, q).ravel(), np.outer(p, p).ravel(), epsilon)
        mixed = of_masses(np.outer(q, other[1]).ravel(), np.outer(p, other[0]).ravel(), epsilon)
        assert found.upper >= max(alike, mixed) - 1e-12
        assert (
            found.lower
            <= max(alike, of_masses(np.outer(p, p).ravel(), np.outer(q, q).ravel(), epsilon)) + 1e-12
        )


def test_the_ends_of_a_cut_range_claim_nothing_from_below():
    """There a count misses a neighbor; far out, its loss would be larger than any that is attained."""
    pair = pair_of(events.Shuffled(events.RandomizedResponse(truth="3/4"), people=300))
    epsilon = 0.9 * log(3)
    exact = _worst(300, 0.75, epsilon, [0, 1, 2, 298, 299])
    assert 0 < exact < 1e-32
    for direction in range(2):
        assert pair.law(direction, "lower", 1).delta(epsilon) <= exact * (1 + 1e-6)


def _count_of_yeses(truth, people, ones, own):
    """The exact law of the number of yeses, as fractions."""
    law = [Fraction(1)]
    for chance in [truth] * ones + [1 - truth] * (people - 1 - ones) + [truth if own else 1 - truth]:
        law = [a * (1 - chance) + b * chance for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


@pytest.mark.parametrize("people", [2, 3, 8])
@pytest.mark.parametrize("digits", [1, 4, 10, 14])
def test_answers_that_are_nearly_always_true_keep_the_digits_of_a_lie(people, digits):
    truth = 1 - Fraction(1, 3 * 10**digits)
    event = events.Shuffled(events.RandomizedResponse(truth=truth), people=people)
    largest = log(float(truth / (1 - truth)))
    for share in (0.0, 0.3, 0.8, 0.99, 1 - 1e-6):
        epsilon = Fraction(share * largest)
        ratio = exp_interval(epsilon)[0]
        exact = Fraction(0)
        for ones in range(people):
            yes, no = (_count_of_yeses(truth, people, ones, own) for own in (True, False))
            for p, q in ((yes, no), (no, yes)):
                exact = max(exact, sum(max(a - ratio * b, Fraction(0)) for a, b in zip(p, q, strict=True)))
        found = accounting.delta(event, epsilon=epsilon)
        near = Fraction(1, 10**25)
        assert Fraction(found.lower) <= exact * (1 + near)
        assert exact <= Fraction(found.upper) * (1 + near)
