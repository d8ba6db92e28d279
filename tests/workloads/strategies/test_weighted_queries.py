"""Queries with a large weight, and cells: as by dense algebra, and close to asking directly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads import Matrix, Prefixes, Total
from discreet.workloads.strategies.weighted_queries import WeightedQueries
from effort import examples


@settings(deadline=None, max_examples=examples(40))
@given(
    st.integers(1, 5), st.integers(0, 4), st.integers(1, 8), st.sampled_from([1, 2]), st.integers(0, 2**32)
)
def test_it_is_the_matrix_it_says(queries, more, bits, norm, seed):
    generator = np.random.default_rng(seed)
    size = queries + more
    workload = Matrix(generator.normal(size=(queries, size)))
    strategy = WeightedQueries(workload, norm, bits)
    matrix = strategy.matrix()
    assert np.array_equal(matrix[queries:], strategy.cell_weight * np.eye(size, dtype=np.int64))
    assert strategy.measurements == len(matrix)
    assert strategy.column_norm1 == np.abs(matrix).sum(axis=0).max()
    assert strategy.squared_column_norm2 == np.square(matrix).sum(axis=0).max()
    assert strategy.largest_entry == np.abs(matrix).max()
    inverse = np.linalg.inv((matrix.T @ matrix).astype(float))
    vectors = generator.normal(size=(3, size))
    assert strategy.covariance_times(vectors) == pytest.approx(vectors @ inverse, abs=1e-9)
    measured = generator.normal(size=(2, len(matrix)))
    assert strategy.reconstruct(measured) == pytest.approx(measured @ matrix @ inverse, abs=1e-9)
    for asked in (workload, Prefixes(size), Matrix(generator.normal(size=(size + 3, size)))):
        assert strategy.trace(asked) == pytest.approx(np.trace(asked.gram() @ inverse))
    x = generator.integers(0, 1000, size)
    assert strategy.reconstruct(strategy.measure(x)) == pytest.approx(x)


@pytest.mark.parametrize("size", [3, 1000, 2**20])
def test_a_total_costs_what_it_costs_alone(size):
    """n / (1 + k^2 n) for the weight k: what is left when n - k^2 n^2 / (1 + k^2 n) cancels."""
    strategy = WeightedQueries(Total(size), 1, 16)
    weight = int(strategy.entries[0, 0])
    assert weight == 2**16
    assert strategy.trace(Total(size)) == pytest.approx(size / (1 + weight**2 * size), rel=1e-6)
    assert strategy.variance(np.ones(size)) == pytest.approx(strategy.trace(Total(size)))


def test_repeated_queries_share_their_noise():
    workload = Matrix(np.ones((3, 4)))
    strategy = WeightedQueries(workload, 2, 12)
    weight = int(strategy.entries[0, 0])
    assert strategy.trace(workload) == pytest.approx(3 * 4 / (1 + 3 * 4 * weight**2))


def test_integers_keep_their_proportions_and_reals_are_rounded():
    assert WeightedQueries(Matrix([[1.0, 3.0, 0.0]]), 1, 4).entries.tolist() == [[5, 15, 0]]
    assert WeightedQueries(Matrix([[0.1, 0.3, 0.0]]), 1, 4).entries.tolist() == [[5, 16, 0]]


@pytest.mark.parametrize("norm", [1, 2])
def test_rounded_coefficients_cost_less_than_a_hundredth(norm):
    rows = np.random.default_rng(3).normal(size=(4, 3000))
    strategy = WeightedQueries(Matrix(rows), norm, 20)
    sensitivity = strategy.column_norm1**2 if norm == 1 else strategy.squared_column_norm2
    direct = 4 * (np.abs(rows) ** norm).sum(axis=0).max() ** (2 / norm)
    assert strategy.trace(Matrix(rows)) * sensitivity < 1.02 * direct


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="too many queries"):
        WeightedQueries(Matrix(np.ones((3, 2))))
    with pytest.raises(ParameterError, match="bits"):
        WeightedQueries(Total(2), bits=21)
    with pytest.raises(ParameterError, match="coefficients"):
        WeightedQueries(Matrix(np.zeros((1, 2))))


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("norm", [1, 2])
def test_queries_that_depend_on_each_other_keep_their_variance(rank, norm):
    """What estimates really do to noise, from unit vectors, against the stated variances."""
    draw = np.random.default_rng(rank)
    base = draw.integers(0, 2, (rank, 12)).astype(float)
    base[0, 0] = 1.0
    workload = Matrix(np.vstack([base, base[:1], base.sum(axis=0, keepdims=True)]))
    strategy = WeightedQueries(workload, norm)
    units = np.eye(strategy.measurements)
    answers = strategy.reconstruct(units) @ workload.matrix().T
    stated = [strategy.variance(row) for row in workload.matrix()]
    assert np.allclose((answers**2).sum(axis=0), stated, rtol=1e-6)
    assert np.allclose(strategy.reconstruct(strategy.matrix().T.astype(float)), np.eye(12), atol=1e-6)
