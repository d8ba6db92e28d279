"""Series without cancellation, against many digits, on both sides of every change of their length."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp

from discreet.accounting.formulas.stable_sums import excess, excess_exponential, log_choose, log_sum

SIZES = [
    1e-9,
    0.99e-5,
    1.01e-5,
    0.99e-3,
    1.01e-3,
    0.0099,
    0.0101,
    0.029,
    0.031,
    0.099,
    0.101,
    0.29,
    0.31,
    0.99,
    1.01,
    3,
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("power", [1.01, 2.0, 2.5, 17.0, 300.5, -3.0])
def test_the_excess_of_a_power_keeps_its_digits(size, power):
    x = size / abs(power)
    with mpmath.workdps(50):
        exact = (1 + mpmath.mpf(x)) ** mpmath.mpf(power) - 1 - mpmath.mpf(power) * mpmath.mpf(x)
    assert float(excess(x, power)) == pytest.approx(float(exact), rel=2e-13)
    assert excess(np.array([[x], [x / 2]]), np.array([power, 2.0])).shape == (2, 2)


@pytest.mark.parametrize("size", SIZES)
def test_the_excess_of_an_exponential_keeps_its_digits(size):
    x = np.array([size, -size, size / 7])
    with mpmath.workdps(50):
        exact = [float(mpmath.expm1(mpmath.mpf(v)) - mpmath.mpf(v)) for v in x]
    assert excess_exponential(x) == pytest.approx(exact, rel=5e-15)


def test_both_branches_may_meet_in_one_array():
    x = np.array([1e-7, 0.5, 20.0])
    assert excess_exponential(x) == pytest.approx([float(excess_exponential(x[[i]])[0]) for i in range(3)])
    assert excess(x, 2.0) == pytest.approx(x**2)


@pytest.mark.parametrize("order", [2, 3, 40, 1000])
def test_binomial_coefficients_and_sums_of_exponentials(order):
    logs = log_choose(order)
    assert logs[0] == pytest.approx(np.log(order * (order - 1) / 2))
    assert log_sum(logs) == pytest.approx(float(logsumexp(logs)), rel=1e-14)
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum(np.array([1.0, np.inf])) == np.inf
    with pytest.raises(ValueError, match="read-only"):
        logs[0] = 0.0
