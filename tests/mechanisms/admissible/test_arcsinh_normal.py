"""Arcsinh-normal noise."""

from __future__ import annotations

from fractions import Fraction
from math import expm1, sqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import ArcsinhNormal
from discreet.mechanisms.admissible.arcsinh_normal import _Norms
from mechanisms.admissible import divergences, laws, tails

MOVES = [(0.1, 0.05), (0.3, 0.1), (0.05, 0.3), (0.5, 0.01), (0.8, 0.1), (0.5, 0.0), (0.0, 0.1)]


@pytest.mark.parametrize("spread", [0.2, 0.5, 2 / sqrt(3), 2])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_divergences_stay_below_the_budget(spread, shift, dilation):
    claimed = float(ArcsinhNormal(spread=spread).budget(shift=shift, dilation=dilation).rho)
    found = divergences.largest_rho(divergences.arcsinh_normal(spread), shift, dilation)
    assert found <= claimed * (1 + 1e-6)
    published = sqrt(dilation * (dilation / spread**2 + 1 / spread + 2)) + shift * (
        2 / (3 * spread) + spread / 2
    )
    assert claimed <= published**2 / 2


@pytest.mark.parametrize("spread", [0.15, 0.3, 0.5])
@pytest.mark.parametrize(("rho", "dilation"), [(0.5, 0.02), (0.1, 0.01)])
def test_half_the_noise_breaks_the_guarantee(spread, rho, dilation):
    noise = ArcsinhNormal(spread=spread)
    shift = float(noise.largest_shift(rho=rho, dilation=dilation))
    density = divergences.arcsinh_normal(spread)
    assert divergences.largest_rho(density, shift, dilation) <= rho * (1 + 1e-6)
    assert divergences.largest_rho(density, 2 * shift, dilation) > 1.5 * rho


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(("s", "t"), [(1.0, 0.0), (0.0, 1.0), (0.7, 0.2), (0.1, 1.0)])
def test_the_norm_is_the_largest_slope_of_the_scores(sigma, s, t):
    """The scores are differentiated numerically, as functions of the normal variable."""
    y = np.linspace(-30, 30, 1_200_001) / max(sigma, 0.5)
    with np.errstate(over="ignore"):
        x = sigma * y
        score_of_shift = (y + sigma * np.tanh(x)) / np.cosh(x)
        score_of_dilation = y * np.tanh(x) / sigma + np.tanh(x) ** 2 - 1
    slope = np.abs(np.gradient(s * score_of_shift + t * score_of_dilation, y)).max()
    bound = _Norms(sigma)._largest(s, t)
    assert slope * (1 - 1e-6) <= bound <= slope * (1 + 1e-3)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 4.0])
def test_the_bounds_between_points_of_the_grid_hold(sigma):
    """|A''| <= 7 (1 + sigma^2) and |B''| <= 5 / sigma + 7 sigma."""
    x = np.linspace(0, 24, 240001)
    tanh, sech = np.tanh(x), 1 / np.cosh(x)
    a = sech * (1 - x * tanh + sigma**2 * (1 - 2 * tanh**2))
    b = (tanh + x * sech**2) / sigma + 2 * sigma * tanh * sech**2
    width = x[1] - x[0]
    assert np.abs(np.diff(a, 2)).max() / width**2 <= 7 * (1 + sigma**2)
    assert np.abs(np.diff(b, 2)).max() / width**2 <= 5 / sigma + 7 * sigma
    assert (x / np.cosh(x)).max() <= 0.6627434194


@pytest.mark.parametrize("sigma", [0.2, 1.0])
def test_the_scores_are_those_of_the_density(sigma):
    """-f' / f and -1 - z f' / f, as functions of y with z = sinh(sigma y) / sigma."""
    y = np.linspace(-3, 3, 4001)
    z = np.sinh(sigma * y) / sigma
    slope = np.gradient(divergences.arcsinh_normal(sigma)(z), z)
    tanh = np.tanh(sigma * y)
    assert np.allclose(-slope[1:-1], ((y + sigma * tanh) / np.cosh(sigma * y))[1:-1], atol=1e-4)
    assert np.allclose((-1 - z * slope)[1:-1], (y * tanh / sigma + tanh**2 - 1)[1:-1], atol=1e-3)


@pytest.mark.parametrize("spread", ["0.05", "0.3", "2"])
@pytest.mark.parametrize(("rho", "dilation"), [("0.5", "0.01"), ("0.001", "1e-6"), ("3", "0")])
def test_shift_and_budget_are_inverse(spread, rho, dilation):
    noise = ArcsinhNormal(spread=spread)
    shift = noise.largest_shift(rho=rho, dilation=dilation)
    spent = noise.budget(shift=shift, dilation=dilation).rho
    assert Fraction(rho) * (1 - Fraction(1, 10**6)) <= spent <= Fraction(rho)


def test_small_spreads_approach_the_gaussian_mechanism():
    """Without a dilation, N(0, 1) of shift s costs s^2 / 2."""
    rho = float(ArcsinhNormal(spread=0.01).budget(shift=1, dilation=0).rho)
    assert 0.5 <= rho < 0.501
    assert ArcsinhNormal(spread=0.01).variance == pytest.approx(expm1(0.0002) / 0.0002)


@pytest.mark.parametrize("spread", [Fraction(1, 20), Fraction(3, 10), Fraction(2)])
def test_the_law(spread):
    noise = ArcsinhNormal(spread=spread)
    laws.check_upper_tail(noise, tails.arcsinh_normal(spread))
    laws.check_density(noise, divergences.arcsinh_normal(float(spread)))
    laws.check_moments(noise)


def test_samples():
    laws.check_samples(ArcsinhNormal(spread=0.3))


def test_other_budgets_are_refused():
    noise = ArcsinhNormal(spread=0.3)
    assert noise.largest_shift(rho=0.01, dilation=0.3) == 0
    with pytest.raises(ParameterError):
        noise.largest_shift(epsilon=1, dilation=0.1)
    with pytest.raises(ParameterError):
        noise.budget(shift=1, dilation=0.1, epsilon=1)
    with pytest.raises(ParameterError):
        ArcsinhNormal(spread=0)


def test_the_budget_is_homogeneous_at_every_magnitude():
    noise = ArcsinhNormal(spread=Fraction(3, 10))
    one = noise.budget(shift=1, dilation=0).rho
    for power in (-400, -170, -90, 90):
        scale = Fraction(10) ** power
        assert float(noise.budget(shift=scale, dilation=0).rho / (one * scale**2)) == pytest.approx(1)
        shift = noise.largest_shift(rho=scale, dilation=0) if power < 0 else 0
        assert noise.budget(shift=shift, dilation=0).rho <= scale
    for power in (-320, -400):
        assert (
            noise.largest_shift(rho=Fraction(10) ** power, dilation=0) ** 2 * one > Fraction(10) ** power / 2
        )
