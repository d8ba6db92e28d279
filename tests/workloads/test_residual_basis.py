"""The residual basis against the closed-form optimum and dense algebra on small domains."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.workloads import Marginals, ResidualBasis, plan
from discreet.workloads.residual_basis import marginal_bound


def tables(workload, x):
    axes = range(len(workload.shape))
    table = np.asarray(x).reshape(workload.shape)
    return {s: table.sum(axis=tuple(a for a in axes if a not in s)) for s in workload.sets}


def matrix(basis):
    """The whole strategy as integers, one column for each cell of the domain."""
    units = np.eye(basis.workload.size, dtype=np.int64)
    return np.stack([basis.measure(tables(basis.workload, unit)) for unit in units], axis=1)


def inverse(basis):
    """The linear map from measurements to the answers of the workload."""
    columns = []
    for unit in np.eye(basis.measurements):
        found = basis.reconstruct(unit)
        columns.append(np.concatenate([found[s].reshape(-1) for s in basis.workload.sets]))
    return np.stack(columns, axis=1)


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@st.composite
def workloads(draw):
    shape = draw(shapes)
    every = [s for k in range(len(shape) + 1) for s in combinations(range(len(shape)), k)]
    return Marginals(shape, sets=draw(st.lists(st.sampled_from(every), min_size=1, max_size=4)))


@settings(deadline=None, max_examples=40)
@given(workloads(), st.integers(1, 2))
def test_norms_estimates_and_variances_by_dense_algebra(workload, norm):
    basis = ResidualBasis(workload, norm)
    integers, backward = matrix(basis), inverse(basis)
    assert set(np.abs(integers).sum(axis=0)) == {basis.column_norm1}
    assert set((integers.astype(object) ** 2).sum(axis=0)) == {basis.squared_column_norm2}
    assert basis.largest_entry == np.abs(integers).max()
    np.testing.assert_allclose(backward @ integers, workload.matrix(), atol=1e-9)
    covariance = backward @ backward.T
    assert basis.trace() == pytest.approx(np.trace(covariance))
    start = 0
    for chosen in workload.sets:
        cells = workload.cells(chosen)
        expected = np.diagonal(covariance)[start : start + cells]
        assert expected == pytest.approx(np.full(cells, basis.cell_variance(chosen)))
        start += cells
    projected = integers.T.astype(float)
    best = workload.matrix() @ np.linalg.pinv(projected @ projected.T) @ workload.matrix().T
    np.testing.assert_allclose(covariance, best, atol=1e-9 * np.abs(covariance).max())


@settings(deadline=None, max_examples=40)
@given(workloads())
def test_total_variance_is_the_closed_form_optimum(workload):
    """The singular-value bound, from the matrix; integer weights cost less than a thousandth."""
    values = np.linalg.svd(workload.matrix(), compute_uv=False)
    optimum = values.sum() ** 2 / workload.size
    assert marginal_bound(workload) == pytest.approx(optimum)
    basis = ResidualBasis(workload)
    assert optimum * (1 - 1e-9) <= basis.trace() * basis.squared_column_norm2 <= optimum * 1.001


def test_a_hundred_attributes_are_planned_and_agree():
    shape = [2 + place % 9 for place in range(100)]
    workload = Marginals(shape, ways=2)
    chosen = plan(workload, rho=0.5)
    assert len(workload.sets) == 4950
    assert 0 <= chosen.gap < 1e-3
    rows = np.random.default_rng(0).integers(0, shape, (500, 100))
    exact = {}
    for first, second in workload.sets:
        table = np.zeros((shape[first], shape[second]), np.int64)
        np.add.at(table, (rows[:, first], rows[:, second]), 1)
        exact[first, second] = table
    released = chosen.release(exact)
    assert released.marginal(3, 5).sum(axis=1) == pytest.approx(released.marginal(3, 70).sum(axis=1))
    errors = [released.marginal(*s) - exact[s] for s in workload.sets]
    scaled = [
        np.mean(error**2) / released.variance(*s) for error, s in zip(errors, workload.sets, strict=True)
    ]
    assert 0.8 < np.mean(scaled) < 1.2
    assert released.half_width(3, 5) > 1.9 * released.variance(3, 5) ** 0.5


def test_laplace_and_gaussian_are_compared():
    few, many = Marginals((2, 2), 1), Marginals([3] * 20, 2)
    assert type(plan(few, epsilon=1, delta=1e-9).mechanism).__name__ == "Laplace"
    assert isinstance(plan(many, epsilon=1, delta=1e-9).mechanism, Gaussian)
    assert plan(many, rho=0.1, rows=3).expected_error.rmse == pytest.approx(
        3 * plan(many, rho=0.1).expected_error.rmse
    )


def test_bad_input_is_refused():
    chosen = plan(Marginals((2, 3), 1), rho=1)
    with pytest.raises(ParameterError, match="marginals"):
        chosen.release({(0,): np.zeros(2, int)})
    with pytest.raises(ParameterError, match="6 cells"):
        chosen.release(np.zeros(5, int))
    with pytest.raises(ParameterError, match="attributes"):
        chosen.release(np.zeros(6, int)).marginal(0, 1)
