"""One Gaussian step on a sample, from the step on all data and back."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from discreet import accounting
from discreet.accounting.runs.one_sample import scaled_delta, step_epsilon, whole_epsilon
from discreet.privacy import events

RATES = [1e-12, 1e-5, 0.01, 0.5, 0.999]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("whole", [0.0, 1e-9, 0.3, 20.0, 599.0, 650.0])
def test_epsilons_are_rounded_to_the_safe_side(rate, whole):
    with mpmath.workdps(400):
        exact = mpmath.log(1 + mpmath.mpf(rate) * (mpmath.exp(mpmath.mpf(whole)) - 1))
        low, high = (step_epsilon(whole, rate, above=above) for above in (False, True))
        assert low <= exact <= high
        assert high - low <= 1e-12 * high
        back = mpmath.log(1 + (mpmath.exp(mpmath.mpf(high)) - 1) / mpmath.mpf(rate))
        low, high = (whole_epsilon(high, rate, above=above) for above in (False, True))
        assert low <= back <= high


@pytest.mark.parametrize("rate", RATES)
def test_deltas_are_rounded_to_the_safe_side(rate):
    exact = Fraction(1e-7) / Fraction(rate)
    assert scaled_delta(1e-7, rate, above=False) < exact < scaled_delta(1e-7, rate, above=True)


def _profile(sigma, rate, epsilon):
    """The delta of one step on a sample, with sixty digits."""
    mu, whole = 1 / sigma, mpmath.log1p(mpmath.expm1(epsilon) / rate)
    first, second = mpmath.ncdf(mu / 2 - whole / mu), mpmath.ncdf(-mu / 2 - whole / mu)
    return rate * (first - mpmath.exp(whole) * second)


@pytest.mark.parametrize("kind", ["next to delta(0)", "far out", "usual"])
def test_certificates_hold_where_floats_cancel(kind):
    rng = random.Random(f"one sample, {kind}")
    with mpmath.workdps(60):
        for _ in range(25):
            sigma = Fraction(f"{10 ** rng.uniform(-1, 7):.4g}")
            rate = Fraction(f"{10 ** rng.uniform(-6, 0):.3g}")
            real = [mpmath.mpf(x.numerator) / x.denominator for x in (sigma, rate)]
            share = {
                "next to delta(0)": 1 - mpmath.mpf(10) ** rng.uniform(-15, -3),
                "far out": mpmath.mpf(10) ** rng.uniform(-280, -10),
                "usual": mpmath.mpf(10) ** rng.uniform(-10, 0),
            }[kind]
            delta = float(_profile(*real, mpmath.mpf(0)) * share)
            event = events.PoissonSampled(events.Gaussian(noise_multiplier=sigma), rate=rate)
            if delta < 1e-290:
                continue
            found = accounting.epsilon(event, delta=Fraction(delta))
            assert _profile(*real, mpmath.mpf(found.upper)) <= delta
            assert found.lower == 0 or _profile(*real, mpmath.mpf(found.lower)) >= delta
            for at in (found.upper, 10 ** rng.uniform(-8, 1)):
                bounds = accounting.delta(event, epsilon=Fraction(at))
                assert bounds.lower <= _profile(*real, mpmath.mpf(at)) <= bounds.upper


def test_a_rate_of_one_and_a_replaced_unit_are_enclosed_too():
    for event, mu in (
        (events.PoissonSampled(events.Gaussian(noise_multiplier=10**6), rate=1), Fraction(1, 10**6)),
        (events.ReplacedPoissonGaussian(noise_multiplier=10**6, rate=1), Fraction(2, 10**6)),
    ):
        with mpmath.workdps(60):
            real = mpmath.mpf(mu.numerator) / mu.denominator
            at = mpmath.mpf(3e-5)
            exact = mpmath.ncdf(real / 2 - at / real) - mpmath.exp(at) * mpmath.ncdf(-real / 2 - at / real)
            found = accounting.delta(event, epsilon=Fraction(3e-5))
            assert found.lower <= exact <= found.upper
            assert found.upper - found.lower <= 1e-9 * exact
