"""Rounded normal noise costs what the ideal noise costs that it is a function of."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import events

POSITIVE = st.fractions(Fraction(1, 100), 100, max_denominator=1000)


@given(POSITIVE, POSITIVE)
def test_mu_is_sensitivity_over_standard_deviation(sensitivity, deviation):
    event = events.RoundedGaussian(squared_sensitivity=sensitivity**2, variance=deviation**2)
    ideal = events.Gaussian(noise_multiplier=deviation / sensitivity)
    assert event.squared_mu == ideal.squared_mu
    assert event.concentrated_rho == ideal.concentrated_rho


@given(POSITIVE, POSITIVE)
def test_the_noise_multiplier_is_never_rounded_up(squared_sensitivity, variance):
    event = events.RoundedGaussian(squared_sensitivity=squared_sensitivity, variance=variance)
    below = Fraction(event.noise_multiplier)
    assert below**2 <= variance / squared_sensitivity <= (below * (1 + Fraction(1, 10**12))) ** 2
