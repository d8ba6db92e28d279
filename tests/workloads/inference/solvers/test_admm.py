"""Alternating directions: the residual is a certificate, even when steps run out."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.inference.sets.equalities import Equalities
from discreet.workloads.inference.sets.simplex import NonNegative
from discreet.workloads.inference.solvers.admm import alternate
from discreet.workloads.inference.solvers.objective import Distance
from workloads.inference.convex_oracle import SETS, general_solver


@pytest.mark.parametrize("name", ["simplex", "rising", "falling within bounds", "equalities", "everything"])
def test_the_residual_bounds_the_distance_to_the_optimum(name):
    """After any number of steps for one set: at most sqrt(n) residuals. For several, when it is tiny."""
    random = np.random.default_rng(1)
    for steps in (1, 2, 3, 5, 10, 2000):
        made = SETS[name](random, 10)
        answers, weights = made.truth + random.laplace(0, 4, 10), random.uniform(1, 3, 10)
        fit = Distance(answers=answers, weights=weights)
        solution = alternate(fit, made.sets, np.zeros(10), tolerance=0.0, most=steps)
        assert solution.steps <= steps
        expected = general_solver(np.eye(10), answers, weights, made.conditions)
        away = np.linalg.norm(solution.point - expected)
        if len(made.sets) == 1:
            assert away <= np.sqrt(10) * solution.residual + 1e-7
        elif solution.residual < 1e-9:
            assert away < 1e-6
        assert steps < 2000 or solution.residual < 1e-6


def test_a_point_off_by_much_has_a_residual():
    """Stopping early is seen in the residual."""
    random = np.random.default_rng(2)
    matrix = random.integers(0, 2, (4, 12)).astype(float)
    sets = [NonNegative(), Equalities(matrix, matrix @ random.poisson(1, 12))]
    answers = random.normal(0, 20, 12)
    fit = Distance(answers=answers, weights=np.ones(12))
    early = alternate(fit, sets, answers, tolerance=0.0, most=2)
    late = alternate(fit, sets, answers, tolerance=1e-12, most=20_000)
    assert np.abs(early.point - late.point).max() > 1e-3
    assert early.residual > 1e-4
    assert late.residual < 1e-11


def test_sets_without_a_common_point_stay_apart():
    sets = [NonNegative(), Equalities([[1.0, 0.0]], [-1.0])]
    fit = Distance(answers=np.zeros(2), weights=np.ones(2))
    assert alternate(fit, sets, np.zeros(2), tolerance=1e-9, most=500).apart > 0.5
