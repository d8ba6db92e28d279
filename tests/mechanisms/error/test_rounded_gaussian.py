"""The error of rounded Gaussian noise against sums over its law in many digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from discreet.mechanisms.error.rounded_gaussian import (
    RoundedGaussianError,
    rounded_variance,
    sub_gaussian_variance,
)

VARIANCES = [
    Fraction(1, 10**4),
    Fraction(1, 20),
    Fraction(1, 4),
    Fraction(99, 100),
    Fraction(1),
    Fraction(30),
]


def law(variance: Fraction) -> dict[int, mpmath.mpf]:
    sigma = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
    reach = int(14 * sigma) + 4

    def tail(edge):
        return mpmath.erfc(edge / sigma / mpmath.sqrt(2)) / 2

    half = mpmath.mpf(1) / 2
    return {k: tail(abs(k) - half) - tail(abs(k) + half) for k in range(-reach, reach + 1)}


@pytest.mark.parametrize("variance", VARIANCES)
def test_moments_tails_and_quantiles_are_those_of_the_law(variance):
    with mpmath.workdps(40):
        masses = law(variance)
        error = RoundedGaussianError(squared_sigma=variance)
        assert float(sum(masses.values())) == pytest.approx(1)
        squares = sum(k * k * p for k, p in masses.items())
        assert error.variance == pytest.approx(float(squares), rel=1e-12)
        magnitudes = sum(abs(k) * p for k, p in masses.items())
        assert error.mean_absolute == pytest.approx(float(magnitudes), rel=1e-12)
        for steps in (0, 1, 2, 7):
            beyond = sum(p for k, p in masses.items() if abs(k) > steps)
            assert error.tail_in_steps(steps) == pytest.approx(float(beyond), rel=1e-9, abs=1e-40)
        for confidence in (0.5, 0.95, 0.999):
            found = int(error.quantile(confidence))
            assert sum(p for k, p in masses.items() if abs(k) <= found) >= confidence
            if found:
                assert sum(p for k, p in masses.items() if abs(k) < found) < confidence


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_sub_gaussian_parameter_covers_every_moment(variance):
    bound = sub_gaussian_variance(float(variance))
    assert bound >= rounded_variance(float(variance))
    with mpmath.workdps(40):
        masses = law(variance)
        for x in (0.01, 0.3, 1, 2, 5):
            moment = sum(p * mpmath.cosh(x * k) for k, p in masses.items())
            assert mpmath.log(moment) <= x * x * bound / 2 * (1 + mpmath.mpf(10) ** -12)


def test_wide_noise_has_a_twelfth_more_variance():
    for variance in (100, 2**20):
        assert rounded_variance(variance) == pytest.approx(variance + 1 / 12, rel=1e-15)
        assert sub_gaussian_variance(variance) == pytest.approx(variance + 1 / 12, rel=1e-15)
    narrow, wide = (RoundedGaussianError(squared_sigma=Fraction(s) ** 2).mean_absolute for s in (64, "64.01"))
    assert wide - narrow == pytest.approx(0.01 * 0.7978845608, rel=1e-4)  # the sum meets the formula


def test_norms_of_two_values_are_exact_or_bounded():
    with mpmath.workdps(20):
        masses = {k: float(p) for k, p in law(Fraction(9)).items()}
    error = RoundedGaussianError(squared_sigma=Fraction(9), size=2)
    pairs = [(a, b, p * q) for a, p in masses.items() for b, q in masses.items()]
    for t in (3, 6, 10, 15):
        total = sum(w for a, b, w in pairs if abs(a) + abs(b) > t)
        assert error.l1.tail(t) == pytest.approx(total, rel=1e-9)
        assert sum(w for a, b, w in pairs if a * a + b * b > t * t) <= error.l2.tail(t)
        largest = sum(w for a, b, w in pairs if max(abs(a), abs(b)) > t)
        assert error.maximum.tail(t) == pytest.approx(largest, rel=1e-9)
