"""Deltas that are exactly those of (epsilon, delta) steps: compared as fractions, never as floats."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp, inf, log

import pytest

from discreet.accounting import delta, epsilon
from discreet.accounting.loss import pair_of
from discreet.accounting.runs.failure import fails, failure
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


LAWS = events.FiniteLaws(outcomes=[("0.1", 0), ("0.6", "0.3"), ("0.3", "0.6"), (0, "0.1")])
POINT = events.PrivacyProfile(points=[("0.5", "0.001"), (1, "0.000001")])


@pytest.mark.parametrize(
    ("event", "at", "expected"),
    [
        (LAWS, "0.1", log(2)),
        (LAWS * 2, "0.19", 2 * log(2)),
        (POINT, "0.000001", 1),
        (POINT * 2, "0.000001999999", 2),
        (events.PoissonSampled(POINT, rate="0.5"), "0.0000005", log(1 + 0.5 * (exp(1) - 1))),
        (events.PoissonSampled(LAWS, rate="0.5"), "0.05", log(1.5)),
        (
            events.CappedPoissonSampled(STEP, rate="0.5", most=9, population=5),
            "0.0000005",
            log(1 + 0.5 * (exp(1) - 1)),
        ),
    ],
)
def test_finite_laws_and_profiles_have_their_largest_loss_at_their_own_delta(event, at, expected):
    found = epsilon(event, delta=at)
    assert found.lower <= expected * (1 + 1e-14)
    assert found.upper == pytest.approx(expected, rel=1e-12)
    assert found.lower == pytest.approx(expected, rel=1e-12)
    assert epsilon(event, delta=Fraction(at) * (1 - Fraction(1, 10**15))).lower == inf


def test_a_full_batch_may_fail_more_often_and_nothing_is_claimed_from_below():
    capped = events.CappedPoissonSampled(STEP, rate="0.5", most=3, population=5)
    found = epsilon(capped, delta="0.0000005")
    assert found.lower == pytest.approx(0.62011450695827, rel=1e-12)
    assert found.upper == inf


def test_laws_that_fail_more_often_when_a_unit_is_added_are_not_bounded_by_the_other_direction():
    # Removing the unit never fails; adding it has the loss log 3 with probability 1/2.
    laws = events.FiniteLaws(outcomes=[(1, "1/2"), (0, "1/2")])
    sampled = events.PoissonSampled(laws, rate="2/3")
    assert epsilon(sampled, delta=0).lower == pytest.approx(log(3), rel=1e-14)
    beside = sampled + events.PoissonSampled(events.Approximate(epsilon="0.1", delta="0.1"), rate="0.9")
    # Adding: losses log 3 and log 10 together, with probability 1/2 * 1/10.
    at = log(3) + 1
    assert delta(beside, epsilon=Fraction(at)).upper >= 0.05 * (1 - exp(at) / 30)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_apart_is_what_the_pairs_call_infinite(seed):
    rng = random.Random(seed)
    for _ in range(60):
        step = _random_step(rng)
        pair = pair_of(step)
        if pair is None:
            continue
        for direction in (0, 1):
            for side in ("upper", "lower"):
                law = pair.law(direction if pair.directions == 2 else 0, side, 50)
                assert law.infinity == pytest.approx(
                    float(fails(step, direction, side)), rel=1e-11, abs=1e-15
                )


def _random_step(rng):
    replaced = rng.random() < 0.4
    relation = {"neighbors": REPLACE_PERSON} if replaced else {}

    def laws():
        p, q = ([2] + [rng.randint(0, 6) for _ in range(rng.randint(1, 4))] for _ in range(2))
        both = list(zip(p, q, strict=False))
        left, right = (sum(side) + rng.randint(0, 1) for side in zip(*both, strict=True))
        return [(Fraction(a, left), Fraction(b, right)) for a, b in both]

    step = rng.choice(
        [
            events.FiniteLaws(outcomes=laws(), **relation),
            events.FiniteLaws(outcomes=laws(), **(relation or {"added": laws()})),
            events.PrivacyProfile(points=[(1, Fraction(rng.randint(0, 4), 9)), (2, "1/30")], **relation),
            events.Approximate(epsilon=1, delta="1/7", **relation),
        ]
    )
    if rng.random() < 0.4:
        return step
    if replaced:
        return events.SampledWithoutReplacement(step, batch=rng.randint(0, 4), population=4)
    return events.PoissonSampled(step, rate=Fraction(rng.randint(0, 4), 4))
