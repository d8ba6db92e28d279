"""A referee with seeds of its own: random event trees against enumeration, and what accountants keep."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from accounting.referee import adaptive_delta, number, random_event, random_step
from discreet.accounting import delta, epsilon
from discreet.privacy import events
from randomness import some_seed

pytestmark = pytest.mark.slow

TREES = 40


def fresh():
    seed = some_seed()
    return seed, random.Random(seed)


def tiny(x):
    return x * mpmath.mpf(10) ** -20 + mpmath.mpf(10) ** -30


def test_bounds_hold_the_truth():
    seed, rng = fresh()
    for _ in range(TREES):
        event = random_event(rng)
        at = Fraction(f"{rng.choice([0, rng.uniform(0, 1), rng.uniform(0, 12)]):.4g}")
        target = Fraction(f"{10 ** -rng.uniform(0.01, 9):.3g}")
        case = f"seed {seed}: {event!r} at epsilon {at}, delta {target}"
        with mpmath.workdps(40):
            found, truth = delta(event, epsilon=at), adaptive_delta(event, number(at))
            assert found.lower <= truth * (1 + 1e-12) + tiny(1), case
            assert truth <= found.upper + tiny(truth), case
            solved = epsilon(event, delta=target)
            if solved.upper < 1e6:
                assert adaptive_delta(event, mpmath.mpf(solved.upper)) <= number(target) + tiny(
                    number(target)
                ), case
            if 0 < solved.lower < 1e6:
                assert adaptive_delta(event, mpmath.mpf(solved.lower)) >= number(target) - tiny(
                    number(target)
                ), case
            if solved.lower == float("inf"):
                assert adaptive_delta(event, mpmath.mpf(200)) >= number(target), case


def test_what_any_accountant_must_keep():
    seed, rng = fresh()
    for _ in range(TREES // 2):
        event, more = random_event(rng), random_step(rng)
        deltas = sorted(Fraction(f"{10 ** -rng.uniform(0.1, 9):.3g}") for _ in range(2))
        losses = sorted(Fraction(f"{rng.uniform(0, 5):.4g}") for _ in range(2))
        case = f"seed {seed}: {event!r} and {more!r} at {deltas}, {losses}"
        assert epsilon(event, delta=deltas[0]).upper >= epsilon(event, delta=deltas[1]).lower, case
        assert delta(event, epsilon=losses[0]).upper >= delta(event, epsilon=losses[1]).lower, case
        assert event + more == more + event, case
        assert sum([event] * 3) == event * 3, case
        assert epsilon(event + more, delta=deltas[0]).upper >= epsilon(event, delta=deltas[0]).lower, case
        assert epsilon(more * 3, delta=deltas[0]) == epsilon(more + more + more, delta=deltas[0]), case


def test_what_is_known_by_a_curve_alone_is_never_below_its_law():
    seed, rng = fresh()
    for _ in range(TREES):
        noise, times = Fraction(f"{10 ** rng.uniform(-1, 2):.3g}"), rng.choice([1, 3, 50])
        target = Fraction(f"{10 ** -rng.uniform(0.1, 12):.3g}")
        law = events.Gaussian(noise_multiplier=noise) * times
        curve = events.ZeroConcentrated(rho=1 / (2 * noise**2)) * times
        case = f"seed {seed}: {law!r} at {target}"
        assert epsilon(curve, delta=target).upper >= epsilon(law, delta=target).lower, case
        size = rng.choice([2, 3])
        group = epsilon(events.group(law, size), delta=target)
        assert group.upper >= epsilon(law, delta=target).upper * (1 - 1e-12), case
        sampled = events.PoissonSampled(
            events.Gaussian(noise_multiplier=max(noise, Fraction(1, 2))), rate="0.05"
        )
        assert (
            epsilon(events.group(sampled, size), delta=target).upper >= epsilon(sampled, delta=target).lower
        ), case
