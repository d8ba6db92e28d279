"""Tails of combinations of Laplace noise: bounds for all coefficients, and hardly more than one noise has."""

from __future__ import annotations

from math import exp, log, sqrt

import mpmath
import numpy as np
import pytest
from scipy import optimize, stats

from discreet.mechanisms import Laplace
from discreet.workloads.error.laplace_tails import laplace_units, mixture_tail
from significance import FALSE_ALARM


def hypoexponential_tail(weights, t):
    """P(abs(L) > t) for continuous noise of scale 1 and coefficients of different sizes, in closed form.

    The law is a mixture of Laplace laws with scales abs(c_i) and weights prod c_i^2 / (c_i^2 - c_j^2).
    """
    total = mpmath.mpf(0)
    for place, own in enumerate(weights):
        others = [other for at, other in enumerate(weights) if at != place]
        share = mpmath.fprod(own**2 / (own**2 - other**2) for other in others)
        total += share * mpmath.exp(-mpmath.mpf(t) / abs(own))
    return total


@pytest.mark.parametrize("t", [0.3, 1.0, 2.0, 3.0, 5.0, 9.0])
def test_the_bound_holds_for_all_coefficients(t):
    """Exact tails of random unit vectors, from nearly one term to many nearly equal ones."""
    draw = np.random.default_rng(5)
    for size in (1, 2, 3, 5, 12):
        for power in (0.02, 0.5, 1, 4):
            raw = np.abs(draw.normal(size=size)) ** power + 1e-3 * np.arange(1, size + 1)
            weights = [mpmath.mpf(float(x)) for x in raw / np.sqrt((raw**2).sum())]
            with mpmath.workdps(60):
                assert hypoexponential_tail(weights, t) <= mixture_tail(t)


@pytest.mark.parametrize("failure", [0.2, 0.05, 0.01, 1e-4])
def test_the_bound_is_hardly_more_than_one_noise_needs(failure):
    alone = -log(failure)
    assert (
        alone
        <= laplace_units(failure, 1e9)
        <= alone * {0.2: 1.18, 0.05: 1.04, 0.01: 1.02, 1e-4: 1.02}[failure]
    )


@pytest.mark.parametrize("failure", [0.3, 0.05, 1e-3])
def test_integration_never_falls_short(failure):
    t = -log(failure)
    bend = t * t / 6
    exact = mpmath.quad(lambda s: mpmath.erfc(t / (2 * mpmath.sqrt(s))) * mpmath.exp(-s), [0, bend / 4, bend])
    slope = exp(-1.5) / sqrt(2 * np.pi) * sqrt(3) / bend
    exact += exp(-bend) * (float(mpmath.erfc(t / (2 * sqrt(bend)))) + slope)
    assert float(exact) <= mixture_tail(t) <= float(exact) * 1.003


def best_certified(failure, scale):
    """The least t that the propositions certify, over all ways to share the failure probability.

    Mixtures with Hoeffding's bound for discrete noise, P <= tail(t - u / b) + 2 exp(-u^2 / 2); or Chernoff's
    bound, 2 exp(-x t) / (1 - x^2) for the best x; or Chebyshev's, 2 / t^2.
    """

    def chernoff(x):
        return (log(2 / failure) - log(1 - x * x)) / x

    def mixed(logarithm):
        share = exp(logarithm)
        own = optimize.brentq(lambda t: mixture_tail(t) - failure * (1 - share), 1e-3, 100, rtol=1e-6)
        return own + sqrt(2 * log(2 / (failure * share))) / scale

    found = optimize.minimize_scalar(chernoff, bounds=(1e-6, 1 - 1e-9), method="bounded").fun
    shared = optimize.minimize_scalar(
        mixed, bounds=(-14, -0.01), method="bounded", options={"xatol": 0.01}
    ).fun
    return min(found, shared, sqrt(2 / failure))


@pytest.mark.parametrize("scale", [0.3, 8, 300])
@pytest.mark.parametrize("failure", [0.7, 0.2, 1e-4])
def test_no_less_is_claimed_than_is_proven_and_hardly_more(failure, scale):
    """Between what every way to share the failure probability certifies, and a few percent above."""
    proven = best_certified(failure, scale)
    assert proven * (1 - 1e-4) <= laplace_units(failure, scale) <= proven * 1.05


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [1, 4, 50])
@pytest.mark.parametrize("coefficients", [[1], [1, 1], [3, 1, 1, 1], [1] * 40, [5, *[1] * 30]])
def test_discrete_noise_keeps_to_it(scale, coefficients):
    mechanism = Laplace(sensitivity=1, scale=scale)
    row = np.array(coefficients)
    drawn = np.array([mechanism.release(np.zeros(len(row), np.int64)) for _ in range(4000)]) @ row
    for failure in (0.2, 0.05):
        limit = laplace_units(failure, float(scale)) * scale * sqrt((row**2).sum())
        assert (np.abs(drawn) > limit).sum() <= stats.binom.isf(FALSE_ALARM, 4000, failure)


def test_discrete_noise_lies_within_a_step_of_continuous_noise():
    """P(abs(Z) >= k) <= P(abs(N) >= k) <= P(abs(Z) >= k - 1), which is what the coupling needs."""
    for scale in (0.05, 0.5, 1, 3, 100):
        ratio = exp(-1 / scale)
        for k in range(1, 60):
            discrete = 2 * ratio**k / (1 + ratio)
            assert exp(-k / scale) <= discrete * (1 + 1e-12)
            assert discrete <= exp(-(k - 1) / scale) * (1 + 1e-12)
