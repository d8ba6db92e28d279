"""The residual basis against the closed-form optimum and dense algebra on small domains."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON
from discreet.workloads import Marginals, ResidualBasis, plan
from discreet.workloads.strategies.residual_basis import marginal_bound
from effort import examples


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


@settings(deadline=None, max_examples=examples(40))
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


@settings(deadline=None, max_examples=examples(40))
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
    with pytest.raises(ParameterError, match="6 counts"):
        chosen.release(np.zeros(5, int))
    with pytest.raises(ParameterError, match="attributes"):
        chosen.release(np.zeros(6, int)).marginal(0, 1)


def by_hand(chosen, shape, weights, table):
    """The weighted contrasts of each subset's own marginal, by products with n I - J along each axis."""
    measured = []
    for subset, weight in weights.items():
        own = table.sum(axis=tuple(axis for axis, place in enumerate(chosen) if place not in subset))
        for axis, size in enumerate(own.shape):
            contrast = size * np.eye(size, dtype=np.int64) - np.ones((size, size), np.int64)
            own = np.moveaxis(np.tensordot(contrast, own, (1, axis)), 0, axis)
        measured.append(weight * own.reshape(-1))
    return np.concatenate(measured)


@settings(deadline=None, max_examples=examples(40))
@given(workloads(), st.integers(1, 2), st.integers(0, 2**32))
def test_parts_measure_every_interaction_once(workload, norm, seed):
    basis = ResidualBasis(workload, norm)
    x = np.random.default_rng(seed).integers(0, 50, workload.shape)
    marginals = tables(workload, x)
    parts = basis.parts()
    assert sorted(subset for part in parts for subset in part.weights) == sorted(basis.weights)
    measured = {}
    for part in parts:
        assert part.chosen in workload.sets
        measured[part.chosen] = part.measure(marginals[part.chosen])
        expected = by_hand(part.chosen, part.shape, part.weights, marginals[part.chosen])
        assert measured[part.chosen].tolist() == expected.tolist()
        assert len(expected) == part.measurements
        split = part.split(measured[part.chosen])
        assert [value for subset in part.weights for value in split[subset]] == expected.tolist()
    assert basis.gathered(measured).tolist() == basis.measure(marginals).tolist()
    assert sum(part.measurements for part in parts) == basis.measurements
    assert sum(part.column_norm1 for part in parts) == basis.column_norm1
    assert sum(part.squared_column_norm2 for part in parts) == basis.squared_column_norm2
    assert max(part.largest_entry for part in parts) == basis.largest_entry


@settings(deadline=None, max_examples=examples(30))
@given(workloads(), st.integers(1, 2))
def test_the_sensitivity_of_a_part_is_that_of_its_columns(workload, norm):
    for part in ResidualBasis(workload, norm).parts():
        columns = [part.measure(unit).astype(object) for unit in np.eye(part.size, dtype=np.int64)]
        assert {sum(abs(column)) for column in columns} == {part.column_norm1}
        assert {sum(column**2) for column in columns} == {part.squared_column_norm2}
        assert max(max(abs(column)) for column in columns) == part.largest_entry


@settings(deadline=None, max_examples=examples(40))
@given(workloads(), st.integers(0, 2**32))
def test_variances_of_queries_are_those_of_dense_least_squares(workload, seed):
    """q^T S (A^T A)^+ S^T q, with S the sums that make the marginal of the domain."""
    basis = ResidualBasis(workload)
    integers = matrix(basis).astype(float)
    inverse = np.linalg.pinv(integers.T @ integers)
    generator = np.random.default_rng(seed)
    for chosen in workload.sets:
        query = generator.normal(size=[workload.shape[place] for place in chosen])
        kept = [size if place in chosen else 1 for place, size in enumerate(workload.shape)]
        spread = np.broadcast_to(query.reshape(kept), workload.shape).reshape(-1)
        expected = spread @ inverse @ spread
        assert basis.variance(chosen, query) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_sensitivity_over_several_tables_is_attained(rows, groups):
    """All columns are alike: a person with all rows of each group in one cell moves the most."""
    basis = ResidualBasis(Marginals((2, 3), 1))
    columns = matrix(basis).astype(object)
    sensitivity = basis.sensitivity(rows, groups=groups)
    change = np.concatenate([rows * columns[:, 0]] * groups)
    assert sum(abs(change)) == sensitivity.l1
    assert sum(change**2) == sensitivity.squared_l2
    assert sensitivity.linf == rows * basis.largest_entry
    assert sensitivity.neighbors == ADD_REMOVE_PERSON
    with pytest.raises(TypeError):
        basis.sensitivity(neighbors=REPLACE_PERSON)


def test_sums_of_huge_cells_do_not_wrap_around():
    chosen = plan(Marginals((2,), sets=[()]), epsilon=1)
    for cells in ([2**62, 2**62 - 1], [2**62, 2**62], [2**64, 0], [2**63, 2**63]):
        assert float(chosen.release(cells).marginal()) == pytest.approx(2**29 - 1, abs=1000)
    for cells in ([-(2**62), -(2**62)], [-(2**70), 1]):
        assert float(chosen.release(np.array(cells, object).tolist()).marginal()) < 0
    tables = plan(Marginals((2,), 1), rho=1)
    assert tables.release([2**64, 0]).marginal(0)[0] == pytest.approx(2**29 - 1, abs=1000)
    assert tables.release({(0,): [2**64, 0]}).marginal(0)[0] == pytest.approx(2**29 - 1, abs=1000)


def test_a_domain_whose_sums_could_wrap_around_takes_marginals_only():
    chosen = plan(Marginals((2,) * 34, 1), rho=1)
    with pytest.raises(ParameterError, match="17179869184 cells"):
        chosen.release([0, 1])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Marginals((2,) * 40, ways=20), "137846528820 sets"),
        (lambda: Marginals((2,) * 400, ways=200), r"about 2\^395 sets"),
        (lambda: ResidualBasis(Marginals((1000, 1000, 1000), ways=3)), "1003003001 measurements"),
        (lambda: ResidualBasis(Marginals((2,) * 18, ways=18)), "387420489 measurements"),
        (lambda: ResidualBasis(Marginals((2,) * 22, ways=22)), "4194304 subsets"),
        (lambda: plan(Marginals((2,) * 300, ways=300), rho=1), r"about 2\^300 subsets"),
    ],
)
def test_what_is_too_large_is_refused_with_its_size(build, said):
    with pytest.raises(ParameterError, match=said):
        build()
