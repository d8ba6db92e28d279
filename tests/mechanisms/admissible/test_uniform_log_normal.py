"""Uniform-log-normal noise."""

from __future__ import annotations

from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
import pytest
from scipy import special

from discreet.mechanisms.admissible import LaplaceLogNormal, UniformLogNormal
from mechanisms.admissible import divergences, laws, tails

MOVES = [(0.3, 0.1), (0.05, 0.3), (0.5, 0.01), (0.2, 0.0)]


@pytest.mark.few(6)
@pytest.mark.parametrize("spread", [0.3, 0.6, 1, 1.5])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_divergences_stay_below_the_budget(spread, shift, dilation):
    """Also below sqrt 2, where the published theorem is silent."""
    claimed = float(UniformLogNormal(spread=spread).budget(shift=shift, dilation=dilation).rho)
    found = divergences.largest_rho(divergences.uniform_log_normal(spread), shift, dilation)
    assert found <= claimed * (1 + 1e-6)


@pytest.mark.parametrize("spread", [0.1, 0.3, 0.6, 1, 1.5, 4])
def test_the_steepness_is_the_largest_slope(spread):
    noise = UniformLogNormal(spread=spread)
    level = np.linspace(-40, 20, 200001) * min(spread, 1)  # log z
    x = level / spread + spread
    hazard = -(x**2) / 2 - np.log(2 * np.pi) / 2 - special.log_ndtr(-x)
    steepest = float(np.exp(hazard - level - np.log(spread)).max())
    assert steepest <= float(noise.steepness) <= steepest * (1 + 1e-6)
    if spread >= sqrt(2):
        assert float(noise.steepness) < exp(1.5 * spread**2) * sqrt(2 / (pi * spread**2))


@pytest.mark.few(2)
@pytest.mark.parametrize("spread", [0.5, 0.7, 1])
@pytest.mark.parametrize(("rho", "dilation"), [(0.5, 0.01), (0.1, 0.005)])
def test_half_the_noise_breaks_the_guarantee(spread, rho, dilation):
    noise = UniformLogNormal(spread=spread)
    shift = float(noise.largest_shift(rho=rho, dilation=dilation))
    density = divergences.uniform_log_normal(spread)
    assert divergences.largest_rho(density, shift, dilation) <= rho * (1 + 1e-6)
    assert divergences.largest_rho(density, 2 * shift, dilation) > rho


def test_shift_and_budget_are_inverse():
    noise = UniformLogNormal(spread="0.6")
    spent = noise.budget(shift=noise.largest_shift(rho="0.5", dilation="0.1"), dilation="0.1").rho
    assert Fraction(1, 2) * (1 - Fraction(1, 10**9)) <= spent <= Fraction(1, 2) * (1 + Fraction(1, 10**13))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("spread", [Fraction(1, 5), Fraction(7, 10), Fraction(3, 2)])
def test_the_law(spread):
    noise = UniformLogNormal(spread=spread)
    laws.check_upper_tail(noise, tails.uniform_log_normal(spread))
    laws.check_density(noise, divergences.uniform_log_normal(float(spread)))
    laws.check_moments(noise)


def test_samples_are_of_this_law_and_not_of_the_laplace_log_normal():
    noise = UniformLogNormal(spread=0.6)
    laws.check_samples(noise, count=800)
    assert noise.quantile(0.95) < 0.6 * LaplaceLogNormal(spread=0.6).quantile(0.95)
    assert noise.density(0) == pytest.approx(exp(0.18) / 2)
    assert noise.tail(1e-9) == pytest.approx(1 - 2e-9 * noise.density(0))
