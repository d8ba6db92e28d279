"""The smallest epsilon for a tolerated error of a vector, against convolutions and formulas of the laws."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import optimize, stats

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace


def laplace_masses(scale: float, reach: int) -> np.ndarray:
    """P(|N| = k) of discrete Laplace noise, from the definition."""
    ratio = exp(-1 / scale)
    masses = (1 - ratio) / (1 + ratio) * ratio ** np.arange(reach + 1.0)
    masses[1:] *= 2
    return masses


def total_tail(masses: np.ndarray, size: int, tolerance: int) -> float:
    law = np.ones(1)
    for _ in range(size):
        law = np.convolve(law, masses)
    return float(law[tolerance + 1 :].sum())


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(("tolerance", "failure"), [(12, 0.05), (40, 1e-4)])
def test_laplace_in_total_is_the_smallest_epsilon(size, tolerance, failure):
    found = Laplace.for_error(tolerance, norm="l1", confidence=1 - failure, sensitivity=size, size=size)

    def excess(epsilon: float) -> float:
        return total_tail(laplace_masses(size / epsilon, 60 * size + 400), size, tolerance) / failure - 1

    assert found.epsilon == pytest.approx(optimize.brentq(excess, 0.05, 50, xtol=1e-12), rel=1e-7)
    assert found.error.l1.quantile(1 - failure) <= tolerance


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_laplace_in_the_largest_is_the_smallest_epsilon(size):
    found = Laplace.for_error(10, norm="maximum", confidence=0.99, sensitivity=2, size=size)

    def excess(epsilon: float) -> float:
        inside = laplace_masses(2 / epsilon, 10).sum()
        return inside**size - 0.99

    assert found.epsilon == pytest.approx(optimize.brentq(excess, 0.05, 50, xtol=1e-12), rel=1e-7)
    assert found.error.maximum.quantile(0.99) <= 10


def test_real_vectors_have_the_gamma_law():
    """Continuous Laplace noise has ||N||_1 ~ Gamma(d, scale), which the lecture says cannot be computed."""
    found = Laplace.for_error(30, norm="l1", confidence=0.99, sensitivity=1.0, size=8)
    scale = 30 / stats.gamma.ppf(0.99, 8)
    assert found.epsilon == pytest.approx(1 / scale, rel=1e-4)
    assert found.error.l1.continuous_tail(30) == pytest.approx(0.01, rel=1e-3)
    for threshold in (0, 5, 30, 200):
        assert found.error.l1.continuous_tail(threshold) <= found.error.l1.union_bound(threshold) * (1 + 1e-9)
    assert found.error.l1.continuous_tail(-1) == 1.0


@pytest.mark.parametrize("size", [2, 5])
def test_gaussian_in_total_is_the_smallest_epsilon(size):
    """With any less epsilon the noise, by brute force over its law, exceeds the tolerance too often."""
    wanted = {"confidence": 0.95, "sensitivity": 3, "size": size, "delta": 1e-5}
    found = Gaussian.for_error(20, norm="l1", **wanted)
    for epsilon, within in ((found.epsilon, True), (found.epsilon * (1 - 1e-3), False)):
        sigma = Gaussian(sensitivity=3, epsilon=epsilon, delta=1e-5, size=size).sigma
        edges = np.arange(200) + 0.5
        masses = np.diff(2 * stats.norm.cdf(edges / sigma) - 1, prepend=0.0)
        tail = total_tail(masses, size, 20)
        assert (tail <= 0.05) == within
        assert tail == pytest.approx(0.05, rel=2e-2)


def test_gaussian_in_the_largest_is_the_smallest_epsilon():
    found = Gaussian.for_error(25, norm="maximum", confidence=0.9, sensitivity=4, size=50, delta=1e-6)
    assert (1 - 2 * stats.norm.sf(25.5 / found.sigma)) ** 50 == pytest.approx(0.9, rel=1e-6)
    one = Gaussian.for_error(25, confidence=0.9, sensitivity=4, size=50, delta=1e-6)
    assert one.epsilon < found.epsilon


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
def test_a_norm_of_one_value_is_its_error(mechanism):
    more = {} if mechanism is Laplace else {"delta": 1e-6}
    found = [mechanism.for_error(9, norm=norm, size=1, **more).event for norm in ("each", "l1", "maximum")]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
def test_what_is_missing_or_unknown_is_refused(mechanism):
    more = {} if mechanism is Laplace else {"delta": 1e-6}
    with pytest.raises(ParameterError, match="size"):
        mechanism.for_error(9, norm="l1", **more)
    with pytest.raises(ParameterError, match="norm"):
        mechanism.for_error(9, norm="l2", size=2, **more)


@pytest.mark.parametrize("norm", ["l1", "maximum"])
def test_rounding_to_a_grid_is_part_of_the_tolerated_error(norm):
    found = Laplace.for_error(2, norm=norm, sensitivity=0.5, size=4, grid=0.25)
    assert getattr(found.error, norm).quantile(0.95) <= 2
    assert getattr(found.error, norm).rounding == Fraction(1, 8) * (4 if norm == "l1" else 1)
