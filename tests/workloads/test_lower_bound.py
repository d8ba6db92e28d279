"""The bound holds for every strategy that was ever tried, and the fixed point's certificate agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    lower_bound,
    optimize,
)


@settings(deadline=None, max_examples=60)
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
