"""Laplace noise for smooth sensitivity."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import LaplaceNoise
from mechanisms.admissible import divergences, laws, tails

MOVES = [(1, 0.6, 0.1), (1, 0.5, 0.2), (0.5, 0.2, 0.1), (2, 1.5, 0.3), (1, 0, 0.2)]


@pytest.mark.parametrize(("epsilon", "shift", "dilation"), MOVES)
def test_the_hockey_stick_is_the_budget(epsilon, shift, dilation):
    claimed = float(LaplaceNoise().budget(shift=shift, dilation=dilation, epsilon=epsilon).delta)
    found = divergences.hockey_stick(divergences.laplace, shift, dilation, epsilon)
    assert claimed * (1 - 1e-4) <= found <= claimed * (1 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "dilation"), [(1, 1e-3, 0.05), (0.5, 1e-4, 0.02), (2, 1e-2, 0.2)]
)
def test_half_the_noise_breaks_the_guarantee(epsilon, delta, dilation):
    shift = float(LaplaceNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation))
    assert divergences.hockey_stick(divergences.laplace, shift, dilation, epsilon) <= delta * (1 + 1e-6)
    assert divergences.hockey_stick(divergences.laplace, 2 * shift, dilation, epsilon) > 2 * delta


@pytest.mark.parametrize("epsilon", [0.2, 1])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_the_shift_is_above_the_published_one(epsilon, delta):
    dilation = epsilon / (2 * log(2 / delta))
    assert LaplaceNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation) > 1.2 * epsilon / 2


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (3, 1e-3)])
@pytest.mark.parametrize("dilation", ["1e-12", "1e-4", "0.002"])
def test_shift_and_budget_are_inverse(epsilon, delta, dilation):
    shift = LaplaceNoise().largest_shift(epsilon=epsilon, delta=delta, dilation=dilation)
    assert 0 < shift <= epsilon
    spent = LaplaceNoise().budget(shift=shift, dilation=dilation, epsilon=epsilon).delta
    assert spent <= Fraction(str(delta)) * (1 + Fraction(1, 10**9))


def test_limits():
    assert LaplaceNoise().largest_shift(epsilon=1, delta=1e-6, dilation=0) == 1
    assert LaplaceNoise().budget(shift=1, dilation=0, epsilon=1).delta == 0
    assert LaplaceNoise().largest_shift(epsilon=1, delta=1e-6, dilation=0.5) == 0
    assert LaplaceNoise().largest_shift(epsilon=1, delta=1e-6, dilation=2) == 0
    with pytest.raises(ParameterError):
        LaplaceNoise().budget(shift=2, dilation=0.1, epsilon=1)
    with pytest.raises(ParameterError):
        LaplaceNoise().budget(shift=0.1, dilation=0.1)
    with pytest.raises(ParameterError):
        LaplaceNoise().largest_shift(epsilon=1, dilation=0.1)
    with pytest.raises(ParameterError):
        LaplaceNoise().largest_shift(epsilon=1, delta=1, dilation=0.1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(22, 7), 1])
@pytest.mark.parametrize("dilation", [0, Fraction(1, 1000)])
def test_the_largest_shift_is_within_the_budget_to_the_last_digit(epsilon, dilation):
    shift = LaplaceNoise().largest_shift(epsilon=epsilon, delta=Fraction(1, 10), dilation=dilation)
    assert LaplaceNoise().budget(shift=shift, dilation=dilation, epsilon=epsilon).delta <= Fraction(1, 10)


def test_a_delta_that_is_no_float_leaves_a_shift():
    shifts = [
        LaplaceNoise().largest_shift(epsilon=1, delta=Fraction(1, 10**digits), dilation=Fraction(1, 1000))
        for digits in (90, 96, 97, 120, 400)
    ]
    assert shifts == sorted(shifts, reverse=True)
    # log(10) more or less in log(delta) is 0.001 log(10) in the shift.
    assert float(shifts[0] - shifts[3]) == pytest.approx(30 * log(10) / 1000, rel=0.01)
    assert shifts[-1] > 0


def test_the_law():
    laws.check_upper_tail(LaplaceNoise(), tails.laplace)
    laws.check_density(LaplaceNoise(), divergences.laplace)
    laws.check_moments(LaplaceNoise())
    laws.check_samples(LaplaceNoise())
