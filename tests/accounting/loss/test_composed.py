"""Several releases about one sample: products of pairs."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np
import pytest

from accounting.loss.profiles import of_masses, upper
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events


def test_gaussians_are_one_gaussian():
    run = events.Gaussian(noise_multiplier=2) * 3 + events.Gaussian(noise_multiplier=1)
    assert pair_of(run) == GaussianPair(pytest.approx((3 / 4 + 1) ** 0.5))


def test_finite_pairs_multiply():
    run = events.Pure(epsilon="0.5") * 2 + events.DiscreteLaplace(sensitivity=2, scale=3)
    laws = []
    for epsilon in (0.5, 0.5):
        truth = 1 / (1 + exp(-epsilon))
        laws.append([(truth, 1 - truth), (1 - truth, truth)])
    ratio = exp(-1 / 3)
    plain = np.array([1, (1 - ratio) * ratio, ratio**2]) / (1 + ratio)
    laws.append(list(zip(plain[::-1], plain, strict=True)))
    p, q = np.array([np.prod(outcome, axis=0) for outcome in product(*laws)]).T
    for rate, at in product((1.0, 0.2), (-0.5, 0.0, 0.1, 1.0)):
        mixed = (1 - rate) * q + rate * p
        pair = pair_of(events.PoissonSampled(run, rate=str(rate)))
        assert upper(pair, 0, at) == pytest.approx(of_masses(mixed, q, at), rel=1e-12, abs=1e-15)
        if rate < 1:
            assert upper(pair, 1, at) == pytest.approx(of_masses(q, mixed, at), rel=1e-12, abs=1e-15)


def test_deltas_multiply_too():
    pair = pair_of(events.Approximate(epsilon=1, delta="0.1") * 2)
    assert pair.law(0, "upper", 3).infinity == pytest.approx(1 - 0.9**2)


@pytest.mark.parametrize(
    "run",
    [
        events.Pure(epsilon=1) * 100,
        events.Laplace(epsilon=1) * 2,
        events.Gaussian(noise_multiplier=1) + events.Pure(epsilon=1),
        events.ZeroConcentrated(rho=1) * 2,
    ],
    ids=["many outcomes", "densities", "mixed", "no pair"],
)
def test_other_compositions_have_none(run):
    assert pair_of(run) is None


def test_an_empty_composition_tells_nothing():
    assert pair_of(events.Nothing).law(0, "upper", 3).delta(0.0) == 0
