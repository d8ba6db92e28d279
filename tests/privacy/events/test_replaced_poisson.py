"""Samples in which a unit is replaced: bounds that hold whatever the rate."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.privacy import REPLACE_PERSON
from discreet.privacy.events import Gaussian, ReplacedPoissonGaussian, ZeroConcentrated, group


@pytest.mark.parametrize("size", [2, 3, 7])
def test_without_amplification_it_is_a_vector_twice_as_long(size):
    event = ReplacedPoissonGaussian(noise_multiplier=3, rate="1/4", neighbors=REPLACE_PERSON)
    twice = group(Gaussian(noise_multiplier=3, neighbors=REPLACE_PERSON), 2)
    assert event.concentrated_rho == twice.concentrated_rho
    # A chain of concentrated steps: the square of its length.
    assert group(event, size) == ZeroConcentrated(
        rho=size**2 * event.concentrated_rho, neighbors=REPLACE_PERSON.group(size)
    )


def test_where_nothing_is_sampled_nothing_is_lost():
    event = ReplacedPoissonGaussian(noise_multiplier=3, rate=0, neighbors=REPLACE_PERSON)
    assert event.pure_epsilon == event.concentrated_rho == Fraction(0)
