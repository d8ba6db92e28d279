"""Gaussian noise for smooth sensitivity."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import GaussianNoise
from mechanisms.admissible import divergences, laws, tails

MOVES = [
    (1, 0.4, 0.1),
    (1, 0.3, 0.2),
    (0.5, 0.2, 0.05),
    (2, 1, 0.3),
    (0.2, 0.1, 0.02),
    (1, 0.4, 0),
    (1, 0, 0.3),
]


@pytest.mark.parametrize(("epsilon", "shift", "dilation"), MOVES)
def test_the_hockey_stick_is_the_budget(epsilon, shift, dilation):
    claimed = float(GaussianNoise().budget(shift=shift, dilation=dilation, epsilon=epsilon).delta)
    found = divergences.hockey_stick(divergences.gaussian, shift, dilation, epsilon)
    assert claimed * (1 - 1e-5) <= found <= claimed * (1 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "dilation"), [(1, 1e-3, 0.05), (0.5, 1e-4, 0.02), (2, 1e-2, 0.1)]
)
def test_half_the_noise_breaks_the_guarantee(epsilon, delta, dilation):
    shift = float(GaussianNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation))
    assert divergences.hockey_stick(divergences.gaussian, shift, dilation, epsilon) <= delta * (1 + 1e-6)
    assert divergences.hockey_stick(divergences.gaussian, 2 * shift, dilation, epsilon) > 2 * delta


@pytest.mark.parametrize("epsilon", [0.2, 1])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_the_shift_is_above_the_published_one(epsilon, delta):
    level = log(2 / delta)
    dilation = epsilon / (4 * (1 + level))
    published = epsilon / (5 * sqrt(2 * level))
    assert GaussianNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation) > 1.1 * published


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (3, 1e-3)])
@pytest.mark.parametrize("dilation", ["1e-12", "1e-4", "0.001", "0"])
def test_shift_and_budget_are_inverse(epsilon, delta, dilation):
    shift = GaussianNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation)
    assert shift > 0
    spent = GaussianNoise().budget(shift=shift, dilation=dilation, epsilon=epsilon).delta
    assert Fraction(str(delta)) * Fraction(999, 1000) <= spent <= Fraction(str(delta))


def test_limits():
    assert GaussianNoise().largest_shift(epsilon=1, delta=1e-6, dilation=0.5) == 0
    assert GaussianNoise().largest_shift(epsilon=1, delta=1e-6, dilation=2) == 0
    assert GaussianNoise().budget(shift=0, dilation=0, epsilon=1).delta == 0
    with pytest.raises(ParameterError):
        GaussianNoise().budget(shift=1, dilation=0.1, epsilon=1)
    with pytest.raises(ParameterError):
        GaussianNoise().budget(shift=0.1, dilation=0.1)
    with pytest.raises(ParameterError):
        GaussianNoise().largest_shift(rho=1, dilation=0.1)


def test_the_law():
    laws.check_upper_tail(GaussianNoise(), tails.gaussian)
    laws.check_density(GaussianNoise(), divergences.gaussian)
    laws.check_moments(GaussianNoise())
    laws.check_samples(GaussianNoise())
