"""What holds of every admissible law, checked against oracles; the files of each law call it."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, sqrt

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.mechanisms.admissible import Admissible
from discreet.noise.certified import sample_rounded
from discreet.noise.entropy import Replay
from mechanisms.admissible.divergences import LogDensity
from mechanisms.admissible.tails import Tail, high

POINTS = [
    Fraction(n, 10**6) for n in (0, 1, 30_000, 123_456, 500_000, 10**6, 1_200_001, 3 * 10**6, 17 * 10**6)
]


def check_upper_tail(noise: Admissible, oracle: Tail) -> None:
    """Certified bounds hold the oracle's value, at every precision, and are tight."""
    for z in POINTS:
        value = oracle(z)
        for bits in (32, 96, 160):
            low, above = noise.upper(z, bits)
            slack = high.ldexp(1, bits - 200)
            assert low - slack <= high.ldexp(value, bits) <= above + slack
            assert above - low <= 8
        assert noise.tail(float(z)) == pytest.approx(float(2 * value), rel=1e-8, abs=1e-13)
    for far in (Fraction(10) ** 40, Fraction(2) ** 400 / 3):
        low, above = noise.upper(far, 96)
        assert 0 <= low <= above <= 1 << 72


def check_density(noise: Admissible, log_density: LogDensity) -> None:
    """The density is that of the definition, and integrates to the tail."""
    points = np.array([0.001, 0.3, 1.0, 2.5, 11.0])
    assert np.allclose(
        [noise.log_density(float(z)) for z in points], log_density(points), rtol=1e-9, atol=1e-9
    )
    assert noise.density(-0.7) == pytest.approx(noise.density(0.7))
    inside = integrate.quad(noise.density, 0.0, 1.5, points=[1e-3, 1e-2, 0.1], limit=200)[0]
    assert 2 * inside == pytest.approx(1 - noise.tail(1.5), abs=1e-7)


def check_moments(noise: Admissible) -> None:
    """Mean magnitude and variance are the integrals of the tail, where those are finite."""
    grid = np.exp(np.linspace(-18, 46, 6401))
    tail = np.array([noise.tail(float(z)) for z in grid])
    width = np.log(grid[1] / grid[0])
    mean, variance = float((tail * grid).sum() * width), float((2 * tail * grid**2).sum() * width)
    if isfinite(noise.mean_absolute):
        assert mean == pytest.approx(noise.mean_absolute, rel=1e-4)
    else:
        assert mean > 25
    if isfinite(noise.variance):
        assert variance == pytest.approx(noise.variance, rel=1e-4)
        assert noise.typical == sqrt(noise.variance)
    else:
        assert variance > 60
        assert noise.typical < inf
    for confidence in (0.5, 0.95, 1 - 1e-9):
        z = noise.quantile(confidence)
        assert noise.tail(z) == pytest.approx(1 - confidence, rel=1e-6)
        assert noise.guess((1 - confidence) / 2) == pytest.approx(z, rel=1e-6)


def check_samples(noise: Admissible, *, count: int = 1500) -> None:
    """Draws follow the law, and not the law with half the noise."""
    source, scale = Replay(41), Fraction(10**7)
    drawn = np.array(
        [
            sample_rounded(
                noise, center=Fraction(1, 3), scale=scale, least=-(2**53), most=2**53, source=source
            )
            for _ in range(count)
        ]
    )

    def distribution(z: np.ndarray) -> np.ndarray:
        return np.array([noise.tail(-x) / 2 if x < 0 else 1 - noise.tail(x) / 2 for x in z])

    assert stats.kstest(drawn / float(scale), distribution).pvalue > 1e-4
    assert stats.kstest(2 * drawn / float(scale), distribution).pvalue < 1e-9
