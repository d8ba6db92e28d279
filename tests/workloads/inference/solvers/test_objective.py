"""Objectives: gradients and proximal steps satisfy their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from discreet.workloads.inference.solvers.objective import DenseFit, Distance, ImplicitFit


def objectives(random):
    matrix = random.normal(size=(7, 4))
    answers, weights = random.normal(size=7), random.uniform(0.5, 2, 7)
    return matrix, answers, weights


@pytest.mark.parametrize("build", [DenseFit, lambda m, y, w: ImplicitFit(aslinearoperator(m), y, w)])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 50.0])
def test_a_proximal_step_is_stationary(build, rate):
    random = np.random.default_rng(1)
    fit = build(*objectives(random))
    center = random.normal(size=4)
    point = fit.proximal(center, rate, np.zeros(4))
    assert np.abs(fit.gradient(point) + rate * (point - center)).max() < 1e-10 * (1 + rate)
    assert np.abs(fit.gradient(fit.minimum())).max() < 1e-12


def test_dense_and_implicit_agree():
    random = np.random.default_rng(2)
    matrix, answers, weights = objectives(random)
    dense, implicit = (
        DenseFit(matrix, answers, weights),
        ImplicitFit(aslinearoperator(matrix), answers, weights),
    )
    assert dense.size == implicit.size == 4
    x = random.normal(size=4)
    assert dense.gradient(x) == pytest.approx(implicit.gradient(x), rel=1e-3)  # scaled by a power method
    assert dense.minimum() == pytest.approx(implicit.minimum())
    exact = np.linalg.lstsq(matrix * np.sqrt(weights)[:, None], answers * np.sqrt(weights), rcond=None)[0]
    assert dense.minimum() == pytest.approx(exact)


def test_distance():
    fit = Distance(answers=np.array([1.0, 2.0]), weights=np.array([1.0, 3.0]))
    assert fit.size == 2
    assert fit.gradient(np.array([2.0, 2.0])).tolist() == [1.0, 0.0]
    assert fit.proximal(np.array([3.0, 2.0]), 1.0, np.zeros(2)).tolist() == [2.0, 2.0]
    assert fit.minimum().tolist() == [1.0, 2.0]
