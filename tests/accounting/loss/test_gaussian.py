"""Gaussian noise against quadrature of its definition."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from accounting.loss.profiles import assert_between, normal, of_densities
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events


def exact(mu):
    def delta(direction, epsilon):
        ends = (mu, 0) if direction == 0 else (0, mu)
        return of_densities(*(normal(center) for center in ends), epsilon, -14, mu + 14, kinks=(0, mu))

    return delta


@pytest.mark.parametrize("noise", ["1/3", "1", "4", "50"])
def test_the_profile_is_the_definition(noise):
    pair = pair_of(events.Gaussian(noise_multiplier=noise))
    mu = pair.mu
    assert_between(pair, exact(mu), (-mu, 0.0, mu / 3, mu, 2 * mu * mu), width=1e-9)
    for epsilon in (0.0, mu):
        assert exact(mu)(0, epsilon) == pytest.approx(exact(mu)(1, epsilon), rel=1e-12)


def test_the_cumulant_is_the_integral():
    law = GaussianPair(0.7).law(0, "upper", 10)
    for order in (0.1, 1.0, 5.5):
        moment = mpmath.quad(
            lambda x, s=order: mpmath.npdf(x, 0.7) * mpmath.exp(s * (0.7 * x - 0.7**2 / 2)), [-30, 0, 5, 40]
        )
        assert law.cumulants_at(np.array([order]))[0] == pytest.approx(float(mpmath.log(moment)), rel=1e-12)


def test_a_vector_is_its_length():
    """Random shifts of length 1 in three dimensions, by sampling the definition on the line they span."""
    shift = np.random.default_rng().normal(size=3)
    shift /= np.linalg.norm(shift)
    loss_mean, loss_variance = shift @ shift / 2, shift @ shift
    tilted = GaussianPair(1.0).law(0, "upper", 3).tilted(0.0)
    assert (tilted.mean, tilted.variance) == pytest.approx((loss_mean, loss_variance))
