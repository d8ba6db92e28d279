"""The error laws of discrete Gaussian noise against high-precision sums."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.mechanisms.error.gaussian import GaussianError, probability_above
from effort import examples

VARIANCES = [Fraction(1, 9), Fraction(1), Fraction(25, 2), Fraction(10_000)]


def exact_law(variance: Fraction) -> list[mpmath.mpf]:
    """P(|N| = 0), P(|N| = 1), … in high precision."""
    with mpmath.workdps(50):
        spread = mpmath.mpf(variance.numerator) / variance.denominator
        weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * spread)) for k in range(int(30 * spread**0.5) + 5)]
        total = weights[0] + 2 * sum(weights[1:])
        return [weights[0] / total] + [2 * weight / total for weight in weights[1:]]


@pytest.mark.parametrize("variance", VARIANCES)
def test_one_value_equals_the_sums_over_the_law(variance):
    law = exact_law(variance)
    error = GaussianError(squared_sigma=variance)
    assert error.mean_absolute == pytest.approx(float(sum(k * p for k, p in enumerate(law))), rel=1e-12)
    assert error.variance == pytest.approx(float(sum(k * k * p for k, p in enumerate(law))), rel=1e-12)
    for threshold in (0, 1, 4, 30):
        expected = float(sum(law[threshold + 1 :]))
        assert error.tail(threshold) == pytest.approx(expected, rel=1e-11, abs=1e-60)


@pytest.mark.parametrize("deviations", [0, 0.3, 1, 5, 20])
def test_large_scales_use_a_formula_that_meets_the_sum(deviations):
    """At 3000 and 5000 steps the two ways of computing lie on either side of the switch."""
    summed = mpmath.mpf(0)
    sigma = 5000
    start = int(deviations * sigma)
    with mpmath.workdps(40):
        # Sum every term of a tail, in blocks, by definition.
        support = np.arange(start + 1, start + 12 * sigma, dtype=np.float64)
        logs = -((support**2) - float(start + 1) ** 2) / (2.0 * sigma**2)
        summed = mpmath.exp(-(mpmath.mpf(start + 1) ** 2) / (2 * sigma**2)) * float(np.exp(logs).sum())
        summed /= sigma * mpmath.sqrt(2 * mpmath.pi)
    assert probability_above(Fraction(sigma**2), start) == pytest.approx(float(summed), rel=1e-9)
    error = GaussianError(squared_sigma=Fraction(sigma**2))
    assert error.variance == pytest.approx(sigma**2, rel=1e-12)
    assert error.mean_absolute == pytest.approx(
        sigma * (2 / np.pi) ** 0.5 * (1 - 1 / (12 * sigma**2)), rel=1e-13
    )


@given(variance=st.sampled_from([*VARIANCES, Fraction(10**9)]), steps=st.integers(-500, 500))
def test_tail_is_symmetric(variance, steps):
    assert probability_above(variance, steps) + probability_above(variance, -steps - 1) == pytest.approx(
        1, abs=1e-12
    )


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("variance", VARIANCES)
def test_maximum_is_exact(variance, size):
    law = exact_law(variance)
    error = GaussianError(squared_sigma=variance, size=size).maximum
    for threshold in (0, 2, 9):
        with mpmath.workdps(50):
            expected = float(1 - (1 - sum(law[threshold + 1 :])) ** size)
        assert error.tail(threshold) == pytest.approx(expected, rel=1e-10, abs=1e-60)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(9)])
def test_norms_of_two_values_are_exact_or_bounded(variance):
    law = [float(p) for p in exact_law(variance)]
    error = GaussianError(squared_sigma=variance, size=2)
    assert error.l1.exact
    assert not error.l2.exact
    for threshold in range(1, 20):
        l1 = sum(p * q for i, p in enumerate(law) for j, q in enumerate(law) if i + j > threshold)
        l2 = sum(p * q for i, p in enumerate(law) for j, q in enumerate(law) if i * i + j * j > threshold**2)
        assert error.l1.tail(threshold) == pytest.approx(l1, rel=1e-10)
        assert error.l2.tail(threshold) >= l2 * (1 - 1e-9)


@pytest.mark.parametrize("size", [10, 1000])
def test_norm_bounds_are_close_for_many_values(size):
    """At 95 percent the bounds lie within a fifth of the continuous law's own quantile."""
    error = GaussianError(squared_sigma=Fraction(100), size=size)
    assert error.l2.quantile(0.95) == pytest.approx(10 * stats.chi2.ppf(0.95, size) ** 0.5, rel=0.2)
    assert error.l2.quantile(0.95) >= 10 * stats.chi2.ppf(0.95, size) ** 0.5


@given(
    variance=st.fractions(min_value=Fraction(1, 50), max_value=10**9, max_denominator=50),
    confidence=st.sampled_from(["0.5", "0.9", "0.95", "0.99999", "0.999999999"]),
)
@settings(max_examples=examples(50))
def test_quantiles_are_the_smallest_that_suffice(variance, confidence):
    failure = float(1 - Fraction(confidence))
    error = GaussianError(squared_sigma=variance)
    quantile = error.quantile(confidence)
    assert error.tail(quantile) <= failure
    if quantile >= 1:
        assert error.tail(quantile - 1) > failure * (1 - 1e-8)
