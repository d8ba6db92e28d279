"""Sizes of keys: the smallest that is shown so often, and probabilities rounded to the safe side."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold, TruncatedGeometric

MECHANISMS = [
    kind(epsilon=epsilon, delta=delta, keys=keys)
    for kind in (TruncatedGeometric, LaplaceThreshold, GaussianThreshold)
    for epsilon, delta, keys in ((1, 1e-6, 1), (0.2, 1e-3, 3), (20, 0.5, 2))
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("probability", [1e-9, 0.1, 0.5, 0.95, 1 - 1e-12])
def test_the_size_is_the_smallest(mechanism, probability):
    law, wanted = mechanism.error, Fraction(str(probability))
    size = law.size_for(probability)
    assert law.enclosed(size)[0] >= wanted
    assert size == 1 or law.enclosed(size - 1)[0] < wanted


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_probabilities_are_rounded_against_us_and_grow(mechanism):
    law = mechanism.error
    sizes = range(1, law.size_for(0.99) + 2)
    for n in sizes:
        assert law.shown(n) <= law.enclosed(n)[1]
        assert Fraction(law.missed(n)) >= 1 - law.enclosed(n)[1]
        assert law.shown(n) + law.missed(n) == pytest.approx(1, abs=1e-15)
    shown = [law.shown(n) for n in sizes]
    assert shown == sorted(shown)


def test_half_of_the_keys_at_the_threshold_are_shown():
    for mechanism in (
        LaplaceThreshold(epsilon=1, delta=1e-6, keys=2),
        GaussianThreshold(rho=1, delta=1e-6, keys=2),
    ):
        assert mechanism.size_for(0.5) == mechanism.threshold
        assert mechanism.shown(mechanism.threshold) > 0.5


@pytest.mark.parametrize("probability", [0, -1, 1.5, "x", True])
def test_bad_probabilities_are_refused(probability):
    for mechanism in MECHANISMS:
        with pytest.raises(ParameterError, match="probability"):
            mechanism.size_for(probability)


def test_noise_without_end_shows_nothing_for_certain():
    for mechanism in (LaplaceThreshold(epsilon=1, delta=1e-6), GaussianThreshold(rho=1, delta=1e-6)):
        with pytest.raises(ParameterError, match="probability"):
            mechanism.size_for(1)
    assert TruncatedGeometric(epsilon=1, delta=1e-6).size_for(1) > 1


@pytest.mark.parametrize("persons", [-1, 1.5, True, None, 2**63])
def test_bad_sizes_are_refused(persons):
    for mechanism in MECHANISMS:
        with pytest.raises(ParameterError, match="persons"):
            mechanism.shown(persons)
        with pytest.raises(ParameterError, match="persons"):
            mechanism.missed(persons)
