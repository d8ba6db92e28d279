"""The lemmas behind the certificate, each against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.contour import _BUMP_HEIGHT, _BUMP_WIDTH
from discreet.accounting.loss.law import AtomicLoss, lipschitz
from discreet.accounting.loss.poisson_sampled import SampledGaussianPair


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0])
def test_the_bump_covers_the_smoothing(size):
    """e(x) = E f(x + g) - f(x), by its closed form, lies under the bump everywhere."""
    x = size * np.linspace(-9, 9, 20_001)
    inner = stats.norm.cdf(x / size + size / 2)
    smoothed = inner - np.exp(-x) * stats.norm.cdf(x / size - size / 2)
    excess = smoothed - np.maximum(0, -np.expm1(-x))
    bump = _BUMP_HEIGHT * size * np.exp(-((x / (_BUMP_WIDTH * size)) ** 2) / 2)
    assert (excess <= bump + 1e-15).all()


def test_a_narrower_bump_would_not_cover():
    """The constants are not idle: at 0.39 the peak sticks out."""
    size = 1e-3
    peak = 2 * stats.norm.cdf(size / 2) - 1
    assert 0.39 * size < peak < _BUMP_HEIGHT * size


@pytest.mark.parametrize("trial", range(20))
def test_blocks_bound_the_characteristic_function(trial):
    generator = np.random.default_rng()
    masses = generator.dirichlet(np.ones(generator.integers(2, 400)))
    losses = np.sort(generator.normal(size=len(masses)) * generator.choice([1e-3, 1, 10]))
    tilted = AtomicLoss(masses, losses, 0.0).tilted(float(generator.uniform(0, 2)))
    scale = tilted.variance**-0.5
    starts = generator.uniform(0, 20, 200) * scale
    stops = starts + generator.uniform(0, 2, 200) * scale
    bound = tilted.quick_modulus(starts) ** 2 + lipschitz(tilted.variance, starts, stops)
    assert (tilted.modulus(starts) <= tilted.quick_modulus(starts) + 1e-12).all()
    for share in np.linspace(0, 1, 11):
        inside = starts + share * (stops - starts)
        assert (tilted.modulus(inside) ** 2 <= bound + 1e-12).all()


@pytest.mark.parametrize(("sigma", "rate"), [(0.7, 0.01), (1.0, 0.3), (4.0, 0.01), (20.0, 0.001)])
@pytest.mark.parametrize("direction", [0, 1])
def test_cells_bound_the_sampled_gaussian_from_both_sides(sigma, rate, direction):
    """One step, against quadrature of the hockey-stick divergence by definition."""
    pair = SampledGaussianPair(sigma, rate)
    x = np.linspace(-14 * sigma, 1 + 14 * sigma, 2_000_001)
    plain = stats.norm.pdf(x, 0, sigma)
    mixed = (1 - rate) * plain + rate * stats.norm.pdf(x, 1, sigma)
    p, q = (mixed, plain) if direction == 0 else (plain, mixed)
    for epsilon in (0.0, rate / 2, rate, 3 * rate):
        exact = np.maximum(0, p - np.exp(epsilon) * q).sum() * (x[1] - x[0])
        lower, upper = (pair.law(direction, side, 300) for side in ("lower", "upper"))
        assert lower.delta(epsilon) <= exact * (1 + 1e-6) + 1e-12
        assert upper.delta(epsilon) + upper.infinity >= exact * (1 - 1e-6) - 1e-12
