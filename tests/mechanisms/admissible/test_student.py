"""Student's t noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import Student
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_ROW
from mechanisms.admissible import divergences, laws, tails

MOVES = [(0.3, 0.1), (1.0, 0.3), (0.05, 0.3), (3.0, 0.01), (0.5, 0.0)]


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 10])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_largest_loss_is_the_budget(degrees, shift, dilation):
    """The guarantee holds over a dense set of moves, and is attained."""
    claimed = float(Student(degrees=degrees).budget(shift=shift, dilation=dilation).epsilon)
    found = divergences.largest_loss(divergences.student(degrees), shift, dilation)
    assert found <= claimed * (1 + 1e-9)
    assert found >= claimed * (1 - 1e-6)


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 10])
@pytest.mark.parametrize(("shift", "dilation"), MOVES)
def test_the_budget_is_below_the_published_one(degrees, shift, dilation):
    claimed = float(Student(degrees=degrees).budget(shift=shift, dilation=dilation).epsilon)
    published = dilation * (degrees + 1) + shift * (degrees + 1) / (2 * degrees**0.5)
    tighter = dilation * degrees + shift * (degrees + 1) / (2 * degrees**0.5)
    assert claimed <= tighter <= published


@pytest.mark.parametrize("degrees", [1, 3, 8])
@pytest.mark.parametrize(("epsilon", "dilation"), [(1, 0.05), (0.3, 0.01), (3, 0.2), (1, 0)])
def test_half_the_noise_breaks_the_guarantee(degrees, epsilon, dilation):
    noise = Student(degrees=degrees)
    shift = float(noise.largest_shift(epsilon=epsilon, dilation=dilation))
    density = divergences.student(degrees)
    assert divergences.largest_loss(density, shift, dilation) <= epsilon * (1 + 1e-9)
    assert divergences.largest_loss(density, 2 * shift, dilation) > epsilon * 1.05


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 17, 200])
@pytest.mark.parametrize(("epsilon", "dilation"), [(1, "0.003"), (0.3, "0.001"), (40, "0.1"), (1, 0)])
def test_shift_and_budget_are_inverse(degrees, epsilon, dilation):
    noise = Student(degrees=degrees)
    shift = noise.largest_shift(epsilon=epsilon, dilation=dilation)
    assert shift > 0
    spent = noise.budget(shift=shift, dilation=dilation).epsilon
    assert spent <= Fraction(str(epsilon)) * (1 + Fraction(1, 10**13))
    assert spent >= Fraction(str(epsilon)) * (1 - Fraction(1, 10**9))


def test_a_dilation_that_takes_the_whole_budget_leaves_no_shift():
    assert Student(degrees=5).largest_shift(epsilon=1, dilation=0.2) == 0
    assert Student(degrees=5).largest_shift(epsilon=1, dilation=0.19) > 0


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 8, 31])
def test_the_law(degrees):
    noise = Student(degrees=degrees)
    laws.check_upper_tail(noise, tails.student(degrees))
    laws.check_density(noise, divergences.student(degrees))
    laws.check_moments(noise)


@pytest.mark.parametrize("degrees", [1, 3, 4])
def test_samples(degrees):
    laws.check_samples(Student(degrees=degrees))


def test_the_guarantee_names_its_relation():
    promise = Student(degrees=3).budget(shift=1, dilation=0, neighbors=REPLACE_ROW)
    assert isinstance(promise, PureDP)
    assert promise.neighbors == REPLACE_ROW
    assert Student(degrees=3).budget(shift=0, dilation=0).epsilon == 0


@pytest.mark.parametrize("degrees", [0, 201, 2.5, True, "3"])
def test_other_degrees_are_refused(degrees):
    with pytest.raises(ParameterError):
        Student(degrees=degrees)


@pytest.mark.parametrize(
    "budget", [{}, {"rho": 1}, {"epsilon": 1, "delta": 1e-6}, {"epsilon": 0}, {"epsilon": -1}]
)
def test_other_budgets_are_refused(budget):
    with pytest.raises(ParameterError):
        Student(degrees=3).largest_shift(dilation=0.1, **budget)
    with pytest.raises(ParameterError):
        Student(degrees=3).budget(shift=1, dilation=0.1, epsilon=1)
    with pytest.raises(ParameterError):
        Student(degrees=3).budget(shift=-1, dilation=0.1)


def test_a_larger_move_costs_more():
    noise = Student(degrees=3)
    costs = [
        float(noise.budget(shift=s, dilation=t).epsilon) for s, t in ((0.1, 0.1), (0.2, 0.1), (0.2, 0.2))
    ]
    assert list(np.sort(costs)) == costs
