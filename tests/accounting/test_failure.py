"""Deltas that are exactly those of (epsilon, delta) steps: compared as fractions, never as floats."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import pytest

from discreet.accounting import delta, epsilon
from discreet.accounting.failure import failure
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON

STEP = events.Approximate(epsilon=1, delta=1e-6)
TWO = events.Approximate(epsilon=1, delta=0.1) + events.Approximate(epsilon=2, delta=0.2)


def test_at_its_own_delta_a_step_has_its_own_epsilon():
    found = epsilon(STEP, delta=1e-6)
    assert found.upper == 1
    assert found.lower == pytest.approx(1, rel=1e-14)
    assert epsilon(STEP, delta="0.000000999999999999999999").lower == inf
    assert epsilon(STEP, delta="0.000001000000000000000001").upper == 1
    assert delta(STEP, epsilon=1).lower == pytest.approx(1e-6, rel=1e-15)
    assert Fraction(delta(STEP, epsilon=1).upper) <= Fraction(1, 10**6) * (1 + Fraction(1, 2**52))


def test_failures_compose_as_one_minus_the_product():
    assert failure(
        [(events.Approximate(epsilon=0, delta=0.1), 1), (events.Approximate(epsilon=0, delta=0.2), 1)], 0
    ).upper == Fraction(28, 100)
    found = epsilon(TWO, delta=0.28)
    assert found.upper == 3
    assert found.lower == pytest.approx(3, rel=1e-14)
    assert epsilon(TWO, delta="0.27999999999999999999").lower == inf
    assert epsilon(TWO, delta="0.2801").upper < 3


@pytest.mark.parametrize("times", [2, 300, 10**7])
def test_many_steps(times):
    each = Fraction(1, 10**12)
    run = events.Approximate(epsilon="0.001", delta=each) * times
    fails = failure(run.parts, 0)
    assert times * each - times**2 * each**2 / 2 <= fails.lower <= fails.upper <= times * each
    assert fails.upper - fails.lower <= Fraction(1, 10**30)
    if times <= 300:
        assert fails.lower == fails.upper == 1 - (1 - each) ** times
    assert epsilon(run, delta=times * each * Fraction(99, 100)).lower == inf
    assert epsilon(run, delta=times * each + Fraction(1, 10**9)).upper < inf


def test_samples_fail_less_often_and_only_when_a_unit_is_removed():
    sampled = events.PoissonSampled(STEP, rate=0.5)
    expected = log(1 + 0.5 * (exp(1) - 1))
    assert epsilon(sampled, delta=5e-7).upper == pytest.approx(expected, rel=1e-13)
    assert epsilon(sampled, delta="4.99999999999e-7").lower == inf
    replaced = events.Approximate(epsilon=1, delta=1e-6, neighbors=REPLACE_PERSON)
    fixed = events.SampledWithoutReplacement(replaced, batch=1, population=2)
    assert epsilon(fixed, delta=5e-7).upper == pytest.approx(expected, rel=1e-13)
    assert epsilon(fixed, delta=4e-7).lower == inf
    assert epsilon(fixed, delta=6e-7).lower <= epsilon(fixed, delta=6e-7).upper <= expected * (1 + 1e-12)


def test_beside_normal_noise_the_rest_is_asked_for_what_is_left():
    run = events.Approximate(epsilon=0, delta=1e-6) + events.Gaussian(noise_multiplier=1)
    rest = (Fraction(2, 10**6) - Fraction(1, 10**6)) / (1 - Fraction(1, 10**6))
    assert epsilon(run, delta=2e-6).upper == epsilon(events.Gaussian(noise_multiplier=1), delta=rest).upper
    assert epsilon(run, delta=1e-6).lower == inf


def test_what_always_fails():
    assert epsilon(events.Approximate(epsilon=1, delta=1), delta=0.5).lower == inf
    assert delta(events.Approximate(epsilon=1, delta=1), epsilon=3).upper == 1
