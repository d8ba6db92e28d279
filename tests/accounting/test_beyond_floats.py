"""Bounds stay bounds where floats end: huge and tiny losses, deltas below floats, many kinds of steps."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet import accounting
from discreet.accounting.filters import RenyiFilter
from discreet.errors import BudgetExceeded
from discreet.privacy import events

UNIT = Fraction(1, 1000)


def laplace(epsilon):
    return events.Laplace(epsilon=epsilon)


def test_a_huge_loss_beside_small_ones_claims_no_false_lower_bound():
    """The truth is about 1e14 + 0.037, by the normal law of the thousand small losses."""
    found = accounting.epsilon(laplace(10**14) + laplace(UNIT) * 1000, delta=UNIT)
    assert found.lower <= 10**14 + 0.05
    assert found.upper >= 10**14 + 0.03


@pytest.mark.parametrize("tenths", range(1, 100, 7))
@pytest.mark.parametrize("times", [1, 2])
def test_the_largest_loss_is_not_rounded_down(tenths, times):
    """At so small a delta the truth is the largest loss less about delta."""
    exact = Fraction(tenths, 10) * times
    found = accounting.epsilon(laplace(Fraction(tenths, 10)) * times, delta=Fraction(1, 10**40))
    assert Fraction(found.lower) <= exact
    assert Fraction(found.upper) >= exact - Fraction(4**times, 10**40)


def test_many_kinds_add_up_without_drift():
    width = Fraction(1, 2**36)
    base = (UNIT // width) * width + width
    kinds = [laplace(base + (j + Fraction(49, 100)) * width) for j in range(50)]
    run = laplace(base - Fraction(7, 2) * width) * 10**8
    for kind in kinds:
        run = run + kind
    found = accounting.epsilon(run, delta=0)
    assert Fraction(found.lower) <= run.pure_epsilon <= Fraction(found.upper)


def test_deltas_below_floats_are_bounded_by_their_neighbors():
    found = accounting.epsilon(laplace(1) * 2000, delta=Fraction(1, 10**400))
    assert found.lower < 1999 < found.upper
    for delta in (Fraction(1, 10**307), Fraction(1, 10**312), Fraction(1, 10**400)):
        mixed = accounting.epsilon(laplace(1) * 20 + events.Gaussian(noise_multiplier=1), delta=delta)
        assert mixed.lower < 57.5
        assert mixed.upper == math.inf
        alone = accounting.epsilon(events.Gaussian(noise_multiplier=1), delta=delta)
        assert alone.lower <= alone.upper


def test_deltas_next_to_one():
    found = accounting.epsilon(laplace(1) * 3, delta=1 - Fraction(1, 10**20))
    assert found.lower == found.upper == 0


@pytest.mark.parametrize("loss", [Fraction(1, 10**400), Fraction(10**400), Fraction(10**300)])
def test_losses_beyond_floats(loss):
    event = laplace(loss) * 3
    found = accounting.epsilon(event, delta=Fraction(1, 100))
    assert 0 <= found.lower <= found.upper
    assert found.upper >= min(float(min(3 * loss, Fraction(10**308))), 1) * 0.5
    below = accounting.delta(event, epsilon=0)
    assert 0 <= below.lower <= below.upper <= 1
    assert accounting.epsilon(event, delta=0).upper > 0


def test_epsilons_beyond_floats():
    assert accounting.delta(laplace(1) * 3, epsilon=Fraction(10**400)).upper == 0


def test_an_order_between_two_that_are_named_pays_for_the_hull():
    ulp = Fraction(1, 2**51)
    event = events.Renyi(curve=[(2 + Fraction(6, 10) * ulp, UNIT), (3, 10**20)])
    with pytest.raises(BudgetExceeded):
        RenyiFilter([2 + Fraction(9, 10) * ulp], [1]).spend(event)


def test_bounds_that_underflow_are_not_charged_as_nothing():
    tiny = events.RandomizedResponse(truth=Fraction(1, 2) + Fraction(1, 10**170), categories=2)
    with pytest.raises(BudgetExceeded):
        RenyiFilter([2], [Fraction(1, 10**345)], neighbors=tiny.neighbors).spend(tiny)
    with pytest.raises(BudgetExceeded):
        RenyiFilter([2], [Fraction(5, 10**324)]).spend(laplace(Fraction(25, 10**163)))
    assert not RenyiFilter([2], [1]).fits(events.Pure(epsilon=10**200))
