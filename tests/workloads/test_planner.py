"""The planner takes the least exact error, says so, and releases what it promised."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit import check_mechanism
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.workloads import (
    AllRanges,
    Identity,
    Matrix,
    Prefixes,
    Product,
    RangesOfWidth,
    SquareRoot,
    Total,
    WeightedUnion,
    expected_error,
    plan,
)

BUDGETS = [{"rho": 0.5}, {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}]
WORKLOADS = [
    AllRanges(1),
    AllRanges(2),
    AllRanges(37),
    Prefixes(24),
    Identity(9),
    Total(6),
    RangesOfWidth(12, 5),
    Matrix(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -1.0]])),
    WeightedUnion([AllRanges(8), Total(8)], [1, 4]),
    Product(AllRanges(5), Prefixes(4)),
    Product(AllRanges(4), Total(3), Identity(2)),
]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize(
    "workload", WORKLOADS, ids=lambda workload: type(workload).__name__ + str(workload.shape)
)
def test_B3_the_least_error_is_taken_and_lies_above_the_bound(workload, budget):
    chosen = plan(workload, **budget)
    assert chosen.expected_error.rmse == chosen.considered[0].rmse == min(c.rmse for c in chosen.considered)
    assert chosen.expected_error == expected_error(workload, chosen.strategy, chosen.mechanism)
    assert 0 < chosen.lower_bound <= chosen.expected_error.rmse * (1 + 1e-9)
    assert chosen.gap >= -1e-9
    sensitivity = chosen.strategy.sensitivity()
    if isinstance(chosen.mechanism, Laplace):
        assert chosen.event.sensitivity == sensitivity.l1
    else:
        assert chosen.event.squared_sensitivity == sensitivity.squared_l2
    released = chosen.release(np.arange(workload.size))
    assert released.cells.shape == workload.shape
    assert len(released.answers(workload)) == workload.queries


def test_gaussian_noise_takes_the_square_root_and_a_tight_bound():
    for workload, gap in (
        (AllRanges(256), 5e-4),
        (Prefixes(256), 5e-3),
        (Product(AllRanges(32), AllRanges(16)), 3e-3),
    ):
        assert plan(workload, rho=0.5).gap < gap
    assert isinstance(plan(AllRanges(64), rho=0.5).strategy, SquareRoot)


def test_laplace_or_gaussian_is_chosen_by_error():
    few = plan(AllRanges(64), epsilon=1, delta=1e-9)
    many = plan(AllRanges(2**14), epsilon=1, delta=1e-5)
    assert isinstance(few.mechanism, Laplace)
    assert isinstance(many.mechanism, Gaussian)
    assert {candidate.noise for candidate in few.considered} == {"Gaussian", "Laplace"}


def test_rows_of_a_person_multiply_noise():
    once, thrice = plan(AllRanges(16), rho=0.5), plan(AllRanges(16), rho=0.5, rows=3)
    assert thrice.expected_error.rmse == pytest.approx(3 * once.expected_error.rmse)
    assert thrice.event.squared_sensitivity == 9 * once.event.squared_sensitivity
    assert thrice.event.rho == once.event.rho


def test_small_budgets_get_coarser_integers():
    chosen = plan(AllRanges(64), rho="1/100000000")
    assert chosen.gap < 0.02


@pytest.mark.slow
@pytest.mark.statistical
def test_B3_errors_of_planned_releases_are_as_computed():
    x = np.arange(36)
    for workload in (AllRanges(36), Product(AllRanges(6), AllRanges(6))):
        chosen = plan(workload, rho=0.5)
        truth = workload.answer(x)
        errors = [np.square(chosen.release(x).answers(workload) - truth).sum() for _ in range(1000)]
        assert np.mean(errors) == pytest.approx(chosen.expected_error.total, rel=8 * np.sqrt(2 / 1000))


@pytest.mark.parametrize(
    "budget",
    [{}, {"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 0.1}, {"epsilon": 0}, {"rho": -1}, {"delta": 0.1}],
    ids=str,
)
def test_bad_budgets_are_refused(budget):
    with pytest.raises(ParameterError):
        plan(AllRanges(4), **budget)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 0.125}], ids=str)
def test_the_law_that_is_drawn_passes_an_audit(budget):
    check_mechanism(plan(AllRanges(2), **budget).mechanism)


def test_sensitivity_of_the_unrounded_matrix_is_less_than_what_neighbors_move():
    workload = AllRanges(8)
    strategy = SquareRoot(workload, bits=16)
    values, vectors = np.linalg.eigh(workload.gram())
    model = (vectors * values**0.25) @ vectors.T / np.sqrt(workload.root_diagonal())
    matrix = strategy.matrix()
    unrounded = float((matrix * model).sum() / (model**2).sum()) ** 2  # columns of the model have norm 1
    moved = max(
        sum(int(entry) ** 2 for entry in strategy.measure(unit)) for unit in np.eye(8, dtype=np.int64)
    )
    assert moved > unrounded
    assert moved <= strategy.sensitivity().squared_l2
