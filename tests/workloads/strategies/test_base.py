"""Every strategy against its matrix of integers, by brute force and dense algebra."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON
from discreet.workloads import (
    AllRanges,
    DenseStrategy,
    Fourier,
    Hierarchy,
    Kronecker,
    MeasureCells,
    Prefixes,
    Product,
    RangesOfWidth,
    SquareRoot,
    ToeplitzRoot,
    Total,
    Wavelet,
    expected_error,
    optimize,
    p_identity,
    weighted_tree,
)
from discreet.workloads.planning.candidates import normalized_root

STRATEGIES = {
    "cells": lambda: MeasureCells(7),
    "one cell": lambda: MeasureCells(1),
    "tree": lambda: Hierarchy(8, 2),
    "ragged tree": lambda: Hierarchy(7, 3, [3, 0, 2]),
    "mixed tree": lambda: Hierarchy(12, [3, 2, 2], [5, 4, 3, 2]),
    "tree of one cell": lambda: Hierarchy(1, 2),
    "weighted tree, Laplace": lambda: weighted_tree(AllRanges(9), 1),
    "weighted tree, Gaussian": lambda: weighted_tree(AllRanges(9), 2),
    "wavelet": lambda: Wavelet(8),
    "ragged wavelet": lambda: Wavelet(6, [4, 3, 2, 1]),
    "best wavelet": lambda: Wavelet.best(AllRanges(8), 1),
    "Fourier": lambda: Fourier(AllRanges(8)),
    "odd Fourier": lambda: Fourier(Prefixes(7), bits=6),
    "root of ranges": lambda: SquareRoot(AllRanges(9)),
    "root of ranges, coarse": lambda: SquareRoot(AllRanges(9), bits=16),
    "root of ranges of 1": lambda: SquareRoot(AllRanges(1)),
    "root of ranges of 2": lambda: SquareRoot(AllRanges(2)),
    "root of prefixes": lambda: SquareRoot(Prefixes(8)),
    "root of prefixes of 1": lambda: SquareRoot(Prefixes(1)),
    "root of prefixes of 2": lambda: SquareRoot(Prefixes(2), bits=16),
    "stream": lambda: ToeplitzRoot(9),
    "plain stream": lambda: ToeplitzRoot(5, normalized=False),
    "p-Identity": lambda: p_identity(AllRanges(9), steps=30),
    "optimum": lambda: optimize(RangesOfWidth(8, 3)).strategy(bits=8),
    "rounded root": lambda: normalized_root(AllRanges(6), 7),
    "any matrix": lambda: DenseStrategy(np.array([[1, 0], [2, -3], [0, 5]])),
    "cut tree": lambda: Hierarchy(11, 2, [2, 3, 0, 1, 5]),
    "tree of five": lambda: Hierarchy(5, 4),
    "cut wavelet": lambda: Wavelet(5),
    "cut wavelet, steep": lambda: Wavelet(11, [7, 1, 5, 2, 9]),
    "product of cut ones": lambda: Kronecker(Hierarchy(3, 2), Wavelet(3)),
    "product": lambda: Kronecker(normalized_root(AllRanges(3), 6), Hierarchy(2, 2)),
    "product with a root": lambda: Kronecker(SquareRoot(AllRanges(3)), Wavelet(2)),
}


@pytest.fixture(params=STRATEGIES.values(), ids=STRATEGIES.keys())
def strategy(request):
    return request.param()


def exact(strategy):
    """The matrix as Python integers, column by column from `measure` on unit vectors."""
    units = np.eye(strategy.size, dtype=np.int64)
    return [[int(entry) for entry in strategy.measure(unit)] for unit in units]


def test_column_norms_are_those_of_the_integer_matrix(strategy):
    columns = exact(strategy)
    assert strategy.column_norm1 == max(sum(abs(entry) for entry in column) for column in columns)
    assert strategy.squared_column_norm2 == max(sum(entry**2 for entry in column) for column in columns)
    assert strategy.largest_entry >= max(abs(entry) for column in columns for entry in column)
    assert strategy.measurements == len(columns[0])


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_sensitivity_by_brute_force_over_all_persons(strategy, rows):
    """All ways to place up to k rows of one person on the cells: the bound holds and one way attains it."""
    columns = np.array(exact(strategy), dtype=object)
    sensitivity = strategy.sensitivity(rows)
    base = np.arange(strategy.size) % 5
    before = strategy.measure(base)
    largest1 = largest2 = 0
    for count in range(1, rows + 1):
        for cells in combinations_with_replacement(range(strategy.size), count):
            change = columns[list(cells)].sum(axis=0)
            after = base + np.bincount(cells, minlength=strategy.size)
            assert [int(a) - int(b) for a, b in zip(strategy.measure(after), before, strict=True)] == list(
                change
            )
            largest1 = max(largest1, sum(abs(entry) for entry in change))
            largest2 = max(largest2, sum(entry**2 for entry in change))
            assert max(abs(entry) for entry in change) <= sensitivity.linf
    assert largest1 == sensitivity.l1
    assert largest2 == sensitivity.squared_l2


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(
    "strategy", [MeasureCells(2), Hierarchy(3, 2, [1, 2, 3]), DenseStrategy(np.array([[1, 0], [2, -3]]))]
)
def test_sensitivity_over_several_tables_by_brute_force(strategy, rows, groups):
    """Every person with up to `rows` rows in each of up to `groups` of three tables."""
    columns = np.array(exact(strategy), dtype=object)
    own = [np.zeros(strategy.measurements, dtype=object)]
    for count in range(1, rows + 1):
        for cells in combinations_with_replacement(range(strategy.size), count):
            own.append(columns[list(cells)].sum(axis=0))
    sensitivity = strategy.sensitivity(rows, groups=groups)
    largest = dict.fromkeys(("l0", "l1", "squared_l2", "linf"), 0)
    for moved in product(range(len(own)), repeat=3):
        if sum(index > 0 for index in moved) <= groups:
            change = [abs(int(entry)) for index in moved for entry in own[index]]
            largest["l0"] = max(largest["l0"], sum(entry > 0 for entry in change))
            largest["l1"] = max(largest["l1"], sum(change))
            largest["squared_l2"] = max(largest["squared_l2"], sum(entry**2 for entry in change))
            largest["linf"] = max(largest["linf"], *change)
    assert largest["l1"] == sensitivity.l1
    assert largest["squared_l2"] == sensitivity.squared_l2
    assert largest["linf"] == sensitivity.linf
    assert largest["l0"] <= sensitivity.l0


def test_sensitivity_is_that_of_adding_or_removing_and_of_no_other_relation(strategy):
    assert strategy.sensitivity().neighbors == ADD_REMOVE_PERSON
    with pytest.raises(TypeError):
        strategy.sensitivity(neighbors=REPLACE_PERSON)


def test_measuring_is_linear_and_clamps_without_a_word(strategy):
    columns = np.array(exact(strategy), dtype=object)
    x = (np.arange(strategy.size) * 7919) % 1013
    assert [int(entry) for entry in strategy.measure(x)] == list(x.astype(object) @ columns)
    huge = np.full(strategy.size, 2**62)
    np.testing.assert_array_equal(strategy.measure(huge), strategy.measure(np.full(strategy.size, 2**29 - 1)))


@pytest.mark.parametrize("huge", [2**63, 2**64, 2**100, -(2**63) - 1, -(2**64)])
def test_counts_of_any_size_are_clamped_without_a_word(strategy, huge):
    counts = [huge, *[-1] * (strategy.size - 1)]
    clamped = [(2**29 - 1) * (1 if huge > 0 else -1), *[-1] * (strategy.size - 1)]
    np.testing.assert_array_equal(strategy.measure(counts), strategy.measure(clamped))


def test_tables_of_the_largest_total_are_measured_as_they_are(strategy):
    columns = np.array(exact(strategy), dtype=object)
    assert strategy.largest_total * strategy.largest_entry <= 2**62
    assert (strategy.largest_total + 1) * strategy.largest_entry > 2**62
    x = np.zeros(strategy.size, dtype=np.int64)
    x[:] = min(strategy.largest_total // strategy.size, 2**29 - 1)
    assert [int(entry) for entry in strategy.measure(x)] == list(x.astype(object) @ columns)


def test_larger_tables_are_reflected():
    strategy = Kronecker(Hierarchy(2, 2, [2**20, 2**20]), Hierarchy(2, 2, [2**20, 2**20]))
    assert strategy.largest_total == 2**22
    held, more = (strategy.measure([rows, 0, 0, 0]) for rows in (2**22, 2**22 + 1))
    assert held.max() == 2**62
    assert more.max() == 2**62 - 2**40


def test_neighbors_of_huge_tables_are_no_further_apart(strategy):
    """Sums beyond 2^62 are reflected: still within the sensitivity."""
    huge = np.full(strategy.size, 2**29 - 2)
    for cell in range(strategy.size):
        other = huge.copy()
        other[cell] += 1
        change = [
            int(a) - int(b) for a, b in zip(strategy.measure(huge), strategy.measure(other), strict=True)
        ]
        assert sum(abs(entry) for entry in change) <= strategy.column_norm1
        assert sum(entry**2 for entry in change) <= strategy.squared_column_norm2


def test_neighbors_whose_sums_wrap_around_are_no_further_apart():
    """2^39 rows at weight 2^24 make exactly 2^63, where 64-bit integers turn negative."""
    strategy = Hierarchy(2**12, [2**12], [1, 2**24])
    below = np.zeros(2**12, np.int64)
    below[:1024] = 2**29 - 1
    below[1024] = 1023
    at = below.copy()
    at[1024] += 1
    assert int(at.sum()) == 2**39
    change = [int(a) - int(b) for a, b in zip(strategy.measure(at), strategy.measure(below), strict=True)]
    assert sum(abs(entry) for entry in change) == strategy.column_norm1


def test_estimates_are_least_squares(strategy):
    matrix = np.array(exact(strategy), dtype=float).T
    generator = np.random.default_rng(1)
    measured = generator.normal(size=len(matrix)) * np.sqrt(strategy.squared_column_norm2)
    estimate = strategy.reconstruct(measured)
    x = np.arange(strategy.size) ** 2
    np.testing.assert_allclose(strategy.reconstruct(strategy.measure(x)), x, atol=1e-6)
    np.testing.assert_allclose(
        estimate, np.linalg.lstsq(matrix, measured, rcond=None)[0], rtol=1e-6, atol=1e-9
    )
    inverse = np.linalg.inv(matrix.T @ matrix)
    covariance = strategy.covariance_times(np.eye(strategy.size))
    np.testing.assert_allclose(covariance, inverse, rtol=1e-6, atol=1e-12 * np.abs(inverse).max())
    np.testing.assert_allclose(strategy.cell_variances(), np.diagonal(inverse), rtol=1e-6)


@pytest.mark.parametrize("size", [33, 100, 257])
@pytest.mark.parametrize("build", [Hierarchy, Wavelet, lambda size: Hierarchy(size, 3)])
def test_cut_trees_and_wavelets_have_the_variance_of_least_squares(build, size):
    strategy = build(size)
    matrix = strategy.matrix().astype(float)
    inverse = np.linalg.inv(matrix.T @ matrix)
    assert not (matrix == 0).all(axis=1).any()  # what is always empty is not measured
    for workload in (Total(size), AllRanges(size), Prefixes(size)):
        assert strategy.trace(workload) == pytest.approx(np.trace(workload.gram() @ inverse), rel=1e-9)


def test_covariance_is_that_of_the_estimator(strategy):
    """Var of the estimate is B B^T for the linear map B from measurements to cells."""
    backward = strategy.reconstruct(np.eye(strategy.measurements)).T
    expected = backward @ backward.T
    scale = np.abs(expected).max()
    np.testing.assert_allclose(strategy.covariance_times(np.eye(strategy.size)), expected, atol=1e-9 * scale)


@pytest.mark.parametrize("family", [AllRanges, Prefixes, lambda size: RangesOfWidth(size, min(size, 2))])
def test_total_variance_is_the_sum_over_queries(strategy, family):
    if len(strategy.shape) > 1:
        workload = Product(*[family(size) for size in strategy.shape])
    else:
        workload = family(strategy.size)
    single = [strategy.variance(workload.row(index)) for index in range(workload.queries)]
    assert strategy.trace(workload) == pytest.approx(sum(single), rel=1e-8)


@pytest.mark.slow
@pytest.mark.statistical
def test_measured_error_is_the_computed_one(strategy):
    """Mean squared error over releases against `expected_error`, for both kinds of noise.

    The total squared error is a quadratic form in noise, whose relative standard deviation over r releases
    is at most sqrt(5 / r); eight of them are allowed.
    """
    workload = Product(*[AllRanges(size) for size in strategy.shape])
    x = np.arange(strategy.size) * 3
    truth = workload.answer(x)
    releases = 2000
    for mechanism in (
        Laplace(sensitivity=strategy.sensitivity(), epsilon=1),
        Gaussian(sensitivity=strategy.sensitivity(), rho=0.5),
    ):
        errors = [
            np.square(
                workload.answer(strategy.reconstruct(mechanism.release(strategy.measure(x)))) - truth
            ).sum()
            for _ in range(releases)
        ]
        expected = expected_error(workload, strategy, mechanism)
        assert np.mean(errors) == pytest.approx(expected.total, rel=8 * np.sqrt(5 / releases))


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: Hierarchy(8, 1), "branching"),
        (lambda: Hierarchy(8, [2, 2]), "branching"),
        (lambda: Hierarchy(8, 2, [0, 1, 1, 1]), "weights"),
        (lambda: Hierarchy(8, 2, [1, 1]), "weights"),
        (lambda: Wavelet(8, [1, 0, 1, 1]), "weights"),
        (lambda: SquareRoot(RangesOfWidth(5, 2)), "workload"),
        (lambda: ToeplitzRoot(2**17), "size"),
        (lambda: DenseStrategy(np.array([[1, 1]])), "rows"),
        (lambda: DenseStrategy(np.array([[1, 1], [1, 1]])), "rows"),
        (lambda: DenseStrategy(np.array([[1, 0], [0, 0]])), "rows"),
        (lambda: DenseStrategy(np.array([[0.5]])), "rows"),
        (lambda: DenseStrategy(np.array([[-(2**63), 1], [1, 0], [0, 1]])), "rows"),
        (lambda: DenseStrategy(np.array([[2**63, 1], [1, 0], [0, 1]], np.uint64)), "rows"),
        (lambda: DenseStrategy(np.array([[2**64 - 1, 1], [1, 0], [0, 1]], np.uint64)), "rows"),
        (lambda: DenseStrategy(np.array([[2**24, 2**24 - 1], [2**24 - 1, 2**24 - 2]])), "rows"),
        (lambda: DenseStrategy(np.eye(6, dtype=int), (2, 2)), "shape"),
        (lambda: Fourier(Total(5), bits=3), "bits"),
        (lambda: SquareRoot(AllRanges(4), bits=0), "bits"),
        (Kronecker, "factors"),
        (
            lambda: Kronecker(MeasureCells(2), Kronecker(MeasureCells(2), SquareRoot(AllRanges(2)))),
            "factors",
        ),
        (lambda: Kronecker(MeasureCells(2), Kronecker(Fourier(AllRanges(2)))), "factors"),
        (lambda: Kronecker(MeasureCells(2), SquareRoot(AllRanges(2))), "factors"),
        (lambda: MeasureCells(4).measure(np.zeros(3, int)), "x"),
        (lambda: MeasureCells(4).measure(np.zeros(4)), "x"),
        (lambda: MeasureCells(4).measure([True] * 4), "x"),
        (lambda: MeasureCells(4).measure(["a"] * 4), "x"),
        (lambda: MeasureCells(4).sensitivity(0), "rows"),
        (lambda: MeasureCells(4).trace(AllRanges(5)), "strategy"),
    ],
)
def test_bad_input_is_refused_by_name(build, named):
    with pytest.raises(ParameterError) as refused:
        build()
    assert refused.value.parameter == named
