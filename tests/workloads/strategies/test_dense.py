"""Dense strategies that are badly conditioned, against exact rational algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian
from discreet.workloads import AllRanges, DenseStrategy, Matrix, Prefixes, Total, expected_error

CASES = [(2, 1 << 24), (10, 1 << 24), (100, 1 << 16), (300, 1 << 16), (300, 1 << 20)]


def heavy_total(size, weight):
    """All cells, and their total with a weight: A^T A = I + weight^2 J, with a closed inverse."""
    return DenseStrategy(np.vstack([np.full((1, size), weight), np.eye(size, dtype=np.int64)]))


def reduction(size, weight):
    """(A^T A)^-1 = I - c J, by Sherman and Morrison."""
    return Fraction(weight**2, 1 + size * weight**2)


@pytest.mark.parametrize(("size", "weight"), CASES)
def test_variances_are_right_to_a_part_in_a_million(size, weight):
    strategy = heavy_total(size, weight)
    less = reduction(size, weight)
    cell = np.zeros(size)
    cell[size // 2] = 1
    whole = size - size**2 * less
    assert strategy.variance(cell) == pytest.approx(float(1 - less), rel=1e-6)
    assert strategy.variance(np.ones(size)) == pytest.approx(float(whole), rel=1e-6)
    assert strategy.trace(Total(size)) == pytest.approx(float(whole), rel=1e-6)
    prefixes = sum(count - count**2 * less for count in range(1, size + 1))
    assert strategy.trace(Prefixes(size)) == pytest.approx(float(prefixes), rel=1e-6)
    np.testing.assert_allclose(strategy.cell_variances(), float(1 - less), rtol=1e-6)


@pytest.mark.parametrize(("size", "weight"), CASES)
def test_estimates_from_large_counts_err_by_the_noise_alone(size, weight):
    """(A^T A)^-1 A^T z in fractions, for noise z of the size that the sensitivity calls for."""
    strategy = heavy_total(size, weight)
    generator = np.random.default_rng(size)
    x = generator.integers(0, 10**6, size)
    noise = np.rint(generator.normal(size=size + 1) * weight).astype(np.int64)
    estimate = strategy.reconstruct(strategy.measure(x) + noise)
    right = [weight * int(noise[0]) + int(own) for own in noise[1:]]
    shared = reduction(size, weight) * sum(right)
    errors = np.array([float(entry - shared) for entry in right])
    np.testing.assert_allclose(estimate - x, errors, atol=1e-6 * weight)
    total = (estimate - x).sum() - float(sum(right) - size * shared)
    assert abs(total) < 1e-6 * size


@pytest.mark.statistical
@pytest.mark.parametrize(("size", "weight"), [(100, 1 << 16), (300, 1 << 16)])
def test_intervals_of_badly_conditioned_strategies_cover(size, weight):
    """The mean square over r releases has a relative deviation of at most sqrt(2 / r); eight are allowed."""
    strategy = heavy_total(size, weight)
    mechanism = Gaussian(sensitivity=strategy.sensitivity(), rho=0.5, size=strategy.measurements)
    x = np.random.default_rng(0).integers(0, 10**6, size)
    releases = 400
    errors = np.array(
        [strategy.reconstruct(mechanism.release(strategy.measure(x))) - x for _ in range(releases)]
    )
    for query in (np.eye(size)[0], np.ones(size)):
        stated = strategy.variance(query) * mechanism.error.variance
        assert np.mean((errors @ query) ** 2) == pytest.approx(stated, rel=8 * np.sqrt(2 / releases))
    stated = expected_error(Total(size), strategy, mechanism).total
    assert np.mean(errors.sum(axis=1) ** 2) == pytest.approx(stated, rel=8 * np.sqrt(2 / releases))


def test_what_rounding_would_hide_is_refused():
    """The determinant is -1, so that the rank is full, but cells cannot be told apart in floats."""
    nearly = np.array([[2**24, 2**24 - 1], [2**24 - 1, 2**24 - 2]])
    with pytest.raises(ParameterError, match="condition number"):
        DenseStrategy(nearly)


def test_squared_norms_of_tall_matrices_do_not_wrap():
    tall = np.full((2**15, 1), 2**24)
    assert DenseStrategy(tall).squared_column_norm2 == 2**63
    assert DenseStrategy(np.concatenate([tall, tall])).squared_column_norm2 == 2**64


@pytest.mark.parametrize("workload", [AllRanges(6), Matrix(np.ones((2, 6)))], ids=repr)
def test_traces_by_single_queries(workload):
    strategy = DenseStrategy(np.random.default_rng(3).integers(-9, 9, (8, 6)))
    single = [strategy.variance(workload.row(index)) for index in range(workload.queries)]
    assert strategy.trace(workload) == pytest.approx(sum(single))
