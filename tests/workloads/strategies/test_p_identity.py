"""p-Identity: its gradient, its error, and integers whose columns are all alike."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from discreet.workloads import AllRanges, Matrix, Prefixes, Total, p_identity, weighted_tree
from discreet.workloads.strategies.p_identity import search_cost


def laplace(workload, strategy):
    return sqrt(2 * strategy.trace(workload) * strategy.column_norm1**2 / workload.queries)


@pytest.mark.parametrize("workload", [AllRanges(6), Prefixes(5), Total(4)], ids=repr)
def test_cost_and_gradient_by_dense_algebra_and_differences(workload):
    theta = np.random.default_rng(0).random((3, workload.size))
    diagonal = workload.gram_diagonal()
    scale = 1 + theta.sum(axis=0)
    matrix = np.vstack([np.eye(workload.size), theta]) / scale
    total, slope = search_cost(theta, workload, diagonal)
    assert np.abs(matrix).sum(axis=0) == pytest.approx(np.ones(workload.size))
    assert total == pytest.approx(np.trace(workload.gram() @ np.linalg.inv(matrix.T @ matrix)))
    step = 1e-6
    for place in np.ndindex(*theta.shape):
        moved = theta.copy()
        moved[place] += step
        higher = search_cost(moved, workload, diagonal)[0]
        moved[place] -= 2 * step
        lower = search_cost(moved, workload, diagonal)[0]
        assert (higher - lower) / (2 * step) == pytest.approx(slope[place], rel=1e-5, abs=1e-5)


def test_laplace_at_256_cells():
    workload = AllRanges(256)
    strategy = p_identity(workload)
    assert laplace(workload, strategy) <= 8.2
    assert set(np.abs(strategy.entries).sum(axis=0)) == {1 << 16}
    assert laplace(workload, weighted_tree(workload, 1)) <= 1.12 * laplace(workload, strategy)


def test_fewer_bits_round_the_same_search():
    workload = AllRanges(24)
    fine = laplace(workload, p_identity(workload))
    for bits, loss in ((12, 1.001), (8, 1.05), (5, 1.5)):
        strategy = p_identity(workload, bits=bits)
        assert strategy.column_norm1 <= 1.5 * (1 << bits)
        assert laplace(workload, strategy) <= loss * fine


@pytest.mark.parametrize("workload", [Total(400), Matrix(np.full((1, 3), 1e-90))], ids=["total", "tiny"])
def test_costs_that_cancel_end_the_search_in_silence(workload):
    strategy = p_identity(workload)
    assert 0 < laplace(workload, strategy) < np.inf


@pytest.mark.slow
def test_laplace_at_1024_cells():
    workload = AllRanges(1024)
    strategy = p_identity(workload)
    assert laplace(workload, strategy) <= 11.3
    assert laplace(workload, weighted_tree(workload, 1)) <= 1.12 * laplace(workload, strategy)
