"""Tight intervals against exact answers, known references and another accountant."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, isfinite, log

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant

from discreet.accounting import delta, epsilon
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_PERSON

ROUNDED = events.RoundedGaussian(squared_sensitivity=1, variance=9)


def gaussian(noise_multiplier):
    return events.Gaussian(noise_multiplier=noise_multiplier)


def sampled(noise_multiplier, rate):
    return events.PoissonSampled(gaussian(noise_multiplier), rate=rate)


REFERENCES = {
    "the lecture's run": (sampled(4, "0.01") * 10_000, 1e-5, 0.9468668),
    "little noise, rare samples": (sampled("0.8", "0.001") * 100_000, 1e-6, 2.9144783),
    "Gaussian": (gaussian(10) * 1000, 1e-6, 19.4236565),
    "Laplace": (events.Laplace(epsilon="0.1") * 1000, 1e-6, 18.9502874),
    "mixed": (
        events.Laplace(epsilon="0.05") * 50 + gaussian(20) * 200 + sampled(1, "0.01") * 1000,
        1e-6,
        4.3474302,
    ),
    "a million steps": (sampled(4, "0.001") * 10**6, 1e-6, 1.0794145),
    "skewed": (sampled(1, "0.0001") * 10**6, 1e-6, 0.5324212),
    "large epsilon": (sampled(1, "0.2") * 500, 1e-5, 38.1702472),
    "tiny epsilon": (sampled(50, "0.001") * 1000, 1e-10, 0.00303731),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_intervals_hold_the_reference_and_are_narrow(name):
    event, failure, reference = REFERENCES[name]
    found = epsilon(event, delta=failure)
    assert found.certified
    assert found.lower <= reference * (1 + 1e-6)
    assert found.upper >= reference * (1 - 1e-6)
    assert found.width <= 1e-4 * found.upper


def binomial_delta(loss: Fraction, times: int, at: float) -> mpmath.mpf:
    """The exact delta of randomized response, run several times: a sum over how often the truth is told."""
    with mpmath.workdps(60):
        e = mpmath.mpf(loss.numerator) / loss.denominator
        truth = 1 / (1 + mpmath.exp(-e))
        total = mpmath.mpf(0)
        for told in range(times + 1):
            gain = 1 - mpmath.exp(at - (2 * told - times) * e)
            if gain > 0:
                mass = mpmath.binomial(times, told) * truth**told * (1 - truth) ** (times - told)
                total += mass * gain
        return total


@pytest.mark.parametrize(("loss", "times"), [("0.1", 100), ("0.5", 3), ("1", 30), ("0.01", 2000)])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_pure_steps_are_the_exact_binomial(loss, times, share):
    at = share * float(Fraction(loss)) * times
    exact = binomial_delta(Fraction(loss), times, at)
    found = delta(events.Pure(epsilon=loss) * times, epsilon=at)
    assert found.lower <= exact <= found.upper
    assert found.width <= 1e-3 * found.upper + 1e-300


@pytest.mark.parametrize("mu", [1e-8, 1e-6, 1e-4, 0.01, 0.3, 2.0, 20.0])
@pytest.mark.parametrize("failure", [1e-12, 1e-5, 0.05])
def test_gaussians_agree_with_the_closed_form(mu, failure):
    found = epsilon(events.Gaussian(noise_multiplier=Fraction(1) / Fraction(str(mu))), delta=failure)
    if found.upper == 0:
        return
    with mpmath.workdps(50):
        shift, target = mpmath.mpf(repr(mu)), mpmath.mpf(repr(failure))  # a float means its shortest decimal

        def exact(at):
            near, far = shift / 2 - at / shift, -shift / 2 - at / shift
            return mpmath.ncdf(near) - mpmath.exp(at) * mpmath.ncdf(far)

        assert exact(mpmath.mpf(found.upper)) <= target <= exact(mpmath.mpf(found.lower))
    assert found.width <= 3e-16 * found.upper


@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_laplace_at_one_step_is_randomized_response(shift):
    """One value: a lattice of losses, whose composition is summed here by brute force."""
    event = events.DiscreteLaplace(sensitivity=shift, scale=5, size=1)
    ratio = exp(-1 / 5)
    law = {shift: 1 / (1 + ratio), -shift: ratio**shift / (1 + ratio)}
    for y in range(1, shift):
        law[shift - 2 * y] = law.get(shift - 2 * y, 0) + (1 - ratio) / (1 + ratio) * ratio**y
    total = {0: 1.0}
    for _ in range(20):
        mixed: dict[int, float] = {}
        for a, p in total.items():
            for b, q in law.items():
                mixed[a + b] = mixed.get(a + b, 0.0) + p * q
        total = mixed
    for at in (0.3, 1.0, 2.2):
        exact = sum(p * max(0.0, 1 - exp(at - steps / 5)) for steps, p in total.items())
        found = delta(event * 20, epsilon=at)
        assert found.lower <= exact * (1 + 1e-9)
        assert found.upper >= exact * (1 - 1e-9)
        assert found.width <= 1e-3 * found.upper


def random_run(generator):
    """A random composition, and the same for the other accountant."""
    noise = float(np.round(np.exp(generator.uniform(log(0.6), log(20))), 3))
    rate = float(np.round(np.exp(generator.uniform(log(1e-3), log(0.5))), 5))
    times = int(np.exp(generator.uniform(log(max(100, 5 / rate)), log(3e4))))
    return sampled(str(noise), str(rate)) * times, (noise, rate, times)


@pytest.mark.few(6)
@pytest.mark.parametrize("trial", range(12))
def test_another_accountant_agrees(trial):
    """Its answer is an upper bound; with its own lower bound it must meet the interval."""
    generator = np.random.default_rng()
    event, (noise, rate, times) = random_run(generator)
    failure = float(10 ** generator.uniform(-9, -2))
    found = epsilon(event, delta=failure)
    assert found.certified
    assert isfinite(found.upper)
    assert found.lower <= found.upper
    assert found.width <= 1e-3 * found.upper + 1e-12, (noise, rate, times, failure)
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    theirs = PLDAccountant(value_discretization_interval=1e-4).compose(step, times).get_epsilon(failure)
    assert found.lower <= theirs * (1 + 1e-6) + 1e-9, (noise, rate, times, failure)
    slack = 1e-4 * times**0.5 + 5e-3 * theirs  # how far its discretization may be off
    assert found.upper >= theirs - slack, (noise, rate, times, failure)


def test_curves_fall():
    run = sampled(2, "0.05") * 500
    deltas = [delta(run, epsilon=at) for at in (0.5, 1, 2, 4)]
    assert all(a.upper > b.upper for a, b in pairwise(deltas))
    back = epsilon(run, delta=deltas[1].upper)
    assert back.lower <= 1.0 <= back.upper * (1 + 1e-3)


def test_parallel_parts_cost_their_maximum():
    small, large = events.Laplace(epsilon="0.1"), events.Laplace(epsilon="0.4")
    together = epsilon(events.Parallel(small * 5, large) + small, delta=1e-6)
    apart = max(float(epsilon(small * 6, delta=1e-6)), float(epsilon(large + small, delta=1e-6)))
    assert together.lower == pytest.approx(apart, rel=1e-9)
    assert apart <= together.upper <= apart * (1 + 1e-6)


def test_under_replace_two_parts_are_touched():
    first = events.RandomizedResponse(truth="3/4", neighbors=REPLACE_PERSON)
    second = events.RandomizedResponse(truth="2/3", neighbors=REPLACE_PERSON)
    parts = epsilon(events.Parallel(first, second), delta=0)
    assert parts.upper == pytest.approx(log(3) + log(2))


def test_delta_zero_and_nothing():
    assert epsilon(events.Laplace(epsilon=1) * 3, delta=0).upper == pytest.approx(3)
    assert epsilon(gaussian(1), delta=0).upper == float("inf")
    assert epsilon(events.Nothing, delta=0).upper == 0
    assert epsilon(events.Approximate(epsilon=1, delta=0.01), delta=0.001).upper == float("inf")


def test_what_has_no_pair_gets_an_upper_bound_and_says_so():
    found = epsilon(events.ZeroConcentrated(rho="0.1") * 3, delta=1e-6)
    assert found.lower == 0
    assert not found.certified
    assert found.method == "Rényi"
    assert isfinite(found.upper)


@pytest.mark.parametrize("bad", [-0.1, 1, 1.5, float("nan"), float("inf"), "x", None, True])
def test_bad_deltas_are_refused(bad):
    with pytest.raises(ParameterError, match="delta"):
        epsilon(gaussian(1), delta=bad)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), "x", None])
def test_bad_epsilons_are_refused(bad):
    with pytest.raises(ParameterError, match="epsilon"):
        delta(gaussian(1), epsilon=bad)


def test_what_is_no_event_is_refused():
    with pytest.raises(ParameterError, match="event"):
        epsilon(3, delta=0.1)


@pytest.mark.parametrize(
    "event",
    [
        events.Pure(epsilon=0) * 10,
        sampled(1, 0) * 10,
        sampled(1, "1e-12") * 100,
        events.Laplace(epsilon="1e-8") * 1000,
    ],
)
def test_next_to_nothing_costs_nothing(event):
    assert epsilon(event, delta=1e-6).upper <= 1e-9


def test_extreme_runs_end():
    assert epsilon(events.Pure(epsilon=50) * 20, delta=1e-6).upper == pytest.approx(1000, rel=0.05)
    assert epsilon(events.Pure(epsilon=5000) * 2, delta=1e-6).upper >= 5000
    assert epsilon(sampled(100, "0.001") * 10**9, delta=1e-6).upper == pytest.approx(1.36761, abs=1e-4)


@pytest.mark.parametrize(
    "event",
    [
        ROUNDED * 3,
        ROUNDED + events.Gaussian(noise_multiplier=2),
        events.PoissonSampled(ROUNDED, rate=0.1) * 5,
        events.Parallel(ROUNDED, events.Laplace(epsilon=1)),
    ],
    ids=["steps", "beside ideal noise", "sampled", "in parallel"],
)
def test_rounded_noise_claims_nothing_from_below(event):
    """Rounding tells less than the ideal noise: the bound of that is one from above only."""
    found, small = epsilon(event, delta=1e-6), delta(event, epsilon=0.5)
    assert found.lower == small.lower == 0
    assert 0 < found.upper < 60
    assert 0 < small.upper < 1


def test_an_interval_is_printed_as_a_sentence():
    shown = str(epsilon(events.Gaussian(noise_multiplier=1), delta=1e-5))
    assert shown == "at most 4.37718 and at least 4.37717 (closed form; certified; add-remove person)"
    endless = str(epsilon(events.Gaussian(noise_multiplier=1), delta=0))
    assert endless == "at most infinity (closed form; certified; add-remove person)"
