"""The error of a workload's answers, by dense algebra; see `test_reference_table` for the figures."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.workloads import (
    AllRanges,
    MeasureCells,
    Prefixes,
    ToeplitzRoot,
    expected_error,
)


def continuous(workload, strategy, norm):
    """The error at unit sensitivity and continuous noise: what the table states."""
    squared = 2 * strategy.column_norm1**2 if norm == 1 else strategy.squared_column_norm2
    return sqrt(strategy.trace(workload) * squared / workload.queries)


def test_normalized_streams_by_dense_algebra():
    """The error of the rounded, column-normalized stream, from its matrix."""
    for size in (64, 256):
        workload, stream = Prefixes(size), ToeplitzRoot(size)
        matrix = stream.matrix().astype(float)
        backward = np.tril(np.ones((size, size))) @ np.linalg.inv(matrix)
        expected = sqrt(np.square(backward).sum() * np.square(matrix).sum(axis=0).max() / size)
        assert continuous(workload, stream, 2) == pytest.approx(expected, rel=1e-9)
        assert continuous(workload, stream, 2) < continuous(workload, ToeplitzRoot(size, normalized=False), 2)


def test_discrete_noise_is_what_counts():
    workload, strategy = AllRanges(16), MeasureCells(16)
    mechanism = Laplace(sensitivity=strategy.sensitivity(), epsilon=1)
    error = expected_error(workload, strategy, mechanism)
    assert error.mean_square == pytest.approx(mechanism.error.variance * strategy.trace(workload) / 136)
    assert error.rmse < continuous(workload, strategy, 1)  # the discrete law is a little narrower
    with pytest.raises(ParameterError, match="works on reals"):
        expected_error(workload, strategy, Laplace(sensitivity=1.0, epsilon=1))
