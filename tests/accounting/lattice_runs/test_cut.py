"""Laws on the lattice: they bound one step from both sides, and close to it."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from accounting.lattice_runs.quadrature import delta_of_one_sampled_step
from discreet.accounting.lattice_runs import cut
from discreet.accounting.lattice_runs.step import NormalStep

CASES = [(0.5, 1e-4, 3e-5), (1.0, 0.01, 1e-3), (1.0, 0.01, 1e-4), (4.0, 0.3, 1e-3), (0.7, 1e-5, 1e-3)]


def law_delta(law, epsilon, slack):
    """The delta of a law and of what it leaves out, which all exceeds epsilon."""
    losses = law.base + law.spacing * (law.first + np.arange(len(law.masses))) + slack
    above = losses > epsilon
    inside = float(law.masses[above] @ -np.expm1(epsilon - losses[above]))
    return inside + law.jump.p_above - np.exp(epsilon) * law.jump.q_above


@pytest.mark.parametrize(("sigma", "rate", "spacing"), CASES)
@pytest.mark.parametrize("direction", [0, 1])
def test_laws_bound_one_step_from_both_sides(sigma, rate, spacing, direction):
    step = NormalStep(1 / sigma, rate, 1, direction, 8.0)
    low, high = step.ends
    upper = cut.law_above(step, spacing, low, high)
    lower = cut.law_below(step, spacing, low, high, 1.0)
    top = high if direction == 0 else -np.log1p(-rate)
    for epsilon in np.linspace(0, 0.6, 7) * min(top, 1.0):
        exact = float(delta_of_one_sampled_step(epsilon, sigma, rate)[direction])
        above, below = law_delta(upper, epsilon, upper.slack), law_delta(lower, epsilon, -lower.slack)
        assert below <= exact * (1 + 1e-9) + 1e-18
        assert above >= exact * (1 - 1e-9) - 1e-18
        if spacing < 0.02 * epsilon:
            assert above - below <= 0.02 * exact + 1e-14


def test_less_mass_upward_would_be_wrong():
    step = NormalStep(1.0, 0.01, 1, 0, 8.0)
    law = cut.law_above(step, 0.01, *step.ends)
    moved = np.append(law.masses[1:], 0.0) * 0.1 + law.masses * 0.9
    epsilon = 0.1
    exact = float(delta_of_one_sampled_step(epsilon, 1.0, 0.01)[0])
    assert law_delta(law, epsilon, 0.0) >= exact > law_delta(replace(law, masses=moved), epsilon, 0.0)


@pytest.mark.parametrize(("sigma", "rate", "spacing"), CASES)
def test_no_cell_is_above_its_outcome(sigma, rate, spacing):
    """The profile of the lower law stays below the true one at every epsilon, negative ones too."""
    step = NormalStep(1 / sigma, rate, 1, 0, 8.0)
    law = cut.law_below(step, spacing, *step.ends, 1.0)
    points = law.base - law.slack + law.spacing * (law.first + np.arange(len(law.masses)))
    # E max(0, e^L - e^t) under Q is convex in e^t; the lower law stays below it everywhere.
    q = law.masses * np.exp(-points)
    for t in np.linspace(points[0], points[min(len(points) - 1, 400)], 9):
        kept = points > t
        under = float(q[kept] @ (np.exp(points[kept]) - np.exp(t)))
        exact, _ = delta_of_one_sampled_step(mpmath.mpf(float(t)), sigma, rate)
        rest = law.jump.p_above - np.exp(t) * law.jump.q_above
        assert under + rest <= float(exact) * (1 + 1e-9) + 1e-16


def test_without_its_slack_the_lower_law_would_be_wrong(monkeypatch):
    """Where cells take nothing from their neighbors, they miss their points: the shift keeps the bound."""
    monkeypatch.setattr(cut, "_MOST_TAKEN", 0.0)
    step = NormalStep(1.0, 0.3, 1, 0, 8.0)
    law = cut.law_below(step, 0.2, *step.ends, 1.0)
    assert law.slack > 1e-4
    exact = float(delta_of_one_sampled_step(0.5, 1.0, 0.3)[0])
    assert law_delta(law, 0.5, -law.slack) <= exact


@pytest.mark.parametrize(("sigma", "rate", "spacing"), CASES)
def test_cells_give_no_more_than_they_have(sigma, rate, spacing):
    """Mixing moves mass, and makes none; what falls short afterwards is less than before."""
    step = NormalStep(1 / sigma, rate, 1, 0, 8.0)
    low, high = step.ends
    points = low + spacing * np.arange(int((high - low) / spacing) + 2)
    z, _, _ = step.outcomes(np.append(points - spacing / 2, points[-1] + spacing / 2))
    found = step.masses(z)
    mass, short = cut._mixed(found, points)
    assert mass.sum() <= found.p.sum() * (1 + 1e-14)
    assert (mass >= 0).all()
    # Whatever falls short after mixing did so before, by at least as much.
    before = points - np.log(np.maximum(found.p - found.p_error, 1e-300) / (found.q + found.q_error))
    heavy = found.p > 1e-9
    assert (
        float(mass[heavy] @ np.maximum(short, 0)[heavy])
        <= float(found.p[heavy] @ np.maximum(before, 0)[heavy]) * (1 + 1e-9) + 1e-12
    )


@pytest.mark.few(5)
@pytest.mark.parametrize(("sigma", "rate"), [(0.7, 1e-5), (1.0, 1e-4), (0.5, 0.1), (0.7, 0.01), (4.0, 1e-3)])
@pytest.mark.parametrize("finer", [1.0, 3.0, 20.0])
def test_a_lower_law_loses_no_more_than_spacings_squared(sigma, rate, finer):
    """Cells keep their mean losses wherever the lattice lies: what is lost is of second order."""
    step = NormalStep(1 / sigma, rate, 1, 0, 8.0)
    spread = float(step.losses(np.array([1.0]))[0] - step.ends[0]) / finer
    law = cut.law_below(step, spread, *step.ends, 0.0)
    points = law.base - law.slack + law.spacing * (law.first + np.arange(len(law.masses)))
    z = np.linspace(-8.0, float(step.outcomes(np.array([law.threshold]))[0][0]), 400_001)
    exact = float(step.masses(z).p @ step.losses((z[1:] + z[:-1]) / 2))
    assert exact - float(law.masses @ points) <= 4e-3 * spread
