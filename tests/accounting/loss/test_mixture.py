"""Mixtures of Gaussians against quadrature; sampled Gaussians as a special case; vectors against numbers."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

import mpmath
import numpy as np
import pytest

from accounting.loss.profiles import assert_between, normal, of_densities, upper
from discreet.accounting.loss.mixture import MixturePair, normal_masses
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events

CASES = {
    "sampled": ((1.0,), (0.1,), 0.9),
    "three": ((0.2, 1.0, 3.0), (0.3, 0.1, 0.01), 0.59),
    "always": ((0.5, 2.0), (0.7, 0.3), 0.0),
    "rare and far": ((0.1, 6.0), (0.5, 1e-4), 0.4999),
}


def exact(centers, weights, nothing):
    plain, *moved = (normal(center) for center in (0, *centers))

    def mixed(x):
        return nothing * plain(x) + sum(w * law(x) for w, law in zip(weights, moved, strict=True))

    def delta(direction, epsilon):
        laws = (mixed, plain) if direction == 0 else (plain, mixed)
        return of_densities(*laws, epsilon, -14, max(centers) + 14, kinks=(0, *centers))

    return delta


@pytest.mark.parametrize("case", CASES)
def test_the_profile_is_the_definition(case):
    pair = MixturePair(*CASES[case])
    assert_between(pair, exact(*CASES[case]), (-0.1, 0.0, 0.05, 0.5, 2.0), width=5e-3, cells=(100, 1500))


@pytest.mark.parametrize(("noise", "rate"), [(0.7, "0.01"), (1, "0.3"), (20, "0.001")])
def test_one_contribution_is_a_sampled_gaussian(noise, rate):
    mixed = pair_of(events.MixtureOfGaussians(standard_deviation=noise, contributions=[(1, rate)]))
    sampled = pair_of(events.PoissonSampled(events.Gaussian(noise_multiplier=noise), rate=rate))
    for direction in (0, 1):
        for side in ("lower", "upper"):
            one, other = (pair.law(direction, side, 500) for pair in (mixed, sampled))
            for epsilon in (0.0, float(rate) / 2, 2 * float(rate)):
                assert one.delta(epsilon) == pytest.approx(other.delta(epsilon), rel=1e-9, abs=1e-15)


def test_a_sure_contribution_is_a_gaussian():
    mixed = pair_of(events.MixtureOfGaussians(standard_deviation=2, contributions=[(1, 1)]))
    plain = pair_of(events.Gaussian(noise_multiplier=2)).law(0, "upper", 3)
    for direction in (0, 1):
        for epsilon in (0.0, 0.3, 1.0):
            lower, high = (mixed.law(direction, side, 3000).delta(epsilon) for side in ("lower", "upper"))
            assert lower <= plain.delta(epsilon) <= high
            assert high - lower <= 1e-4 * high


def planar_delta(vectors, weights, nothing, epsilon, direction):
    """The hockey-stick divergence in the plane, on a grid of points."""
    x = np.linspace(-9, 12, 501)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    cell = (x[1] - x[0]) ** 2

    def density(center):
        return np.exp(-((grid - center) ** 2).sum(axis=-1) / 2) / (2 * np.pi)

    plain = density(np.zeros(2))
    mixed = nothing * plain + sum(w * density(v) for w, v in zip(weights, vectors, strict=True))
    p, q = (mixed, plain) if direction == 0 else (plain, mixed)
    return float(np.maximum(0, p - exp(epsilon) * q).sum() * cell)


@pytest.mark.parametrize("trial", range(4))
def test_vectors_never_exceed_the_pair_of_their_norms(trial):
    """Kahane's inequality: contributions in any directions, and shorter ones, are less easily told apart."""
    generator = np.random.default_rng()
    centers, weights, nothing = (0.5, 1.0, 2.0), (0.2, 0.2, 0.3), 0.3
    pair = MixturePair(centers, weights, nothing)
    angles = generator.uniform(0, np.pi, 3)
    lengths = np.array(centers) * generator.choice([1.0, 1.0, generator.uniform(0, 1)], 3)
    vectors = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for direction in (0, 1):
        for epsilon in (-0.5, 0.0, 0.3, 1.0):
            found = planar_delta(vectors, weights, nothing, epsilon, direction)
            assert found <= upper(pair, direction, epsilon, 3000) + 2e-5


def test_raising_contributions_to_the_largest_never_helps():
    event = events.MixtureOfGaussians(standard_deviation=1, contributions=[(0.5, 0.1), (2, 0.05)])
    pair, larger = pair_of(event), pair_of(event.sampled)
    for direction in (0, 1):
        for epsilon in (0.0, 0.1, 0.5):
            assert pair.law(direction, "lower", 2000).delta(epsilon) <= upper(larger, direction, epsilon)


def test_the_bound_of_the_other_direction_is_the_chance_of_nothing():
    """Where nothing is added with probability 0.9, adding a unit never costs more than log(1 / 0.9)."""
    law = MixturePair((1.0,), (0.1,), 0.9).law(1, "upper", 1000)
    assert law.largest == pytest.approx(log(1 / 0.9), rel=1e-4)
    assert law.delta(log(1 / 0.9)) <= 1e-12
    assert MixturePair((1.0,), (0.1,), 0.9).law(0, "upper", 1000).largest > 5


def test_masses_do_not_cancel():
    z = np.linspace(-13, 13, 27)
    below, between, above = normal_masses(z)
    with mpmath.workdps(60):
        cdf = [mpmath.ncdf(x) for x in z]
        exact_masses = [float(b - a) for a, b in pairwise(cdf)]
    assert np.allclose(between, exact_masses, rtol=1e-12, atol=0)
    assert below == pytest.approx(above) == pytest.approx(float(mpmath.ncdf(-13)))


def test_tiny_losses_keep_their_digits():
    cells = MixturePair((1e-3,), (1e-6,), 1 - 1e-6).outcomes(5)
    x = 0.0005 + 14.0005 * np.array([-1, -np.sinh(1.5) / np.sinh(3), 0, np.sinh(1.5) / np.sinh(3), 1])
    exact_losses = [float(mpmath.log1p(1e-6 * mpmath.expm1(1e-3 * (a - 5e-4)))) for a in x]
    assert np.allclose(cells.borders, exact_losses, rtol=1e-9, atol=1e-24)
