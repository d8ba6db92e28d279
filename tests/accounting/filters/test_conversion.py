"""From rho to (epsilon, delta) and back, against a search of its own and against normal noise."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, log1p

import mpmath
import pytest
from scipy import optimize

from discreet.accounting.filters.conversion import epsilon_above, renyi_epsilon_above, rho_below

RHOS = [Fraction(1, 10**6), Fraction(1, 50), Fraction(1, 2), Fraction(3), Fraction(200)]
DELTAS = [Fraction(1, 10**12), Fraction(1, 10**7), Fraction(1, 10**5), Fraction(1, 10)]


def least_epsilon(rho, delta):
    """The least over all orders of Proposition 12, looked for on a logarithmic scale."""

    def at(gap):
        order = 1 + gap
        return order * rho + (log(1 / delta) - log(gap) - order * log1p(1 / gap)) / gap

    starts = [mark / 10 for mark in range(-80, 100)]
    best = min(starts, key=lambda mark: at(10**mark))
    found = optimize.minimize_scalar(
        lambda mark: at(10**mark), bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-9}
    )
    return max(found.fun, 0.0)


def delta_of_normal_noise(mu, epsilon):
    """The exact delta of noise that is mu-Gaussian private (Balle & Wang 2018)."""
    first, second = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return mpmath.ncdf(-first) - mpmath.exp(epsilon) * mpmath.ncdf(-second)


@pytest.mark.parametrize("rho", RHOS, ids=str)
@pytest.mark.parametrize("delta", DELTAS, ids=str)
def test_epsilon_is_the_least_that_some_order_proves(rho, delta):
    found, oracle = epsilon_above(rho, delta), least_epsilon(float(rho), float(delta))
    assert found <= oracle * (1 + 1e-6) + 1e-12
    if delta < Fraction(1, 10**6):
        assert found >= oracle * (1 - 1e-9) - 1e-12
    else:
        assert found >= oracle * 0.5


@pytest.mark.parametrize("rho", RHOS, ids=str)
@pytest.mark.parametrize("delta", DELTAS, ids=str)
def test_normal_noise_of_that_rho_keeps_what_is_said(rho, delta):
    """Noise with mu^2 = 2 rho has D_a = rho a at every order, so that whatever rho implies holds of it."""
    with mpmath.workdps(60):
        mu = mpmath.sqrt(2 * mpmath.mpf(rho.numerator) / rho.denominator)
        kept = delta_of_normal_noise(mu, mpmath.mpf(epsilon_above(rho, delta)))
        assert kept <= mpmath.mpf(delta.numerator) / delta.denominator


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(8), Fraction(300)], ids=str)
@pytest.mark.parametrize("delta", DELTAS, ids=str)
def test_rho_is_the_largest_that_implies_an_epsilon(epsilon, delta):
    rho = rho_below(epsilon, delta)
    assert rho > 0
    assert least_epsilon(float(rho), float(delta)) <= float(epsilon) * (1 + 1e-9)
    assert least_epsilon(float(rho) * 1.001, float(delta)) > float(epsilon)


def test_ends_of_the_ranges():
    assert epsilon_above(Fraction(0), Fraction(0)) == 0
    assert epsilon_above(Fraction(1), Fraction(0)) == inf
    assert epsilon_above(Fraction(1), Fraction(1)) == 0
    assert renyi_epsilon_above(Fraction(2), Fraction(0), Fraction(0)) == 0
    assert renyi_epsilon_above(Fraction(2), Fraction(1), Fraction(0)) == inf
    assert renyi_epsilon_above(Fraction(2), Fraction(1), Fraction(1)) == 0
    assert rho_below(Fraction(1), Fraction(0)) == 0
    assert epsilon_above(Fraction(10**30), Fraction(1, 10**9)) >= 10**30
