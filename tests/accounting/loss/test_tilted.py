"""Tilted losses: characteristic functions and their bounds, against sums at high precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from discreet.accounting.loss import tilted as room
from discreet.accounting.loss.gaussian import GaussianLoss
from discreet.accounting.loss.laplace import LaplaceLoss
from discreet.accounting.loss.law import AtomicLoss
from discreet.accounting.loss.tilted import TiltedAtoms


def random_atoms(generator, most=400):
    masses = generator.dirichlet(np.full(generator.integers(2, most), generator.choice([0.1, 1.0])))
    losses = generator.normal(size=len(masses)) * generator.choice([1e-3, 1, 10])
    keep = masses > 0
    return masses[keep], losses[keep]


@pytest.mark.parametrize("way", [room._by_products, room._by_exponentials, room._by_transforms])
@pytest.mark.parametrize("count", [2, 33, 250, 1000])
def test_every_way_of_summing_stays_within_its_rounding(way, count):
    """Against 50 digits, at the last frequencies, where errors have piled up."""
    generator = np.random.default_rng()
    masses, losses = random_atoms(generator, 60)
    step = float(generator.uniform(0.01, 2) / np.abs(losses).max())
    sums = way(masses, step * losses, count)
    way_of = 16 + 8 + room._ROUNDING[way](count)
    with mpmath.workdps(50):
        for k in {0, count // 2, count - 2, count - 1}:
            exact = sum(
                mpmath.mpf(m) * mpmath.expj(k * mpmath.mpf(step) * mpmath.mpf(loss))
                for m, loss in zip(masses.tolist(), losses.tolist(), strict=True)
            )
            bound = room.UNIT * (way_of + 4 * step * k * float(masses @ np.abs(losses)))
            assert abs(mpmath.mpc(complex(sums[k])) - exact) <= bound


def test_too_few_terms_would_be_seen(monkeypatch):
    monkeypatch.setattr(room, "_TERMS", 8)
    generator = np.random.default_rng(5)
    masses, losses = random_atoms(generator, 60)
    step = 0.3 / np.abs(losses).max()
    wrong = room._by_transforms(masses, step * losses, 1000)
    right = room._by_exponentials(masses, step * losses, 1000)
    assert np.abs(wrong - right).max() > 1e-9


@pytest.mark.parametrize("trial", range(20))
def test_blocks_bound_the_characteristic_function(trial):
    generator = np.random.default_rng()
    masses, losses = random_atoms(generator)
    tilted = AtomicLoss(masses, losses, 0.0).tilted(float(generator.uniform(0, 2)))
    scale = tilted.variance**-0.5
    low = generator.uniform(0.01, 20, 100) * scale
    high = low * generator.uniform(1, 1.5, 100)
    bound = tilted.bound(low, high)
    assert (bound <= 1).all()
    for share in np.linspace(0, 1, 9):
        inside = low + share * (high - low)
        exact = np.abs(np.exp(1j * np.multiply.outer(inside, tilted._losses)) @ tilted._weights)
        assert (exact <= bound + 1e-12).all()


def test_blocks_are_not_idle():
    """A smooth law is bounded well below 1 where its phases turn."""
    x = np.linspace(-5, 5, 1201)
    tilted = TiltedAtoms(np.exp(-(x**2) / 2), x)
    low = np.array([1.0, 3.0, 10.0, 30.0])
    assert (tilted.bound(low, 1.2 * low) < [0.93, 0.91, 0.93, 0.98]).all()


@pytest.mark.few(4)
@pytest.mark.parametrize("law", [LaplaceLoss(0.01), LaplaceLoss(1.0), LaplaceLoss(8.0), GaussianLoss(0.3)])
@pytest.mark.parametrize("order", [0.05, 1.0, 30.0])
def test_closed_forms_agree_with_quadrature(law, order):
    """Mean, variance and characteristic function of a tilted law, by the definition."""
    tilted = law.tilted(order)
    step = 0.7 / max(tilted.variance**0.5, 1e-12)
    values = tilted.line(step, 5)
    with mpmath.workdps(30):
        if isinstance(law, LaplaceLoss):
            e = mpmath.mpf(law.epsilon)
            points = [-e, e * mpmath.mpf("0.9"), e]

            def integral(f):
                inner = mpmath.quad(lambda x: f(x) * mpmath.exp((x - e) / 2 + order * x) / 4, points)
                atoms = f(e) * mpmath.exp(order * e) / 2 + f(-e) * mpmath.exp(-(order + 1) * e) / 2
                return inner + atoms
        else:
            mu = mpmath.mpf(law.mu)

            def integral(f):
                center = mu**2 * (order + mpmath.mpf(1) / 2)
                return mpmath.quad(
                    lambda x: f(x) * mpmath.exp(-((x - center) ** 2) / (2 * mu**2)),
                    [center - 12 * mu, center, center + 12 * mu],
                )

        total = integral(lambda x: mpmath.mpf(1))
        mean = integral(lambda x: x) / total
        assert tilted.mean == pytest.approx(float(mean), rel=1e-9, abs=1e-12)
        variance = integral(lambda x: (x - mean) ** 2) / total
        assert tilted.variance == pytest.approx(float(variance), rel=1e-6, abs=1e-14)
        for k in range(5):
            y = k * mpmath.mpf(step)
            exact = integral(lambda x, y=y: mpmath.expj(y * (x - mpmath.mpf(tilted.mean)))) / total
            assert abs(mpmath.mpc(complex(values[k])) - exact) <= tilted.rounding(step, 5)[k] + 1e-15


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("order", [0.1, 2.0, 40.0])
def test_blocks_bound_the_laplace_law(epsilon, order):
    tilted = LaplaceLoss(epsilon).tilted(order)
    generator = np.random.default_rng()
    low = 10 ** generator.uniform(-2, 3, 200) / epsilon
    high = low * generator.uniform(1, 1.4, 200)
    bound, ceiling = tilted.bound(low, high), tilted.ceiling(low)
    assert (bound <= ceiling + 1e-12).all()
    for share in np.linspace(0, 1, 9):
        for y, block in zip(low + share * (high - low), bound, strict=True):
            assert abs(tilted.line(float(y), 2)[1]) <= block + 1e-12
