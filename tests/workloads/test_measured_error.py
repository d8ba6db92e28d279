"""Measured squared errors against computed ones, sharp enough to see a tenth too much.

The total squared error of a release is a quadratic form z^T M z in independent noise z of variance v and
excess kurtosis k, so its mean is v tr(M) and its variance v^2 (2 ||M||^2 + k sum of M_ii^2). M is worked
out here from the integer matrix and the queries, so the number of releases can be chosen such that
an error of a tenth in the computed one, either way, is missed as rarely as a right one is refused.
"""

from __future__ import annotations

from math import ceil, exp, sqrt

import numpy as np
import pytest
from scipy import stats

from discreet.mechanisms import Gaussian, Laplace
from discreet.workloads import (
    AllRanges,
    DenseStrategy,
    Fourier,
    Hierarchy,
    Kronecker,
    Marginals,
    MeasureCells,
    Prefixes,
    Product,
    ResidualBasis,
    SquareRoot,
    ToeplitzRoot,
    Wavelet,
    expected_error,
    optimize,
    p_identity,
    weighted_tree,
)
from significance import FALSE_ALARM

pytestmark = pytest.mark.statistical

SIZE = 32
COUNTS = (np.arange(SIZE) * 7919) % 101
PLANTED = 1.1
# the mean of thousands of quadratic forms is nearly normal; a tenth of the rate leaves room for its skewness
ALLOWED = float(stats.norm.isf(FALSE_ALARM / 20))
# such that the mean lies more than `ALLOWED` standard errors away from a claim that is PLANTED times too high
RESOLUTION = (1 - 1 / PLANTED) / (ALLOWED * (1 + 1 / PLANTED))

STRATEGIES = {
    "cells": lambda norm: MeasureCells(SIZE),
    "hierarchy": lambda norm: Hierarchy(SIZE, 2),
    "hierarchy, ragged": lambda norm: Hierarchy(SIZE, 3, [5, 0, 3, 2, 1]),
    "weighted tree": lambda norm: weighted_tree(AllRanges(SIZE), norm),
    "wavelet": lambda norm: Wavelet(SIZE),
    "best wavelet": lambda norm: Wavelet.best(AllRanges(SIZE), norm),
    "Fourier": lambda norm: Fourier(AllRanges(SIZE)),
    "root of ranges": lambda norm: SquareRoot(AllRanges(SIZE)),
    "root of ranges, coarse": lambda norm: SquareRoot(AllRanges(SIZE), bits=16),
    "root of prefixes": lambda norm: SquareRoot(Prefixes(SIZE)),
    "stream": lambda norm: ToeplitzRoot(SIZE),
    "plain stream": lambda norm: ToeplitzRoot(SIZE, normalized=False),
    "p-Identity": lambda norm: p_identity(AllRanges(SIZE), steps=50),
    "optimum": lambda norm: optimize(AllRanges(SIZE)).strategy(),
    "any matrix": lambda norm: DenseStrategy(
        np.tril(np.ones((SIZE, SIZE), int)) * 3 + np.eye(SIZE, dtype=int)
    ),
    "product": lambda norm: Kronecker(SquareRoot(AllRanges(8)), Hierarchy(4, 2)),
}


def noise(norm, sensitivity):
    return (
        Laplace(sensitivity=sensitivity, epsilon=1)
        if norm == 1
        else Gaussian(sensitivity=sensitivity, rho=0.5)
    )


def excess(mechanism):
    """The excess kurtosis of discrete Laplace noise, (1 + 10 r + r^2) / (2 r) - 3; of Gaussian noise, 0."""
    if isinstance(mechanism, Gaussian):
        return 0.0
    ratio = exp(-1 / mechanism.scale)
    return (1 + 10 * ratio + ratio**2) / (2 * ratio) - 3


def relative_deviation(backward, mechanism):
    """The standard deviation of one squared error over its mean, for the map from noise to errors."""
    form = backward.T @ backward
    spread = 2 * (form**2).sum() + excess(mechanism) * (np.diagonal(form) ** 2).sum()
    return sqrt(spread) / np.trace(form)


def check(errors, computed, deviation):
    """The computed error is as measured, and neither a tenth more nor a tenth less would be."""
    measured = np.mean(errors) / computed
    allowed = ALLOWED * deviation / sqrt(len(errors))
    assert abs(measured - 1) <= allowed
    for wrong in (PLANTED, 1 / PLANTED):
        assert abs(measured / wrong - 1) > allowed


@pytest.mark.parametrize("norm", [1, 2], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_measured_error_to_a_tenth(name, norm):
    strategy = STRATEGIES[name](norm)
    workload = Product(*[AllRanges(size) for size in strategy.shape])
    mechanism = noise(norm, strategy.sensitivity())
    queries = workload.matrix()
    backward = strategy.reconstruct(np.eye(strategy.measurements)).T
    np.testing.assert_allclose(backward @ strategy.matrix(), np.eye(SIZE), atol=1e-8)
    deviation = relative_deviation(queries @ backward, mechanism)
    releases = ceil((deviation / RESOLUTION) ** 2)
    measured = mechanism.release(np.tile(strategy.measure(COUNTS), (releases, 1)))
    errors = (strategy.reconstruct(measured) - COUNTS) @ queries.T
    check((errors**2).sum(axis=1), expected_error(workload, strategy, mechanism).total, deviation)


@pytest.mark.parametrize("norm", [1, 2], ids=["Laplace", "Gaussian"])
def test_measured_error_of_marginals_to_a_tenth(norm):
    workload = Marginals((4, 4, 2), ways=2)
    table = COUNTS.reshape(4, 4, 2)
    tables = {chosen: table.sum(axis=3 - sum(chosen)) for chosen in workload.sets}
    truth = np.concatenate([tables[chosen].reshape(-1) for chosen in workload.sets])
    basis = ResidualBasis(workload, norm)
    mechanism = noise(norm, basis.sensitivity())

    def answers(measured):
        found = basis.reconstruct(measured)
        return np.concatenate([found[chosen].reshape(-1) for chosen in workload.sets])

    backward = np.stack([answers(unit) for unit in np.eye(basis.measurements)], axis=1)
    deviation = relative_deviation(backward, mechanism)
    releases = ceil((deviation / RESOLUTION) ** 2)
    exact = basis.measure(tables)
    measured = mechanism.release(np.tile(exact, (releases, 1)))
    errors = np.array([((answers(one) - truth) ** 2).sum() for one in measured])
    check(errors, basis.trace() * mechanism.error.variance, deviation)
