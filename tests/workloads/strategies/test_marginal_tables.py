"""Marginals measured as they are: against dense least squares."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.workloads import Marginals
from discreet.workloads.strategies.marginal_tables import MarginalTables

WORKLOADS = [
    Marginals((2, 3, 4), ways=2),
    Marginals((2, 3, 4), sets=[(0, 1), (2,), (1, 2)]),
    Marginals((3, 1, 2), ways=2),
    Marginals((4,), ways=1),
    Marginals((2, 2, 2, 2), ways=3),
    Marginals((2, 3), sets=[()]),
    Marginals((3, 2), sets=[(), (0,), (0, 1)]),
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: f"{one.shape}-{len(one.sets)}")
def test_estimates_and_variances_are_those_of_least_squares(workload):
    """x is estimated from W x by the pseudo-inverse; marginals of it are the estimates."""
    strategy, matrix = MarginalTables(workload), workload.matrix()
    measured = np.random.default_rng(1).normal(size=len(matrix)) * 10
    cells = np.linalg.pinv(matrix) @ measured
    covariance = matrix @ np.linalg.pinv(matrix.T @ matrix) @ matrix.T
    tables, start = strategy.reconstruct(measured), 0
    for chosen in workload.sets:
        block = slice(start, start + workload.cells(chosen))
        assert np.allclose(tables[chosen].reshape(-1), (matrix @ cells)[block])
        own = covariance[block, block]
        assert strategy.cell_variance(chosen) == pytest.approx(own[0, 0])
        query = np.random.default_rng(2).normal(size=len(own))
        shaped = query.reshape([workload.shape[place] for place in chosen])
        assert strategy.variance(chosen, shaped) == pytest.approx(query @ own @ query)
        start = block.stop
    assert strategy.trace() == pytest.approx(np.trace(covariance))


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: f"{one.shape}-{len(one.sets)}")
def test_one_person_moves_the_tables_as_stated(workload):
    strategy = MarginalTables(workload)
    columns = np.abs(workload.matrix())
    assert strategy.sensitivity().l1 == strategy.column_norm1 == columns.sum(axis=0).max()
    for first, second in combinations(range(columns.shape[1]), 2):
        moved = columns[:, first] + columns[:, second]
        assert moved.sum() <= strategy.sensitivity(2).l1
        assert (moved**2).sum() <= strategy.sensitivity(2).squared_l2
    assert strategy.sensitivity(2, groups=3).l1 == 6 * strategy.column_norm1


def test_measurements_are_the_marginals():
    workload = WORKLOADS[0]
    counts = np.random.default_rng(4).integers(0, 9, workload.shape)
    tables = {chosen: counts.sum(axis=tuple({0, 1, 2} - set(chosen))) for chosen in workload.sets}
    assert (MarginalTables(workload).measure(tables) == workload.answer(counts)).all()
