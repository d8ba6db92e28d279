from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import events

POSITIVE = st.fractions(Fraction(1, 50), 50, max_denominator=50)


@given(POSITIVE, POSITIVE, POSITIVE)
def test_shift_is_the_most_whole_steps(sensitivity, scale, grid):
    event = events.DiscreteLaplace(sensitivity=sensitivity, scale=scale, grid=grid)
    assert event.shift * grid <= sensitivity < (event.shift + 1) * grid
    assert event.pure_epsilon <= sensitivity / scale
    gaussian = events.DiscreteGaussian(squared_sensitivity=sensitivity**2, variance=scale, grid=grid)
    assert gaussian.shift == event.shift


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_laplace_loses_what_the_event_says(shift):
    """Enumerate the law on the grid: the loss at every point, between values `shift` steps apart."""
    event = events.DiscreteLaplace(sensitivity="1/2", scale="3/2", grid=Fraction(1, 2 * shift))
    assert event.shift == shift
    losses = {(abs(k - shift) - abs(k)) * event.grid / event.scale for k in range(-20, 20)}
    assert max(losses) == -min(losses) == event.pure_epsilon == Fraction(1, 3)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(9)])
@pytest.mark.parametrize("shift", [1, 2])
def test_discrete_gaussian_is_concentrated_by_rho(variance, shift):
    """D_alpha by summation of the law on the integers; attained at whole alpha shifts."""
    event = events.DiscreteGaussian(squared_sensitivity=shift**2, variance=variance)
    with mpmath.workdps(40):
        sigma2 = mpmath.mpf(variance.numerator) / variance.denominator
        points = range(-200, 201)
        law = {y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * sigma2)) for y in range(-210, 211)}
        total = sum(law[y] for y in points)
        for order in (mpmath.mpf("1.1"), mpmath.mpf(2), mpmath.mpf("3.5"), mpmath.mpf(6)):
            moment = sum(law[y] ** order * law[y - shift] ** (1 - order) for y in points) / total
            divergence = mpmath.log(moment) / (order - 1)
            bound = order * event.rho.numerator / event.rho.denominator
            assert divergence <= bound * (1 + mpmath.mpf(10) ** -30)
            if order == int(order):
                assert mpmath.almosteq(divergence, bound, rel_eps=mpmath.mpf(10) ** -25)


def test_roots_are_rounded_against_us():
    event = events.DiscreteGaussian(squared_sensitivity=2, variance=3)
    assert Fraction(event.sensitivity) ** 2 >= 2 > Fraction(math.nextafter(event.sensitivity, 0)) ** 2
    assert Fraction(event.sigma) ** 2 <= 3 < Fraction(math.nextafter(event.sigma, 9)) ** 2
    assert event.rho == Fraction(1, 3)
    assert events.DiscreteGaussian(squared_sensitivity=4, variance=9).sensitivity == 2.0
    assert events.DiscreteGaussian(squared_sensitivity=4, variance=9).sigma == 3.0


def test_the_continuous_ideals():
    assert events.Laplace(epsilon=0.1).pure_epsilon == Fraction(1, 10)
    assert events.Laplace(epsilon=1).concentrated_rho == Fraction(1, 2)
    assert events.Gaussian(noise_multiplier=2).concentrated_rho == Fraction(1, 8)
    assert events.Gaussian(noise_multiplier=2).pure_epsilon is None


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), None, True, "x", [1], "1e99999"])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda v: events.Laplace(epsilon=v), "epsilon"),
        (lambda v: events.Gaussian(noise_multiplier=v), "noise_multiplier"),
        (lambda v: events.DiscreteLaplace(sensitivity=v, scale=1), "sensitivity"),
        (lambda v: events.DiscreteLaplace(sensitivity=1, scale=v), "scale"),
        (lambda v: events.DiscreteLaplace(sensitivity=1, scale=1, grid=v), "grid"),
        (lambda v: events.DiscreteGaussian(squared_sensitivity=v, variance=1), "squared_sensitivity"),
        (lambda v: events.DiscreteGaussian(squared_sensitivity=1, variance=v), "variance"),
        (lambda v: events.DiscreteGaussian(squared_sensitivity=1, variance=1, grid=v), "grid"),
    ],
)
def test_bad_values_are_refused_by_name(make, name, bad):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make(bad)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "3"])
def test_sizes_are_checked(size):
    with pytest.raises(ParameterError, match=r"^size "):
        events.DiscreteLaplace(sensitivity=1, scale=1, size=size)
    with pytest.raises(ParameterError, match=r"^size "):
        events.DiscreteGaussian(squared_sensitivity=1, variance=1, size=size)
