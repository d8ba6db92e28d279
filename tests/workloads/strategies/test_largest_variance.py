"""The largest error of a workload's queries, against dense algebra over all of them."""

from __future__ import annotations

import pickle
from math import sqrt

import numpy as np
import pytest

from discreet.mechanisms import Laplace
from discreet.workloads import (
    AllRanges,
    ContinualCounter,
    Identity,
    Marginals,
    MeasureCells,
    Prefixes,
    Product,
    RangesOfWidth,
    Total,
    WeightedUnion,
    plan,
)
from discreet.workloads.error.expected_error import direct_error

WORKLOADS = [
    AllRanges(16),
    Prefixes(33),
    RangesOfWidth(20, 5),
    RangesOfWidth(7, 3),
    Identity(9),
    Product(AllRanges(6), Prefixes(5)),
    WeightedUnion([AllRanges(8), Identity(8)], [1, 3]),
    np.array([[1, 2, 0], [0, 1, 1.0]]),
]


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"rho": 0.5}])
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: type(workload).__name__)
def test_the_largest_error_is_that_of_the_worst_query(workload, offer):
    chosen = plan(workload, **offer)
    matrix = chosen.strategy.matrix().astype(float)
    covariance = np.linalg.inv(matrix.T @ matrix) * chosen.mechanism.error.variance
    variances = [query @ covariance @ query for query in chosen.workload.matrix()]
    error = chosen.expected_error
    assert error.largest == pytest.approx(sqrt(max(variances)), rel=1e-8)
    assert error.rmse == pytest.approx(sqrt(np.mean(variances)), rel=1e-8)
    assert pickle.loads(pickle.dumps(error)).largest == error.largest


def test_the_total_has_one_query():
    error = plan(Total(7), epsilon=1).expected_error
    assert error.largest == pytest.approx(error.rmse, rel=1e-12)


def test_marginals_have_the_error_of_their_worst_table():
    chosen = plan(Marginals((2, 3, 4), ways=2), epsilon=1)
    released = chosen.release(np.ones((2, 3, 4), dtype=np.int64))
    worst = max(released.variance(*attributes) for attributes in chosen.workload.sets)
    assert chosen.expected_error.largest == pytest.approx(sqrt(worst), rel=1e-12)


def test_a_stream_states_the_error_of_its_worst_step():
    counter = ContinualCounter(20, rho=0.5)
    error = counter.expected_error
    steps = [counter.add(1).variance for _ in range(20)]
    assert error.largest == pytest.approx(sqrt(max(steps)), rel=1e-9)


def test_queries_asked_directly_are_all_alike():
    error = direct_error(AllRanges(8), Laplace(sensitivity=20, epsilon=1))
    assert error.largest == pytest.approx(error.rmse, rel=1e-12)


def test_long_domains_are_told_by_their_axes_or_not_at_all():
    assert MeasureCells(5000).largest_variance(Prefixes(5000)) is None
    assert MeasureCells(5000).largest_variance(WeightedUnion([Identity(5000), Prefixes(5000)])) is None
    assert MeasureCells(1 << 20).largest_variance(Identity(1 << 20)) == 1.0
    square = plan(Product(AllRanges(300), AllRanges(300)), rho=0.5)
    axis = [factor.largest_variance(AllRanges(300)) for factor in square.strategy.factors]
    assert square.expected_error.largest == pytest.approx(
        sqrt(square.mechanism.error.variance * axis[0] * axis[1]), rel=1e-12
    )
