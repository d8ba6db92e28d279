"""The square root strategy: near a bound on all strategies, at any size, and charged for what is rounded."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from discreet.workloads import AllRanges, Prefixes, SquareRoot, lower_bound


def ideal(workload):
    """The matrix before rounding, scaled so that its largest column norm is that of the integers."""
    values, vectors = np.linalg.eigh(workload.gram())
    fourth = (vectors * values**0.25) @ vectors.T
    return fourth / np.sqrt(workload.root_diagonal())


@pytest.mark.parametrize("size", [256, 1024, 4096])
def test_ranges_are_within_a_thousandth_of_what_is_possible(size):
    workload = AllRanges(size)
    strategy = SquareRoot(workload)
    total = strategy.trace(workload) * strategy.squared_column_norm2
    assert 1 < sqrt(total / lower_bound(workload).total) < 1.0005


@pytest.mark.parametrize("size", [64, 1000, 9000, 20000])
def test_prefixes_are_within_half_a_percent(size):
    workload = Prefixes(size)
    strategy = SquareRoot(workload)
    total = strategy.trace(workload) * strategy.squared_column_norm2
    assert 1 < sqrt(total / lower_bound(workload).total) < 1.005


@pytest.mark.parametrize("workload", [AllRanges(16), AllRanges(100), Prefixes(16), Prefixes(100)], ids=repr)
@pytest.mark.parametrize("bits", [16, 20, 30])
def test_the_unrounded_matrix_has_another_sensitivity(workload, bits):
    """Charging the ideal matrix, scaled alike, would charge too little: the rounded columns are longer."""
    strategy = SquareRoot(workload, bits)
    matrix = strategy.matrix().astype(float)
    model = ideal(workload)
    if strategy.folded:
        model = model[::-1]
    scale = (matrix * model).sum() / (model * model).sum()
    unrounded = float(np.square(scale * model).sum(axis=0).max())
    assert strategy.squared_column_norm2 > unrounded * (1 + 1e-12)
    assert strategy.squared_column_norm2 == max(
        int(n) for n in (strategy.matrix().astype(object) ** 2).sum(axis=0)
    )


def test_padding_keeps_estimates_and_norms():
    for workload in (AllRanges(8300), Prefixes(8300)):
        strategy = SquareRoot(workload)
        assert strategy.padded > workload.size
        x = np.random.default_rng(0).integers(0, 100, workload.size)
        measured = strategy.measure(x)
        np.testing.assert_allclose(strategy.reconstruct(measured), x, atol=1e-7)
        unit = np.zeros(workload.size, np.int64)
        for cell in (0, 1, 4000, 8299):
            unit[:] = 0
            unit[cell] = 1
            column = strategy.measure(unit)
            squared = sum(int(entry) ** 2 for entry in column)
            assert strategy.squared_column_norm2 * 0.999 < squared <= strategy.squared_column_norm2
            assert sum(abs(int(entry)) for entry in column) <= strategy.column_norm1


def test_trace_of_a_padded_domain_by_single_queries():
    for workload in (AllRanges(8200), Prefixes(8200)):
        strategy = SquareRoot(workload)
        generator = np.random.default_rng(1)
        if isinstance(workload, Prefixes):
            cells = np.arange(0, 8200, 41)
            single = [strategy.variance(workload.row(int(cell))) for cell in cells]
        else:
            single = []
            for _ in range(400):
                first, last = np.sort(generator.integers(0, 8200, 2))
                row = np.zeros(8200)
                row[first : last + 1] = 1
                single.append(strategy.variance(row))
        assert strategy.trace(workload) / workload.queries == pytest.approx(np.mean(single), rel=0.02)


def test_other_workloads_on_the_same_domain_are_computed_densely():
    strategy = SquareRoot(AllRanges(12))
    single = [strategy.variance(Prefixes(12).row(index)) for index in range(12)]
    assert strategy.trace(Prefixes(12)) == pytest.approx(sum(single))
