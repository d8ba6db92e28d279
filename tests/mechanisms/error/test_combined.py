"""Combinations of noises: the bound is never below the exact tail, and hardly above it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.combined import CombinedError


def masses(law, most):
    """P(N = k) for k from -most to most, from the tails."""
    one_sided = [1 - law.tail_in_steps(0)]
    one_sided += [(law.tail_in_steps(k - 1) - law.tail_in_steps(k)) / 2 for k in range(1, most + 1)]
    return {sign * k: one_sided[k] for k in range(most + 1) for sign in (-1, 1)}


def exact_tail(laws, coefficients, steps, most=90):
    tables = [masses(law, most) for law in laws]
    total = 0.0
    for noises in product(*tables):
        if abs(sum(c * k for c, k in zip(coefficients, noises, strict=True))) > steps:
            chance = 1.0
            for table, k in zip(tables, noises, strict=True):
                chance *= table[k]
            total += chance
    return total


LAPLACE = Laplace(sensitivity=1, epsilon=Fraction(1, 2)).error
NARROW = Laplace(sensitivity=1, epsilon=2).error
NORMAL = Gaussian(sensitivity=1, rho=Fraction(1, 50)).error


def test_a_difference_of_two_counts_is_the_law_of_two_geometric_sums():
    """For equal discrete Laplace noises the law of the difference has a closed form."""
    r, law = exp(-0.5), CombinedError(laws=(LAPLACE, LAPLACE), coefficients=(1, 1))
    for steps in range(40):
        total = sum(
            ((1 - r) / (1 + r)) ** 2 * r**d * (d + (1 + r * r) / (1 - r * r)) for d in range(steps + 1, 400)
        )
        assert 2 * total <= law.tail_in_steps(steps) <= 2 * total * (1 + 1e-8) + 1e-14


@pytest.mark.parametrize(
    ("laws", "coefficients"),
    [((LAPLACE, NARROW), (1, 3)), ((NORMAL, LAPLACE), (2, 1)), ((NARROW, NARROW), (5, 2))],
    ids=["two scales", "two kinds", "two factors"],
)
def test_the_tail_is_at_least_and_nearly_the_exact_one(laws, coefficients):
    law = CombinedError(laws=laws, coefficients=coefficients)
    for steps in (0, 1, 4, 9, 17, 30):
        exact = exact_tail(laws, coefficients, steps)
        assert exact * (1 - 1e-9) <= law.tail_in_steps(steps) <= exact * (1 + 1e-6) + 1e-12


def test_what_is_rounded_is_paid_for_and_costs_little():
    """Wide noises are rounded to a 64th of a deviation: the tail lies between that and a little more."""
    wide = Laplace(sensitivity=1, epsilon=Fraction(1, 2000)).error
    law, r = CombinedError(laws=(wide, wide), coefficients=(1, 1)), exp(-1 / 2000)
    for steps in (1000, 5000, 9000):
        gap = steps + 1
        inner = gap * (1 - r) + (1 + r * r) / (1 + r) + r
        exact = 2 * r**gap * inner / (1 + r) ** 2
        assert exact <= law.tail_in_steps(steps) <= 1.05 * exact


def test_a_bound_without_what_rounding_moves_is_noticed(monkeypatch):
    """The control: with coarse multiples taken for the noise itself, the tail falls below the exact one."""
    monkeypatch.setattr("discreet.mechanisms.error.combined._BINS", 1)
    wide = Laplace(sensitivity=1, epsilon=Fraction(1, 300)).error
    law, r = CombinedError(laws=(wide, wide), coefficients=(1, 1)), exp(-1 / 300)
    width = int(sqrt(wide.variance))
    steps, moved = 3 * width, len(law.laws) * width // 2
    gap = steps + 1
    exact = 2 * r**gap * (gap * (1 - r) + (1 + r * r) / (1 + r) + r) / (1 + r) ** 2
    assert law.tail_in_steps(steps) >= exact
    assert law.tail_in_steps(steps + moved) < exact


def test_margins_are_those_of_the_root_of_squares_and_not_of_the_sum():
    law = CombinedError(laws=(NORMAL, NORMAL), coefficients=(1, 1))
    one = NORMAL.quantile("0.95")
    assert 1.35 * one < law.quantile("0.95") < 1.5 * one
    assert law.variance == pytest.approx(2 * NORMAL.variance)
