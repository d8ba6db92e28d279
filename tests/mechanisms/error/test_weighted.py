"""Weighted sums of noises: against the sum over all pairs of values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.weighted import WeightedError

PAIRS = [
    (Laplace(sensitivity=1, epsilon=0.2), Laplace(sensitivity=1, epsilon=0.1), Fraction(4, 5)),
    (Laplace(sensitivity=1, epsilon=0.5), Gaussian(sensitivity=1, rho=0.01), Fraction(1, 2)),
    (Gaussian(sensitivity=3, rho=0.1), Gaussian(sensitivity=3, rho=0.2), Fraction(1, 3)),
]


def masses(law, most=600):
    tails = np.array([law.tail_in_steps(steps) for steps in range(most)])
    side = -np.diff(tails) / 2
    return np.concatenate([side[::-1], [1 - tails[0]], side])


@pytest.mark.parametrize(("one", "other", "weight"), PAIRS)
def test_the_tail_of_a_weighted_sum_is_bounded_by_enumeration(one, other, weight):
    law = WeightedError(laws=(one.error, other.error), weights=(weight, 1 - weight))
    first, second = masses(one.error), masses(other.error)
    values = np.arange(len(first)) - len(first) // 2
    sums = np.abs(float(weight) * values[:, None] + float(1 - weight) * values[None, :])
    joint = first[:, None] * second[None, :]
    deviation = law.variance**0.5
    for steps in range(0, int(6 * deviation), 3):
        exact = joint[sums > steps + 1e-9].sum()
        assert exact * (1 - 1e-9) <= law.tail_in_steps(steps)
        if steps > 1:
            assert law.tail_in_steps(steps) <= joint[sums > steps - 0.05 * deviation - 1e-9].sum() + 1e-9
    assert law.variance == pytest.approx((joint * sums**2).sum(), rel=1e-6)


def test_rounding_is_added():
    one = Laplace(sensitivity=1, epsilon=0.2).error
    plain, rounded = (
        WeightedError(laws=(one, one), weights=(Fraction(1, 2),) * 2, rounding=Fraction(by, 2))
        for by in (0, 1)
    )
    assert rounded.quantile(0.95) == plain.quantile(0.95) + 0.5
    assert rounded.tail(7) == plain.tail(Fraction(13, 2))
