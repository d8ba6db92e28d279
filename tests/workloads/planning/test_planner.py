"""The planner takes the least exact error, says so, and releases what it promised."""

from __future__ import annotations

import sys

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

optimizer_module, p_identity_module, weighted_tree_module = (
    sys.modules[f"discreet.workloads.{name}"]
    for name in ("planning.optimizer", "strategies.p_identity", "strategies.weighted_tree")
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


@pytest.mark.few(12)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize(
    "workload", WORKLOADS, ids=lambda workload: type(workload).__name__ + str(workload.shape)
)
def test_the_least_error_is_taken_and_lies_above_the_bound(workload, budget):
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


@pytest.mark.few(3)
@pytest.mark.parametrize("delta", [0.05, 0.01, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_one_step_of_one_integer_is_no_exception_to_the_bound(epsilon, delta):
    for workload in (Identity(50), Identity(1), Total(1), Total(7), *map(AllRanges, range(1, 10))):
        assert plan(workload, epsilon=epsilon, delta=delta).gap >= -1e-12


@pytest.mark.few(2)
@pytest.mark.parametrize(("queries", "size"), [(1, 60), (3, 100), (10, 400), (40, 60)])
def test_no_plan_is_worse_than_asking_directly(queries, size):
    generator = np.random.default_rng(0)
    for rows in (generator.integers(0, 2, (queries, size)), generator.normal(size=(queries, size))):
        workload = Matrix(rows)
        squared, total = (np.abs(rows) ** norm for norm in (2, 1))
        gaussian = np.sqrt(squared.sum(axis=0).max())
        assert plan(workload, rho=0.5).expected_error.rmse <= 1.01 * gaussian
        laplace = np.sqrt(2) * total.sum(axis=0).max()
        assert plan(workload, epsilon=0.1).expected_error.rmse <= 1.01 * laplace / 0.1


def test_totals_are_asked_almost_directly():
    for workload in (Total(2**20), Total((100, 100)), Total((2, 3, 4)), Product(Total(64), Total(3))):
        for budget in ({"rho": 0.5}, {"epsilon": 0.5}):
            assert plan(workload, **budget).gap < 0.02


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("workload", "budget", "gap"),
    [
        (Product(*[Prefixes(16)] * 3), {"epsilon": 1}, 3),
        (Product(*[AllRanges(4)] * 8), {"rho": 0.5}, 0.05),
        (Product(*[AllRanges(2)] * 20), {"rho": 0.5}, 0.5),
        (AllRanges(8), {"rho": 1e-16}, 0.01),
        (AllRanges(8), {"rho": 1e-22}, 0.5),
        (AllRanges(300), {"epsilon": 1e-9}, 2),
        (RangesOfWidth(40, 3), {"epsilon": 1e-10}, 2),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "shape") else str(value),
)
def test_strategies_whose_noise_cannot_be_drawn_are_left_out(workload, budget, gap):
    chosen = plan(workload, **budget)
    assert chosen.gap < gap
    assert chosen.strategy.largest_entry <= 2**33


def test_budgets_beyond_all_noise_name_what_was_given():
    with pytest.raises(ParameterError, match=r"^rho calls for noise"):
        plan(AllRanges(8), rho=1e-40)
    with pytest.raises(ParameterError, match=r"^epsilon calls for noise"):
        plan(AllRanges(8), epsilon=1e-40)


@pytest.mark.parametrize(
    "workload",
    [AllRanges(300), Prefixes(300), Product(*[AllRanges(8)] * 3), Product(Prefixes(9), AllRanges(40))],
    ids=repr,
)
def test_ordinary_counts_are_measured_exactly(workload):
    for budget in ({"rho": 0.5}, {"epsilon": 1}):
        strategy = plan(workload, **budget).strategy
        assert strategy.largest_entry <= 2**33
        x = np.zeros(workload.size, np.int64)
        x[workload.size // 2] = 2**28
        once = np.zeros_like(x)
        once[workload.size // 2] = 1
        assert [int(y) for y in strategy.measure(x)] == [2**28 * int(y) for y in strategy.measure(once)]


@pytest.mark.parametrize("budget", [{"rho": 1}, {"epsilon": 1}], ids=str)
def test_another_budget_repeats_no_search(monkeypatch, budget):
    searches = []
    for module in (p_identity_module, weighted_tree_module):
        minimize = module.minimize
        monkeypatch.setattr(
            module,
            "minimize",
            lambda *args, real=minimize, **rest: searches.append(1) or real(*args, **rest),
        )
    root = optimizer_module._Queries.root
    monkeypatch.setattr(
        optimizer_module._Queries, "root", lambda self, weights: searches.append(1) or root(self, weights)
    )
    for workload in (AllRanges(21), RangesOfWidth(21, 4), Matrix(np.tri(9)), Product(Prefixes(21), Total(5))):
        plan(workload, **budget)
        first = len(searches)
        for factor in (0.5, 2, 3):
            plan(workload, **{name: value * factor for name, value in budget.items()}, rows=2)
        assert len(searches) == first


def test_domains_beyond_memory_are_refused():
    long = 2**20
    for workload in (Identity((long, long)), Total((long, long)), Product(AllRanges(long), AllRanges(long))):
        with pytest.raises(ParameterError, match=r"1099511627776 cells.*at most 134217728"):
            plan(workload, rho=1)


def test_queries_without_usable_coefficients_are_refused():
    for value in (0.0, 1e-200, 1e200):
        for workload in (Matrix([[value, 0.0]]), Product(AllRanges(3), Matrix([[value]]))):
            with pytest.raises(ParameterError, match=r"^workload asks nothing, or has coefficients"):
                plan(workload, rho=1)
    plain = plan(Matrix([[1.0, 2.0], [3.0, 0.0]]), epsilon=1, delta=0.01)
    for scale in (2.0**-300, 2.0**300):
        chosen = plan(Matrix(scale * np.array([[1.0, 2.0], [3.0, 0.0]])), epsilon=1, delta=0.01)
        assert chosen.expected_error.rmse / scale == pytest.approx(plain.expected_error.rmse, rel=1e-3)


def test_a_domain_without_a_square_root_has_a_plan():
    chosen = plan(WeightedUnion([Prefixes(5000), Identity(5000)], [1, 10]), rho=0.5)
    assert 0 <= chosen.gap < 1
    assert "part of the union" in chosen.certificate


@pytest.mark.exhaustive
def test_windows_over_a_long_domain_have_a_plan():
    chosen = plan(RangesOfWidth(5000, 7), rho=0.5)
    assert 0 <= chosen.gap < 1
    assert "width" in chosen.certificate


@pytest.mark.parametrize("size", [256, 1024, 4096])
def test_ranges_are_within_a_thousandth_of_the_bound(size):
    assert plan(AllRanges(size), rho=0.5).gap < 1e-3


def test_the_first_axis_may_be_long():
    chosen = plan(Product(AllRanges(4096), AllRanges(8)), rho=0.5)
    assert chosen.gap < 0.02
    x = np.arange(4096 * 8)
    assert chosen.strategy.reconstruct(chosen.strategy.measure(x)) == pytest.approx(x, abs=1e-2)


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_of_planned_releases_are_as_computed():
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


@pytest.mark.few(0, slow=1)
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


def test_an_array_is_a_matrix_of_queries():
    rows = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    found = plan(rows, epsilon=1)
    assert found.expected_error == plan(Matrix(rows), epsilon=1).expected_error
    for wrong in ([[1, 0]], "ranges", 3):
        with pytest.raises(ParameterError, match=r"AllRanges\(64\), or an array"):
            plan(wrong, epsilon=1)
