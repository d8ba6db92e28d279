"""Cells bound their law from both sides, and mixing or exchanging them is mixing or exchanging the laws."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.loss.profiles import of_masses
from discreet.accounting.loss.cells import CellMasses, Cells, mixed_losses, spaced

EPSILONS = np.linspace(-3, 3, 25)


def random_outcomes(generator, number=400):
    """Random outcomes in the order of their loss, with laws P and Q that both sum to 1."""
    p, q = generator.dirichlet(np.full(number, 0.3), size=2) + 1e-12
    order = np.argsort(p / q)
    return p[order] / p.sum(), q[order] / q.sum()


def cut(p, q, number, first=0, last=None):
    """Cells of such outcomes, with some left outside at both ends."""
    last = len(p) if last is None else last
    starts = np.unique(np.linspace(first, last, number + 1).astype(int))
    losses = np.log(p / q)
    borders = np.append(losses[starts[:-1]], losses[last - 1])
    inside = [np.array([law[a:b].sum() for a, b in pairwise(starts)]) for law in (p, q)]
    outside = [
        CellMasses(float(p[part].sum()), float(q[part].sum())) for part in (slice(first), slice(last, None))
    ]
    return Cells(borders, *inside, *outside)


@pytest.mark.parametrize("trial", range(5))
@pytest.mark.parametrize("number", [3, 20, 200])
def test_cells_bound_their_law(trial, number):
    p, q = random_outcomes(np.random.default_rng())
    for cells, first, second in (
        (cut(p, q, number, 5, 390), p, q),
        (cut(p, q, number, 5, 390).exchanged(), q, p),
        (cut(p, q, number, 5, 390).sampled(0.3), 0.7 * q + 0.3 * p, q),
        (cut(p, q, number, 5, 390).sampled(0.3).exchanged(), q, 0.7 * q + 0.3 * p),
    ):
        lower, upper = cells.law("lower"), cells.law("upper")
        for epsilon in EPSILONS:
            exact = of_masses(first, second, epsilon)
            assert lower.delta(epsilon) <= exact + 1e-12
            assert upper.delta(epsilon) + upper.infinity >= exact - 1e-12
        for order in (0.5, 2.0, 7.0):
            moment = np.sum(first * (first / second) ** order)
            assert lower.cumulants_at(np.array([order]))[0] <= np.log(moment) + 1e-12


def test_what_lies_above_is_charged_and_never_counted_from_below():
    cells = Cells(
        np.array([-0.1, 0.1]), np.array([0.5]), np.array([0.5]), CellMasses(0.2, 0.4), CellMasses(0.3, 0.1)
    )
    assert cells.law("upper").infinity == 0.3
    assert cells.law("upper").masses.sum() == pytest.approx(0.7)
    assert cells.law("lower").masses.sum() == 0.5
    assert cells.exchanged().law("upper").infinity == 0.4
    assert cells.sampled(0.5).law("upper").infinity == pytest.approx(0.2)


def test_outcomes_of_one_loss_are_kept():
    cells = Cells(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([0.25, 0.0, 0.75]), np.array([0.75, 0.0, 0.25]))
    for side in ("lower", "upper"):
        law = cells.law(side)
        held = {loss: law.masses[law.losses == loss].sum() for loss in (-1.0, 1.0)}
        assert held == pytest.approx({-1.0: 0.25, 1.0: 0.75})


@given(st.floats(-600, 600), st.floats(1e-12, 1))
def test_mixed_losses_keep_their_digits(loss, rate):
    with mpmath.workdps(400):
        exact = float(mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(mpmath.mpf(loss))))
    assert mixed_losses(np.array([loss]), rate)[0] == pytest.approx(exact, rel=1e-13, abs=1e-300)


def test_mixed_losses_at_their_ends():
    found = mixed_losses(np.array([-np.inf, 0.0, np.inf]), 0.25)
    assert found[0] == pytest.approx(log(0.75))
    assert found[1] == 0
    assert found[2] == np.inf


@pytest.mark.parametrize("count", [2, 3, 100])
def test_points_are_spread_from_end_to_end(count):
    points = spaced(count)
    assert len(points) == count
    assert (points[0], points[-1]) == (-1, 1)
    assert (np.diff(points) > 0).all()


def test_sampling_twice_is_sampling_at_the_product():
    p, q = random_outcomes(np.random.default_rng())
    cells = cut(p, q, 50)
    twice, once = cells.sampled(0.5).sampled(0.2), cells.sampled(0.1)
    assert np.allclose(twice.p, once.p, rtol=1e-14, atol=0)
    assert np.allclose(twice.borders, once.borders, rtol=1e-12, atol=1e-15)
    assert exp(twice.borders[0]) >= 0.9
