"""One Gaussian step on a sample, from the step on all data and back."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from discreet.accounting.one_sample import scaled_delta, step_epsilon, whole_epsilon

RATES = [1e-12, 1e-5, 0.01, 0.5, 0.999]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("whole", [0.0, 1e-9, 0.3, 20.0, 599.0, 650.0])
def test_epsilons_are_rounded_to_the_safe_side(rate, whole):
    with mpmath.workdps(400):
        exact = mpmath.log(1 + mpmath.mpf(rate) * (mpmath.exp(mpmath.mpf(whole)) - 1))
        low, high = (step_epsilon(whole, rate, above=above) for above in (False, True))
        assert low <= exact <= high
        assert high - low <= 1e-12 * high
        back = mpmath.log(1 + (mpmath.exp(mpmath.mpf(high)) - 1) / mpmath.mpf(rate))
        low, high = (whole_epsilon(high, rate, above=above) for above in (False, True))
        assert low <= back <= high


@pytest.mark.parametrize("rate", RATES)
def test_deltas_are_rounded_to_the_safe_side(rate):
    exact = Fraction(1e-7) / Fraction(rate)
    assert scaled_delta(1e-7, rate, above=False) < exact < scaled_delta(1e-7, rate, above=True)
