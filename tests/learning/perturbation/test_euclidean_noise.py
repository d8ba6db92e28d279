"""Euclidean noise for integers: its law, and its refusal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise, power_of_two
from discreet.privacy.events import Pure


def test_the_length_of_the_noise_is_sensitivity_times_size_over_epsilon():
    noise = EuclideanNoise(sensitivity=Fraction(2**20), epsilon=Fraction(1, 2), size=50)
    assert noise.scale == 2**21
    assert noise.event == Pure(epsilon=Fraction(1, 2))
    moved = np.subtract(noise.release([7] * 50), 7)
    assert 0.3 < np.linalg.norm(moved) / (50 * 2**21) < 2  # a Gamma(50) number over 50: beyond 7 deviations


def test_integers_of_any_size_get_noise():
    noise = EuclideanNoise(sensitivity=Fraction(1), epsilon=Fraction(1), size=1)
    assert abs(noise.release([10**30])[0] - 10**30) < 100


def test_too_much_noise_is_refused_before_anything_is_read():
    with pytest.raises(ParameterError, match="epsilon"):
        EuclideanNoise(sensitivity=Fraction(2**30), epsilon=Fraction(1, 2**20), size=2)


@pytest.mark.parametrize(("value", "power"), [(1, 1), (3, 2), (Fraction(1, 3), Fraction(1, 4)), (4, 4)])
def test_a_power_of_two_is_the_largest(value, power):
    assert power_of_two(Fraction(value)) == power
