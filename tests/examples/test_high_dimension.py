"""Laplace against Gaussian: each wins where the formula says it does."""

from __future__ import annotations

import mpmath
import pytest

from examples import high_dimension


def delta(sigma: float, epsilon: float) -> mpmath.mpf:
    """The hockey-stick divergence of two normal laws of deviation sigma, one apart."""
    up = mpmath.ncdf(1 / (2 * mpmath.mpf(sigma)) - epsilon * sigma)
    return up - mpmath.exp(epsilon) * mpmath.ncdf(-1 / (2 * mpmath.mpf(sigma)) - epsilon * sigma)


@pytest.mark.parametrize(("epsilon", "target"), [(1.0, 1e-6), (0.1, 1e-4), (4.0, 1e-9)])
def test_the_crossing_is_that_of_the_exact_calibration(epsilon, target):
    """The least sigma by a search of its own, with mpmath, put into (2 / pi) (epsilon sigma)^2."""
    with mpmath.workdps(30):
        low, high = 0.01, 1000.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if delta(middle, epsilon) <= target else (middle, high)
        assert high_dimension.crossing(epsilon, target) == pytest.approx(
            2 / float(mpmath.pi) * (epsilon * high) ** 2, rel=1e-3
        )


def test_laplace_wins_in_few_dimensions_and_gaussian_in_many():
    assert high_dimension.first_smaller() == 12
    assert 11 < high_dimension.crossing() < 12
    for dimension in (1, 5, 11):
        laplace, gaussian = high_dimension.expected_errors(dimension)
        assert laplace < gaussian
    for dimension in (12, 100, 1000):
        laplace, gaussian = high_dimension.expected_errors(dimension)
        assert gaussian < laplace


def test_the_classical_sigma_crosses_later():
    for target in high_dimension.DELTAS:
        assert high_dimension.crossing(1.0, target) < high_dimension.classical_crossing(target)


def test_errors_grow_as_d_and_as_its_root():
    small, large = high_dimension.expected_errors(100), high_dimension.expected_errors(10_000)
    assert large[0] / small[0] == pytest.approx(100, rel=1e-3)
    assert large[1] / small[1] == pytest.approx(10, rel=1e-3)


@pytest.mark.statistical
@pytest.mark.parametrize("dimension", [1, 12, 100])
def test_measured_errors_are_the_expected_ones(dimension):
    measured = high_dimension.measured_errors(dimension, releases=100_000)
    assert measured == pytest.approx(high_dimension.expected_errors(dimension), rel=0.03)


def test_it_prints_and_draws(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(high_dimension, "DIMENSIONS", (1, 10, 100))
    high_dimension.main(str(tmp_path))
    assert "smaller from 12 on" in capsys.readouterr().out
    assert (tmp_path / "high_dimension.png").exists()
