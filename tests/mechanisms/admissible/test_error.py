"""The error at a hypothetical smooth sensitivity."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log, sqrt

import pytest

from discreet.mechanisms.admissible import Cauchy, LaplaceNoise
from discreet.mechanisms.admissible.error import ScaledNoise


def test_the_error_of_scaled_laplace_noise():
    error = ScaledNoise(noise=LaplaceNoise(), scale=Fraction(3), rounding=Fraction(1, 8))
    assert error.tail(6.125) == pytest.approx(exp(-2))
    assert error.tail(0) == 1
    assert error.quantile(0.9) == pytest.approx(3 * log(10) + 0.125)
    assert error.mean_absolute == 3
    assert error.variance == 18
    assert error.deviation == pytest.approx(3 * sqrt(2))


def test_without_a_scale_only_rounding_is_left():
    error = ScaledNoise(noise=Cauchy(power=2), scale=Fraction(0), rounding=Fraction(1, 8))
    assert error.tail(0.125) == 0
    assert error.variance == error.mean_absolute == error.deviation == 0


def test_a_law_without_moments_says_so():
    error = ScaledNoise(noise=Cauchy(power=2), scale=Fraction(1), rounding=Fraction(0))
    assert error.variance == error.mean_absolute == inf
    assert error.quantile(0.5) == pytest.approx(1)
