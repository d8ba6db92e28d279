"""The error laws of discrete Laplace noise against convolution by brute force."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.mechanisms import Laplace
from discreet.mechanisms.error.laplace import LaplaceError

SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)]


def magnitudes(scale: Fraction, reach: int) -> np.ndarray:
    """P(|N| = 0), …, P(|N| = reach), from the definition."""
    weights = np.exp(-np.arange(reach + 1) / float(scale))
    weights[1:] *= 2
    total = 1 + 2 * exp(-1 / float(scale)) / (1 - exp(-1 / float(scale)))
    return weights / total


@pytest.mark.parametrize("scale", SCALES)
def test_one_value_equals_the_sums_over_the_law(scale):
    law = magnitudes(scale, int(60 * scale) + 60)
    support = np.arange(len(law))
    error = LaplaceError(scale=scale)
    assert error.mean_absolute == pytest.approx(support @ law, rel=1e-9)
    assert error.variance == pytest.approx(support**2 @ law, rel=1e-9)
    for threshold in (0, 1, 5, Fraction(13, 2)):
        assert error.tail(threshold) == pytest.approx(law[int(threshold) + 1 :].sum(), rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_l1_law_is_the_convolution(scale, size):
    reach = int(60 * scale) + 60
    one = magnitudes(scale, reach)
    law = np.array([1.0])
    for _ in range(size):
        law = np.convolve(law, one)
    error = LaplaceError(scale=scale, size=size).l1
    assert error.exact
    for threshold in (0, 1, int(size * scale), int(2 * size * scale) + 3):
        assert error.tail(threshold) == pytest.approx(law[threshold + 1 :].sum(), rel=1e-7, abs=1e-15)


@given(
    scale=st.fractions(min_value=Fraction(1, 10), max_value=30, max_denominator=50),
    size=st.integers(1, 60),
    threshold=st.integers(0, 2000),
)
def test_exact_l1_tail_never_exceeds_the_union_bound(scale, size, threshold):
    law = LaplaceError(scale=scale, size=size).l1
    assert law.tail(threshold) <= law.union_bound(threshold) * (1 + 1e-9)


@pytest.mark.parametrize("size", [1, 4, 50])
def test_on_a_fine_grid_the_l1_error_is_gamma_distributed(size):
    """The lecture says that this tail cannot be computed; it is Gamma(K, sensitivity / epsilon)."""
    mechanism = Laplace(sensitivity=1.0, epsilon=0.5, size=size)
    for multiple in (0.5, 1, 2):
        threshold = multiple * size * 2
        exact = stats.gamma.sf(threshold, size, scale=mechanism.scale)
        assert mechanism.error.l1.tail(threshold) == pytest.approx(exact, rel=1e-3)
        continuous_union = min(1.0, size * exp(-threshold / (size * mechanism.scale)))
        assert exact <= continuous_union * (1 + 1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_maximum_is_exact(scale):
    law = magnitudes(scale, int(60 * scale) + 60)
    error = LaplaceError(scale=scale, size=7).maximum
    for threshold in (0, 2, 9):
        assert error.tail(threshold) == pytest.approx(
            1 - law[: threshold + 1].sum() ** 7, rel=1e-9, abs=1e-14
        )


@given(scale=st.sampled_from(SCALES), size=st.integers(1, 4), threshold=st.integers(1, 100))
@settings(max_examples=40)
def test_l2_bound_holds(scale, size, threshold):
    reach = int(25 * scale) + 25
    one = magnitudes(scale, reach)
    squares: dict[int, float] = {0: 1.0}
    error = LaplaceError(scale=scale, size=min(size, 2)).l2
    for _ in range(min(size, 2)):
        mixed: dict[int, float] = {}
        for square, p in squares.items():
            for magnitude, q in enumerate(one):
                if q > 1e-18:
                    mixed[square + magnitude**2] = mixed.get(square + magnitude**2, 0.0) + p * q
        squares = mixed
    tail = sum(p for square, p in squares.items() if square > threshold**2)
    assert not error.exact
    assert error.tail(threshold) >= tail * (1 - 1e-9)


@given(
    scale=st.fractions(min_value=Fraction(1, 50), max_value=10**6, max_denominator=50),
    size=st.integers(1, 20),
    confidence=st.sampled_from(["0.5", "0.9", "0.95", "0.99999", "0.999999999"]),
)
def test_quantiles_are_the_smallest_that_suffice(scale, size, confidence):
    failure = float(1 - Fraction(confidence))
    error = LaplaceError(scale=scale, size=size)
    for law in (error, error.l1, error.maximum):
        quantile = law.quantile(confidence)
        assert law.tail(quantile) <= failure
        if quantile >= 1:
            assert law.tail(quantile - 1) > failure * (1 - 1e-8)


def test_rounding_to_a_grid_is_part_of_the_error():
    mechanism = Laplace(sensitivity=1.0, epsilon=100, grid=0.25)
    assert mechanism.error.tail(0.124) == 1.0
    assert mechanism.error.tail(0.125) < 1e-9
    assert mechanism.error.quantile(0.5) == 0.125
