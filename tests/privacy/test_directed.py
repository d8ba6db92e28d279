from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.directed import exp_interval, log_interval, sqrt_interval

POSITIVE = st.builds(
    lambda n, d, shift: Fraction(n, d) * Fraction(2) ** shift,
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.integers(-200, 200),
)


def mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


def check(interval, value, relative):
    low, high = interval
    assert mp(low) <= value <= mp(high)
    assert mp(high) - mp(low) <= relative * abs(value)


@settings(deadline=None)
@given(st.fractions(-3000, 3000))
def test_exp_is_enclosed(x):
    with mpmath.workdps(200):
        check(exp_interval(x), mpmath.exp(mp(x)), mpmath.mpf(10) ** -34)


@settings(deadline=None)
@given(POSITIVE)
def test_log_is_enclosed(x):
    with mpmath.workdps(300):
        low, high = log_interval(x)
        value = mpmath.log(mp(x))
        assert mp(low) <= value <= mp(high)
        assert mp(high) - mp(low) <= mpmath.mpf(10) ** -36 * max(1, abs(value))


@pytest.mark.parametrize("power", [10, 30, 60, 500])
@pytest.mark.parametrize("sign", [1, -1])
def test_log_keeps_its_digits_near_one(power, sign):
    x = 1 + sign * Fraction(1, 10**power)
    with mpmath.workdps(1200):
        low, high = log_interval(x)
        value = mpmath.log(mp(x))
        assert mp(low) <= value <= mp(high)
        assert mp(high) - mp(low) <= abs(value) * mpmath.mpf(10) ** -10


@given(POSITIVE)
def test_sqrt_is_enclosed(x):
    low, high = sqrt_interval(x)
    assert low**2 <= x <= high**2
    assert high - low <= low / 2**90


@given(POSITIVE)
def test_sqrt_of_a_square_is_exact(x):
    assert sqrt_interval(x * x) == (x, x)


def test_exact_points():
    assert exp_interval(Fraction(0)) == (1, 1)
    assert log_interval(Fraction(1)) == (0, 0)
    assert sqrt_interval(Fraction(0)) == (0, 0)
