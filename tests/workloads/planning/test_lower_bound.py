"""The bound holds for every strategy that was ever tried, and the fixed point's certificate agrees."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.workloads import (
    AllRanges,
    Hierarchy,
    Identity,
    Marginals,
    Matrix,
    Prefixes,
    Product,
    RangesOfWidth,
    Total,
    Wavelet,
    WeightedUnion,
    direct_error,
    lower_bound,
    optimize,
)
from effort import examples

module = sys.modules["discreet.workloads.planning.lower_bound"]  # the package has the function by this name


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_no_random_strategy_is_below_the_bound(size, queries, seed):
    generator = np.random.default_rng(seed)
    workload = Matrix(generator.normal(size=(queries, size)))
    matrix = generator.normal(size=(size + 2, size))
    matrix /= np.sqrt(np.square(matrix).sum(axis=0).max())
    total = np.trace(workload.gram() @ np.linalg.inv(matrix.T @ matrix))
    assert total >= lower_bound(workload).total * (1 - 1e-9)


@pytest.mark.parametrize(
    "workload",
    [
        AllRanges(1),
        AllRanges(12),
        Prefixes(12),
        RangesOfWidth(9, 4),
        Product(AllRanges(3), Prefixes(4)),
        Total(6),
    ],
    ids=repr,
)
def test_it_lies_between_the_singular_values_and_the_optimum(workload):
    values = np.linalg.svd(workload.matrix(), compute_uv=False)
    found = optimize(workload, tolerance=1e-6, steps=500)
    bound = lower_bound(workload).total
    assert values.sum() ** 2 / workload.size <= bound * (1 + 1e-6)
    assert bound <= found.total * (1 + 1e-9)
    assert found.bound <= found.total


def test_it_is_attained_where_the_diagonal_is_constant():
    assert lower_bound(Identity(9)).total == pytest.approx(9)
    assert lower_bound(Total(9)).total == pytest.approx(1)
    assert lower_bound(Marginals((2, 3), sets=[(0, 1)])).total == pytest.approx(6)


def test_named_strategies_are_above_it():
    workload = AllRanges(32)
    for strategy in (Hierarchy(32, 2), Hierarchy(32, 4), Wavelet(32)):
        assert strategy.trace(workload) * strategy.squared_column_norm2 > lower_bound(workload).total


@pytest.mark.parametrize("size", [1, 3, 50, 400, 500])
def test_queries_asked_directly_are_above_it(size):
    """Eigenvalues that are 0 but for rounding add nothing: each would add a root of about 1e-8."""
    halves = np.zeros((2, size))
    halves[0, : size // 2] = halves[1, size // 2 :] = 1.0
    padded = np.concatenate([np.ones((1, size)), np.zeros((size, size))])
    tables = (np.ones((1, size)), np.ones((2, size)), halves, padded)
    for workload in (Total(size), *map(Matrix, tables)):
        columns = np.square(workload.matrix()).sum(axis=0).max()
        noise = Gaussian(sensitivity=1, sigma=1)
        direct = direct_error(workload, noise).total / noise.error.variance * columns
        if workload.queries > size:
            direct = columns  # the queries that are 0 need no noise
        bound = lower_bound(workload).total
        assert bound <= direct
        assert bound == pytest.approx(np.linalg.svd(workload.matrix())[1].sum() ** 2 / size, rel=0.3)


def test_a_product_has_the_product_of_its_factors_bounds():
    ranges, prefixes = AllRanges(5), Prefixes(4)
    product = lower_bound(Product(ranges, prefixes))
    assert product.total == pytest.approx(lower_bound(ranges).total * lower_bound(prefixes).total)
    dense = Matrix(np.kron(ranges.matrix(), prefixes.matrix()))
    assert product.total <= optimize(dense, tolerance=1e-6, steps=300).total * (1 + 1e-9)
    assert "product" in product.certificate


@pytest.mark.parametrize(
    "workload",
    [
        RangesOfWidth(30, 4),
        WeightedUnion([RangesOfWidth(30, 4), Prefixes(30)], [3, 1]),
        Matrix(np.arange(40.0).reshape(8, 5)),
    ],
    ids=lambda workload: type(workload).__name__,
)
def test_simple_bounds_are_below_the_best(workload):
    simple = module._simple(workload)
    assert 0 < simple.total <= optimize(workload).bound
    assert simple.certificate


def test_domains_without_a_square_root_still_have_a_bound():
    assert lower_bound(RangesOfWidth(5000, 7)).total == pytest.approx(4994**2 / 5000)
    union = WeightedUnion([Prefixes(5000), Identity(5000)], [1, 10])
    assert lower_bound(union).total == pytest.approx(100 * 5000)


def test_domains_beyond_memory_are_refused():
    for workload in (Identity((2**20, 2**20)), Product(AllRanges(2**20), Total(2**20))):
        with pytest.raises(ParameterError, match=r"1099511627776 cells.*at most 134217728"):
            lower_bound(workload)
