"""The fixed point: certified, and no worse than a general search."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads import (
    AllRanges,
    Identity,
    Matrix,
    Prefixes,
    RangesOfWidth,
    SquareRoot,
    Total,
    optimize,
)
from discreet.workloads.planning import optimizer


@pytest.mark.parametrize(("family", "size", "reference"), [(AllRanges, 256, 2.9014), (Prefixes, 256, 2.5244)])
def test_optimum_meets_the_reference(family, size, reference):
    found = optimize(family(size), tolerance=2e-4)
    assert found.gap < 2e-4
    assert np.sqrt(found.bound / family(size).queries) == pytest.approx(reference, abs=6e-4)
    assert np.sqrt(found.total / family(size).queries) == pytest.approx(reference, abs=6e-4)


@pytest.mark.few(0, slow=1)
@pytest.mark.parametrize("size", [1024, 4096])
def test_root_of_ranges_is_within_a_thousandth_of_the_dual_bound(size):
    workload = AllRanges(size)
    found = optimize(workload, tolerance=2e-4, steps=2)
    strategy = SquareRoot(workload)
    total = strategy.trace(workload) * strategy.squared_column_norm2
    assert np.sqrt(total / found.bound) < 1.001


def test_the_certificate_can_be_checked_apart():
    workload = RangesOfWidth(9, 3)
    found = optimize(workload)
    scale = np.sqrt(found.weights)
    values = np.linalg.eigvalsh(scale[:, None] * workload.gram() * scale)
    assert found.bound == pytest.approx(np.sqrt(np.maximum(values, 0)).sum() ** 2 / found.weights.sum())
    assert np.diagonal(found.gram) == pytest.approx(np.ones(9))
    assert found.total == pytest.approx(np.trace(workload.gram() @ np.linalg.inv(found.gram)))


def test_workloads_of_low_rank_are_no_problem():
    for workload, best in ((Total(7), 1.0), (Matrix([[1.0, 1.0, 0.0]]), 1.0), (Identity(4), 4.0)):
        found = optimize(workload, tolerance=1e-4, steps=200)
        assert found.total == pytest.approx(best, rel=1e-3)
        strategy = found.strategy(bits=16)
        assert strategy.trace(workload) * strategy.squared_column_norm2 == pytest.approx(best, rel=5e-3)


@pytest.mark.parametrize(("queries", "size"), [(2, 9), (3, 100), (10, 120), (40, 90)])
def test_workloads_of_few_queries_are_certified_within_half_a_percent(queries, size):
    rows = np.random.default_rng(0).integers(0, 2, (queries, size)).astype(float)
    workload = Matrix(rows)
    found = optimize(workload)
    assert found.gap < 5e-3
    assert np.diagonal(found.gram) == pytest.approx(np.ones(size))
    assert found.total == pytest.approx(np.trace(workload.gram() @ np.linalg.inv(found.gram)))
    direct = queries * np.square(rows).sum(axis=0).max()
    assert found.bound <= direct * (1 + 1e-12)
    strategy = found.strategy(bits=16)
    assert strategy.trace(workload) * strategy.squared_column_norm2 < found.total * 1.005


def test_rows_and_gram_matrix_lead_to_the_same():
    rows = np.random.default_rng(1).normal(size=(4, 12))
    few, many = optimize(Matrix(rows)), optimize(Matrix(np.vstack([rows, np.zeros((9, 12))])))
    assert few.bound == pytest.approx(many.bound, rel=1e-4)
    assert few.total == pytest.approx(many.total, rel=1e-4)


def test_the_scale_of_coefficients_does_not_matter():
    rows = np.random.default_rng(2).normal(size=(5, 6))
    plain = optimize(Matrix(rows))
    for scale in (2.0**-300, 2.0**300):
        found = optimize(Matrix(rows * scale))
        assert found.bound / scale**2 == pytest.approx(plain.bound)
        assert found.gap == pytest.approx(plain.gap, rel=1e-3)


def test_work_and_idle_steps_end_the_search(monkeypatch):
    steps = []
    root = optimizer._Queries.root
    monkeypatch.setattr(
        optimizer._Queries, "root", lambda self, weights: steps.append(1) or root(self, weights)
    )
    rows = np.random.default_rng(0).integers(0, 2, (40, 90)).astype(float)
    optimize(Matrix(rows), tolerance=1e-14, steps=7)
    assert len(steps) == 7
    steps.clear()
    optimize(Identity(7), tolerance=0, steps=50)
    assert len(steps) <= 5
    steps.clear()
    monkeypatch.setattr(optimizer, "MOST_WORK", 1)
    optimize(Matrix(rows), tolerance=1e-14, steps=50)
    assert len(steps) == 2


def test_a_remembered_optimum_cannot_be_changed():
    found = optimize(AllRanges(5))
    assert optimize(AllRanges(5)) is found
    for array in (found.gram, found.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2


def test_rounding_costs_little_and_is_charged():
    workload = AllRanges(40)
    found = optimize(workload)
    for bits, loss in ((6, 0.2), (10, 0.01), (16, 1e-3)):
        strategy = found.strategy(bits)
        total = strategy.trace(workload) * strategy.squared_column_norm2
        assert found.bound < total < found.total * (1 + loss)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="asks nothing"):
        optimize(Matrix(np.zeros((1, 3))))
    with pytest.raises(ParameterError, match="4097 cells"):
        optimize(AllRanges(4097))
    with pytest.raises(ParameterError, match="steps"):
        optimize(AllRanges(4), steps=0)
