"""Laplace-log-normal noise."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, log, sqrt

import mpmath
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import LaplaceLogNormal
from discreet.privacy.guarantees import PureDP
from mechanisms.admissible import divergences, laws, tails

MOVES = [(0.3, 0.1), (0.05, 0.3), (0.5, 0.01), (0.2, 0.0)]


@pytest.mark.few(5)
@pytest.mark.parametrize("spread", [0.2, 0.5, 1])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_divergences_stay_below_the_budget(spread, shift, dilation):
    claimed = float(LaplaceLogNormal(spread=spread).budget(shift=shift, dilation=dilation).rho)
    found = divergences.largest_rho(divergences.laplace_log_normal(spread), shift, dilation)
    assert found <= claimed * (1 + 1e-6)


@pytest.mark.parametrize("spread", [0.2, 0.5, 1])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_budget_is_below_half_the_square_of_the_published_epsilon(spread, shift, dilation):
    """Epsilon = t / sigma + e^(3 sigma^2 / 2) s: here the two parts add as squares, along a shorter path."""
    claimed = float(LaplaceLogNormal(spread=spread).budget(shift=shift, dilation=dilation).rho)
    slid, stretched = exp(1.5 * spread**2) * shift, dilation / spread
    factor = dilation / expm1(dilation) if dilation else 1
    assert claimed == pytest.approx(max(slid**2, (slid * factor) ** 2 + stretched**2) / 2, rel=1e-9)
    assert claimed <= (slid + stretched) ** 2 / 2 * (1 + 1e-9)


@pytest.mark.parametrize("spread", [0.2, 0.5, 1])
@pytest.mark.parametrize("shift", [0.01, 0.3, 2])
def test_a_shift_alone_is_pure_and_the_loss_is_exact(spread, shift):
    """The largest log-ratio over all points is the claim, which is at most e^(3 sigma^2 / 2) s."""
    noise = LaplaceLogNormal(spread=spread)
    promise = noise.shift_budget(shift=shift)
    assert isinstance(promise, PureDP)
    found = divergences.largest_loss(divergences.laplace_log_normal(spread), shift, 0.0)
    assert found == pytest.approx(float(promise.epsilon), rel=1e-5)
    assert float(promise.epsilon) < exp(1.5 * spread**2) * shift
    half = float(noise.shift_budget(shift=shift / 2).epsilon)
    assert found > 1.2 * half  # half the shift's promise is not kept


def test_a_far_or_a_small_shift_is_bounded_too():
    noise = LaplaceLogNormal(spread="0.01")
    assert float(noise.shift_budget(shift=10**6).epsilon) == pytest.approx(exp(0.00015) * 10**6)
    assert noise.shift_budget(shift=0).epsilon == 0
    assert 0 < noise.shift_budget(shift="1e-90").epsilon <= Fraction(2, 10**90)


def test_with_a_dilation_no_epsilon_is_pure():
    """Far out, a stretched density is any number of times as high."""
    density = divergences.laplace_log_normal(0.5)
    z = np.array([1e3, 1e6, 1e12])
    ratios = density(z * exp(-0.1)) - 0.1 - density(z)
    assert (np.diff(ratios) > 0.3).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("spread", [0.2, 0.3, 0.4])
@pytest.mark.parametrize(("rho", "dilation"), [(0.5, 0.01), (0.1, 0.005)])
def test_half_the_noise_breaks_the_guarantee(spread, rho, dilation):
    noise = LaplaceLogNormal(spread=spread)
    shift = float(noise.largest_shift(rho=rho, dilation=dilation))
    density = divergences.laplace_log_normal(spread)
    assert divergences.largest_rho(density, shift, dilation) <= rho * (1 + 1e-6)
    assert divergences.largest_rho(density, 2 * shift, dilation) > rho


@pytest.mark.parametrize("spread", ["0.05", "0.5", "2"])
@pytest.mark.parametrize(("rho", "dilation"), [("0.5", "0.01"), ("0.001", "1e-6"), ("3", "0")])
def test_shift_and_budget_are_inverse(spread, rho, dilation):
    noise = LaplaceLogNormal(spread=spread)
    spent = noise.budget(shift=noise.largest_shift(rho=rho, dilation=dilation), dilation=dilation).rho
    assert Fraction(rho) * (1 - Fraction(1, 10**9)) <= spent <= Fraction(rho) * (1 + Fraction(1, 10**13))


def test_the_best_spread_is_found_by_the_error_of_the_published_table():
    """The parameters s, t and sigma are chosen for the least error, here 30% below the published optimum."""
    rho, dilation = 0.5, 0.1

    def published(spread: float) -> float:
        shift = exp(-1.5 * spread**2) * (1 - dilation / spread)
        return sqrt(2) * exp(spread**2) / shift

    ours = []
    for step in range(12, 50):
        noise = LaplaceLogNormal(spread=Fraction(step, 100))
        ours.append(noise.typical / float(noise.largest_shift(rho=rho, dilation=dilation)))
    assert min(ours) < 0.7 * min(published(step / 100) for step in range(12, 50))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("spread", [Fraction(1, 5), Fraction(1), Fraction(3)])
def test_the_law(spread):
    noise = LaplaceLogNormal(spread=spread)
    laws.check_upper_tail(noise, tails.laplace_log_normal(spread))
    if spread < 2:
        laws.check_density(noise, divergences.laplace_log_normal(float(spread)))
        laws.check_moments(noise)


@pytest.mark.slow
def test_samples():
    laws.check_samples(LaplaceLogNormal(spread=0.5), count=400)


@pytest.mark.parametrize("spread", [0, -1, 5, "nan", True])
def test_other_spreads_are_refused(spread):
    with pytest.raises(ParameterError):
        LaplaceLogNormal(spread=spread)


def test_other_budgets_are_refused():
    noise = LaplaceLogNormal(spread=0.5)
    assert noise.largest_shift(rho=0.02, dilation=0.1) == 0
    for budget in ({}, {"epsilon": 1}, {"rho": 1, "delta": 1e-6}):
        with pytest.raises(ParameterError):
            noise.largest_shift(dilation=0.1, **budget)
    with pytest.raises(ParameterError):
        noise.budget(shift=1, dilation=0.1, epsilon=1)


def log_integral(sigma, z, power):
    """log E exp(-power sigma Y - z exp(-sigma Y)) around its peak: it may be below every float."""
    with mpmath.workdps(30):
        peak = mpmath.lambertw(sigma**2 * z * mpmath.exp(power * sigma**2)) / sigma - power * sigma

        def exponent(y):
            return -(y**2) / 2 - power * sigma * y - z * mpmath.exp(-sigma * y)

        top = exponent(peak)
        around = [peak + place for place in (-14, -4, -1, -0.2, 0, 0.2, 1, 4, 14)]
        return top + mpmath.log(
            mpmath.quad(lambda y: mpmath.exp(exponent(y) - top), around) / mpmath.sqrt(2 * mpmath.pi)
        )


@pytest.mark.few(4)
@pytest.mark.parametrize("z", [1e3, 1e-3, 30.0, 1e40])
@pytest.mark.parametrize("spread", ["0.01", "0.1", "0.5", "4"])
def test_tails_and_densities_are_right_however_far_out(spread, z):
    noise, sigma = LaplaceLogNormal(spread=spread), float(spread)
    wanted = log_integral(sigma, z, 0)
    found = noise.tail(z)
    assert log(found) == pytest.approx(float(wanted), rel=1e-9, abs=1e-9) if found else wanted < -700
    density = log_integral(sigma, z, 1) - log(2)
    assert noise.log_density(z) == pytest.approx(float(density), rel=1e-9, abs=1e-9)
