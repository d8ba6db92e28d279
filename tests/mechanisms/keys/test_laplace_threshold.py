"""The Laplace threshold against sums over the noise, and thresholds that would be too low."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import LaplaceThreshold
from mechanisms.key_selection_oracle import laplace_chance, real, worst_gap

OFFERS = [
    (Fraction(1), Fraction(1, 20), 1),
    (Fraction(1), Fraction(1, 20), 2),
    (Fraction(1), Fraction(1, 20), 3),
    (Fraction(3), Fraction(1, 1000), 3),
    (Fraction(1, 4), Fraction(1, 5), 2),
    (Fraction(2), Fraction(1, 10**9), 1),
]


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_epsilon_and_delta_hold_on_all_small_counts(epsilon, delta, keys):
    mechanism = LaplaceThreshold(epsilon=epsilon, delta=delta, keys=keys)
    chance = laplace_chance(mechanism.scale, mechanism.threshold)
    counts = {0, 1, 2, mechanism.threshold - 1, mechanism.threshold}
    assert worst_gap(chance, counts, keys, epsilon) <= real(delta)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_a_threshold_one_lower_breaks_delta(epsilon, delta, keys):
    mechanism = LaplaceThreshold(epsilon=epsilon, delta=delta, keys=keys)
    assert mechanism.threshold > 1
    lower = laplace_chance(mechanism.scale, mechanism.threshold - 1)
    assert 1 - (1 - lower(1)) ** keys > real(delta)
    assert worst_gap(lower, {0}, keys, epsilon) > real(delta)


@pytest.mark.parametrize(("epsilon", "delta", "keys"), OFFERS)
def test_shown_is_the_sum_over_the_noise(epsilon, delta, keys):
    mechanism = LaplaceThreshold(epsilon=epsilon, delta=delta, keys=keys)
    chance = laplace_chance(mechanism.scale, mechanism.threshold)
    for n in (1, 2, mechanism.threshold, mechanism.threshold + 3):
        low, high = mechanism.error.enclosed(n)
        assert abs(real(low) - chance(n)) < 1e-50
        assert abs(real(high) - chance(n)) < 1e-50
        assert low <= high


def test_rho_sets_the_scale_of_each_key():
    mechanism = LaplaceThreshold(rho=2, delta=1e-6, keys=4)
    assert mechanism.scale == 1
    assert mechanism.event.concentrated_rho is None  # the new keys have a delta
    noise = LaplaceThreshold(rho=Fraction(1, 3), delta=1e-6, keys=5).scale
    assert 0 <= Fraction(1, 3) - 5 / (2 * noise**2) < Fraction(1, 10**14)


def test_the_largest_and_the_least_noise():
    assert LaplaceThreshold(epsilon=100, delta=1e-100).threshold == 4
    wide = LaplaceThreshold(epsilon=Fraction(1, 2**20), delta=1e-100, keys=2**20)
    assert 2**47 < wide.threshold < 2**48
    with pytest.raises(ParameterError, match="epsilon"):
        LaplaceThreshold(epsilon=Fraction(1, 2**41), delta=1e-6)
