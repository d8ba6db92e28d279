"""The minimizer on functions whose minima are known."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.algebra.lbfgs import minimize


def test_quadratics_and_a_curved_valley():
    generator = np.random.default_rng(0)
    root = generator.normal(size=(12, 12))
    matrix, target = root @ root.T + np.eye(12), generator.normal(size=12)
    point, value = minimize(
        lambda x: (float((x - target) @ matrix @ (x - target)) / 2, matrix @ (x - target)), np.zeros(12), 500
    )
    assert point == pytest.approx(target, abs=1e-5)
    assert value == pytest.approx(0, abs=1e-9)

    def valley(x):
        rise = x[1] - x[0] ** 2
        return (1 - x[0]) ** 2 + 100 * rise**2, np.array([-2 * (1 - x[0]) - 400 * x[0] * rise, 200 * rise])

    assert minimize(valley, np.array([-1.2, 1.0]), 500)[0] == pytest.approx([1, 1], abs=1e-3)


def test_a_search_that_hardly_gains_ends():
    """A long valley: the more the last fifty steps must gain, the earlier it ends, and never before fifty."""
    scales = np.logspace(0, 3, 80)
    costs = []

    def asked(settled):
        times = []

        def valley(x):
            times.append(1)
            return float((scales * (x - 1) ** 2).sum()), 2 * scales * (x - 1)

        costs.append(minimize(valley, np.zeros(80), 2000, settled=settled)[1])
        return len(times)

    shortest, short, whole = asked(np.inf), asked(1e-2), asked(0.0)
    assert 51 <= shortest < short < whole
    assert costs[0] > costs[1] >= costs[2]
    assert costs[1] < 0.1


def test_a_flat_start_stays():
    point, value = minimize(lambda x: (3.0, np.zeros_like(x)), np.ones(2), 10)
    assert point.tolist() == [1, 1]
    assert value == 3.0
