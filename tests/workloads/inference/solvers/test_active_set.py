"""Descent within one set: faces, steps, and a residual that is a certificate."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.inference.cumulative import RangeSums
from discreet.workloads.inference.sets.simplex import NonNegative
from discreet.workloads.inference.solvers.active_set import _shortened, descend
from discreet.workloads.inference.solvers.objective import DenseFit, Distance, ImplicitFit
from workloads.inference.convex_oracle import SETS, general_solver

SINGLE = [name for name in SETS if " and " not in name and name != "everything"]


@pytest.mark.parametrize("name", SINGLE)
def test_the_residual_of_a_descent_bounds_the_distance_to_the_optimum(name):
    """After any number of steps; curvatures lie between 1/2 and 1, so within 2 sqrt(n) residuals."""
    random = np.random.default_rng(1)
    for steps in (1, 2, 3, 200):
        made = SETS[name](random, 10)
        answers, weights = made.truth + random.laplace(0, 4, 10), random.uniform(0.5, 1, 10)
        fit = Distance(answers=answers, weights=weights)
        solution = descend(fit, made.sets[0], np.zeros(10), tolerance=1e-13, most=steps)
        expected = general_solver(np.eye(10), answers, weights, made.conditions)
        away = np.linalg.norm(solution.point - expected)
        assert away <= 2 * np.sqrt(10) * solution.residual + 1e-7
        assert steps < 200 or solution.residual < 1e-11


@pytest.mark.parametrize("name", SINGLE)
def test_directions_along_a_face_stay_in_the_set(name):
    """Both ways, and what is left of any other direction is orthogonal to them."""
    random = np.random.default_rng(2)
    for _ in range(20):
        [member] = SETS[name](random, 9).sets
        point = member.project(random.normal(1, 3, 9))
        direction = member.along(point, random.normal(0, 1, 9))
        for sign in (1e-6, -1e-6):
            moved = point + sign * direction
            assert np.abs(member.project(moved) - moved).max() < 1e-12
        other = random.normal(0, 1, 9)
        assert abs((other - member.along(point, other)) @ direction) < 1e-9
        assert np.abs(member.along(point, direction) - direction).max() < 1e-9


def test_an_ill_conditioned_strategy_is_fitted_to_the_last_digits():
    """Prefixes of 200 cells: curvatures spread over four orders of magnitude."""
    random = np.random.default_rng(3)
    cells = random.poisson(0.5, 200).astype(float)
    matrix = np.tril(np.ones((200, 200)))
    answers = matrix @ cells + random.laplace(0, 5, 200)
    ranges = RangeSums(size=200, ranges=np.stack([np.zeros(200, int), np.arange(200)], axis=1))
    expected = general_solver(matrix, answers, np.ones(200), lambda x: [x >= 0])
    for fit in (DenseFit(matrix, answers, np.ones(200)), ImplicitFit(ranges, answers, np.ones(200))):
        solution = descend(fit, NonNegative(), np.zeros(200), tolerance=1e-13, most=500)
        assert solution.residual < 1e-13
        assert np.abs(solution.point - expected).max() < 1e-5


def test_a_step_that_raises_the_objective_is_shortened():
    random = np.random.default_rng(4)
    fit = Distance(answers=random.normal(0, 3, 8), weights=np.ones(8))
    point = np.abs(random.normal(0, 3, 8))
    gradient = fit.gradient(point)
    for length in (0.5, 1.0, 7.0, 1e6):
        moved, slope = _shortened(fit, NonNegative(), point, gradient, -length * gradient)
        assert ((moved - fit.answers) ** 2).sum() < ((point - fit.answers) ** 2).sum()
        assert np.array_equal(slope, fit.gradient(moved))
    assert _shortened(fit, NonNegative(), point, gradient, gradient)[0] is point  # uphill only: stay


def test_nothing_to_do():
    fit = Distance(answers=np.zeros(0), weights=np.zeros(0))
    assert descend(fit, NonNegative(), np.zeros(0), tolerance=1e-12, most=10).point.size == 0
