"""Epsilons of moved normal noise against the definition, in many digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.stability.gaussian_divergence import ideal_epsilons, lattice_epsilons


def lattice_delta(shift: int, variance: Fraction, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The hockey-stick divergence of two discrete Gaussian laws: a sum over all outcomes."""
    spread = mpmath.mpf(variance.numerator) / variance.denominator
    reach = int(14 * mpmath.sqrt(spread)) + shift + 3
    weight = {y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * spread)) for y in range(-reach - shift, reach + 1)}
    factor = mpmath.exp(epsilon)
    return sum(max(weight[y] - factor * weight.get(y - shift, 0), 0) for y in weight) / sum(weight.values())


def ideal_delta(mu: float, epsilon: mpmath.mpf) -> mpmath.mpf:
    near, far = epsilon / mu - mpmath.mpf(mu) / 2, epsilon / mu + mpmath.mpf(mu) / 2
    return mpmath.ncdf(-near) - mpmath.exp(epsilon) * mpmath.ncdf(-far)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(5, 2), Fraction(36)])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9])
def test_lattice_epsilons_are_exact(variance, delta):
    shifts = [k for k in (1, 2, 3, 7, 20) if k <= 18 * variance**0.5]
    found = lattice_epsilons(np.array(shifts, float), variance, delta)
    with mpmath.workdps(50):
        for shift, epsilon in zip(shifts, found, strict=True):
            assert lattice_delta(shift, variance, mpmath.mpf(epsilon)) <= delta
            if epsilon > 1e-9:
                assert lattice_delta(shift, variance, mpmath.mpf(epsilon) * (1 - 1e-9)) > delta


@pytest.mark.parametrize("sigma", [4000, 5000, 10**8])
def test_wide_noise_is_the_normal_law_to_its_square(sigma):
    """Table and expansion meet, and both tend to the ideal law."""
    ratios = np.array([1, 50, 400, 2000, 9000]) / 4000
    shifts = np.round(ratios * sigma)
    found = lattice_epsilons(shifts, Fraction(sigma) ** 2, 1e-6)
    assert found == pytest.approx(ideal_epsilons(shifts / sigma, 1e-6), rel=30 / sigma)
    if sigma == 10**8:
        assert found == pytest.approx(ideal_epsilons(shifts / sigma, 1e-6), rel=1e-6)


@pytest.mark.parametrize("delta", [0.4, 1e-2, 1e-6, 1e-15, 1e-50])
def test_ideal_epsilons_are_exact(delta):
    ratios = np.array([1e-3, 0.05, 0.4, 1, 3, 12, 19.5])
    with mpmath.workdps(120):
        for mu, epsilon in zip(ratios, ideal_epsilons(ratios, delta), strict=True):
            assert ideal_delta(mu, mpmath.mpf(epsilon)) <= delta
            if epsilon > 1e-6:
                assert ideal_delta(mu, mpmath.mpf(epsilon) * (1 - 1e-9)) > delta


def test_what_floats_cannot_tell_is_infinite():
    assert lattice_epsilons(np.array([100.0]), Fraction(1), 1e-6)[0] == np.inf
    assert lattice_epsilons(np.array([1.0]), Fraction(1), 1e-100)[0] == np.inf
    assert ideal_epsilons(np.array([1.0, 30.0]), 1e-6)[1] == np.inf
    assert len(ideal_epsilons(np.zeros(0), 1e-6)) == 0
