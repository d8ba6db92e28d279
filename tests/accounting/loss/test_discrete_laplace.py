"""Discrete Laplace noise against sums over the integers; vectors against one value."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from accounting.loss.profiles import assert_between, of_masses, upper
from discreet.accounting.loss.discrete_laplace import FineLaplacePair
from discreet.accounting.loss.pair import NO_LOSS, pair_of
from discreet.privacy import events


def noise(rate, center, reach):
    """The law of the noise around a center, at the integers from -reach to reach."""
    y = np.arange(-reach, reach + 1)
    return np.exp(-rate * abs(y - center)) * (1 - exp(-rate)) / (1 + exp(-rate))


def exact(rate, shift):
    reach = shift + int(60 / rate)

    def delta(direction, epsilon):
        p, q = noise(rate, shift, reach), noise(rate, 0, reach)
        return of_masses(p, q, epsilon) if direction == 0 else of_masses(q, p, epsilon)

    return delta


@pytest.mark.parametrize(("shift", "scale"), [(1, 5), (3, 5), (3, 1), (40, 20), (2000, 700)])
def test_the_profile_is_the_definition(shift, scale):
    pair = pair_of(events.DiscreteLaplace(sensitivity=shift, scale=scale, size=1))
    total = shift / scale
    assert_between(pair, exact(1 / scale, shift), (-total / 2, 0.0, 0.3 * total, 0.95 * total), width=1e-9)
    assert pair.law(0, "upper", 3).largest == pytest.approx(total, rel=1e-15)
    assert pair.law(0, "upper", 3).masses.sum() == pytest.approx(1, abs=1e-14)


def test_the_grid_counts_steps():
    event = events.DiscreteLaplace(sensitivity=1, scale=2, grid="3/10")
    assert event.shift == 3
    assert_between(pair_of(event), exact(0.15, 3), (0.0, 0.2, 0.4), width=1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(2001, 700), (30_000, 20_000), (50_000, 40_000)])
def test_fine_grids_are_bounded_by_cells(shift, scale):
    pair = pair_of(events.DiscreteLaplace(sensitivity=shift, scale=scale))
    assert isinstance(pair, FineLaplacePair)
    total = shift / scale
    assert_between(pair, exact(1 / scale, shift), (-total / 2, 0.0, 0.3 * total, 0.95 * total), width=1e-4)


@pytest.mark.parametrize("count", [3, 10, 100, 5000])
def test_cells_of_fine_grids_keep_both_masses(count):
    pair = FineLaplacePair(1 / 1000, 3000)
    cells = pair.outcomes(count)
    assert cells.p.sum() == pytest.approx(1, abs=1e-13)
    assert cells.q.sum() == pytest.approx(1, abs=1e-13)
    assert (np.diff(cells.borders) >= 0).all()
    assert cells.law("upper").largest == pytest.approx(3)


def test_the_finest_cells_are_the_lattice():
    shift, rate = 2500, 1 / 900
    found = FineLaplacePair(rate, shift).outcomes(shift + 10)
    for epsilon in (0.0, 1.0, 2.5):
        truth = exact(rate, shift)(0, epsilon)
        assert found.law("lower").delta(epsilon) == pytest.approx(truth, rel=1e-9)
        assert found.law("upper").delta(epsilon) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("rate", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("shifts", [(1, 1), (2, 1), (1, 1, 1), (3, 2), (2, 2, 1), (1, 0)])
def test_no_vector_is_worse_than_one_value(rate, shifts):
    """Every way to share a shift, by enumeration of all coordinates' losses."""
    pair = pair_of(events.DiscreteLaplace(sensitivity=5, scale=Fraction(1) / Fraction(str(rate))))
    total = pair_of(
        events.DiscreteLaplace(sensitivity=sum(shifts), scale=Fraction(1) / Fraction(str(rate)), size=1)
    )
    laws = []
    for shift in shifts:
        # All outcomes beyond both centers are alike.
        tail = 1 / (1 + exp(-rate))
        inner = [tail * (1 - exp(-rate)) * exp(-rate * y) for y in range(1, shift)]
        plain = [tail, *inner, tail * exp(-rate * shift)] if shift else [1.0]
        laws.append(list(zip(plain[::-1], plain, strict=True)))
    outcomes = [np.prod(outcome, axis=0) for outcome in product(*laws)]
    p, q = np.array(outcomes).T
    assert p.sum() == pytest.approx(1)
    for epsilon in rate * np.linspace(-5, 5, 41):
        vector = of_masses(p, q, epsilon)
        assert vector <= upper(total, 0, epsilon) + 1e-13
        assert vector <= upper(pair, 0, epsilon) + 1e-13


def test_vectors_are_charged_as_one_value():
    one, many = (
        pair_of(events.DiscreteLaplace(sensitivity=4, scale=3, size=size)).law(0, "upper", 3)
        for size in (1, None)
    )
    assert np.array_equal(one.masses, many.masses)
    assert np.array_equal(one.losses, many.losses)


def test_less_than_a_step_is_nothing():
    assert pair_of(events.DiscreteLaplace(sensitivity="1/2", scale=1)) is NO_LOSS
