"""Generalized Cauchy noise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import Cauchy, Student
from mechanisms.admissible import divergences, laws, tails

BUDGETS = [(1, 0.05), (1, 0.15), (0.3, 0.02), (3, 0.1), (1, 0)]


@pytest.mark.parametrize("power", [2, 4, 6])
@pytest.mark.parametrize(("epsilon", "dilation"), BUDGETS)
def test_the_largest_shift_is_exactly_what_epsilon_allows(power, epsilon, dilation):
    shift = float(Cauchy(power=power).largest_shift(epsilon=epsilon, dilation=dilation))
    density = divergences.cauchy(power)
    found = divergences.largest_loss(density, shift, dilation)
    assert epsilon * (1 - 1e-6) <= found <= epsilon * (1 + 1e-9)
    assert divergences.largest_loss(density, 2 * shift, dilation) > 1.05 * epsilon  # half the noise


@pytest.mark.parametrize("power", [2, 4, 6])
@pytest.mark.parametrize(("epsilon", "dilation"), BUDGETS)
def test_the_shift_is_above_the_published_one(power, epsilon, dilation):
    shift = float(Cauchy(power=power).largest_shift(epsilon=epsilon, dilation=dilation))
    summed = (epsilon - dilation * (power - 1)) / (power - 1) ** ((power - 1) / power)
    assert shift >= summed
    # Nissim, Raskhodnikova and Smith: both at most epsilon / (2 (g + 1)).
    published = epsilon / (2 * (power + 1))
    assert float(Cauchy(power=power).largest_shift(epsilon=epsilon, dilation=published)) > published


@pytest.mark.parametrize("power", [2, 4, 6])
@pytest.mark.parametrize(("shift", "dilation"), [(0.3, 0.05), (1, 0.2), (0.01, 0)])
def test_budget_and_shift_are_inverse(power, shift, dilation):
    noise = Cauchy(power=power)
    epsilon = noise.budget(shift=shift, dilation=dilation).epsilon
    assert noise.largest_shift(epsilon=epsilon, dilation=dilation) >= Fraction(str(shift))
    less = noise.largest_shift(epsilon=epsilon * (1 - Fraction(1, 10**9)), dilation=dilation)
    assert less < Fraction(str(shift))


@pytest.mark.parametrize("power", [2, 4, 6])
@pytest.mark.parametrize("dilation", [0, 0.1, 1])
def test_a_dilation_alone_costs_the_power_of_the_tail(power, dilation):
    epsilon = float(Cauchy(power=power).budget(shift=0, dilation=dilation).epsilon)
    assert epsilon == pytest.approx((power - 1) * dilation)
    assert divergences.largest_loss(divergences.cauchy(power), 0, dilation) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "dilation"), BUDGETS)
def test_power_two_is_student_with_one_degree(epsilon, dilation):
    ours = Cauchy(power=2).largest_shift(epsilon=epsilon, dilation=dilation)
    assert float(ours) == pytest.approx(
        float(Student(degrees=1).largest_shift(epsilon=epsilon, dilation=dilation)), rel=1e-13
    )


@pytest.mark.parametrize("power", [2, 4, 6])
def test_the_law(power):
    noise = Cauchy(power=power)
    laws.check_upper_tail(noise, tails.cauchy(power))
    laws.check_density(noise, divergences.cauchy(power))
    laws.check_moments(noise)
    laws.check_samples(noise)


@pytest.mark.parametrize("power", [1, 3, 8, 2.5, True, "2"])
def test_other_powers_are_refused(power):
    with pytest.raises(ParameterError):
        Cauchy(power=power)


def test_a_dilation_that_takes_the_whole_budget_leaves_no_shift():
    assert Cauchy(power=4).largest_shift(epsilon=1, dilation=Fraction(1, 3)) == 0
    assert Cauchy(power=2).largest_shift(epsilon=1, dilation=2) == 0
