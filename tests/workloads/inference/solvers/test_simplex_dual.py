"""The simplex by a price for the total, against a general solver."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.inference.cumulative import RangeSums
from discreet.workloads.inference.sets.simplex import Simplex
from discreet.workloads.inference.solvers.objective import DenseFit, ImplicitFit
from discreet.workloads.inference.solvers.simplex_dual import descend_on_simplex
from workloads.inference.convex_oracle import general_solver


@pytest.mark.parametrize("total", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("size", [1, 2, 30])
def test_a_known_total_is_met_and_certified(size, total):
    random = np.random.default_rng(1)
    ends = np.sort(random.integers(0, size, (4 * size, 2)), axis=1)
    matrix = np.array([[a <= i <= b for i in range(size)] for a, b in ends], float)
    answers = matrix @ random.poisson(1, size) + random.laplace(0, 5, 4 * size)
    ones = np.ones(4 * size)
    expected = matrix @ general_solver(matrix, answers, ones, lambda x: [x >= 0, sum(x) == total])
    for fit in (
        DenseFit(matrix, answers, ones),
        ImplicitFit(RangeSums(size=size, ranges=ends), answers, ones),
    ):
        solution = descend_on_simplex(fit, Simplex(total), fit.minimum(), tolerance=1e-11, most=500)
        assert solution.residual <= 1e-11
        assert solution.steps <= 60  # a price that moves the wrong way never settles
        assert solution.point.min() >= 0
        assert solution.point.sum() == pytest.approx(total)
        assert np.abs(matrix @ solution.point - expected).max() < 1e-5
