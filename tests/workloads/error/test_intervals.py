"""Half-widths against exact laws of combinations of few noises."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.workloads.error.intervals import half_width


def law(mechanism, reach):
    """P(N = k) for abs(k) <= reach, from the definition."""
    steps = np.arange(-reach, reach + 1)
    if isinstance(mechanism, Gaussian):
        weights = np.exp(-(steps.astype(float) ** 2) / (2 * float(mechanism.event.variance)))
    else:
        weights = np.exp(-np.abs(steps) / float(mechanism.event.scale))
    return steps, weights / weights.sum()


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("coefficients", [(1, 0), (1, 1), (3, -2), (1, 10)])
@pytest.mark.parametrize(
    "mechanism",
    [
        Gaussian(sensitivity=1, sigma=1),
        Gaussian(sensitivity=1, sigma=5),
        Gaussian(sensitivity=1, sigma=60),
        Laplace(sensitivity=1, scale=1),
        Laplace(sensitivity=1, scale=20),
    ],
    ids=repr,
)
def test_coverage_of_a_combination_of_two_is_never_below_the_level(mechanism, coefficients, confidence):
    steps, weights = law(mechanism, 400)
    width = half_width(mechanism, float(np.square(coefficients).sum()), confidence)
    sums = np.abs(coefficients[0] * steps[:, None] + coefficients[1] * steps)
    assert (np.outer(weights, weights) * (sums <= width)).sum() >= confidence - 1e-12


def test_fine_gaussian_noise_has_normal_intervals():
    mechanism = Gaussian(sensitivity=1, sigma=2**30)
    assert half_width(mechanism, 4.0, 0.95) == pytest.approx(2 * 2**30 * stats.norm.ppf(0.975), rel=1e-6)


@pytest.mark.parametrize("confidence", [0, 1, Fraction(10**400 - 1, 10**400), 1 - Fraction(1, 10**301)])
@pytest.mark.parametrize("mechanism", [Laplace(sensitivity=1, epsilon=1), Gaussian(sensitivity=1, rho=1)])
def test_confidence_out_of_range_is_refused(mechanism, confidence):
    with pytest.raises(ParameterError, match="confidence"):
        half_width(mechanism, 1.0, confidence)


@pytest.mark.parametrize("mechanism", [Laplace(sensitivity=1, epsilon=1), Gaussian(sensitivity=1, rho=1)])
def test_extreme_confidence_has_a_width(mechanism):
    assert 1 < half_width(mechanism, 1.0, 1 - Fraction(1, 10**300)) < 10**4
