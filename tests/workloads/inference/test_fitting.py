"""Constrained inference: against a general solver, and against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from discreet.errors import ParameterError
from discreet.workloads.inference.fitting import fit_cells, project
from discreet.workloads.inference.sets.equalities import Equalities
from discreet.workloads.inference.sets.isotonic import Ordered
from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative, Simplex
from workloads.inference.convex_oracle import SETS, general_solver

STRATEGIES = {
    "prefixes": lambda random, size: np.tril(np.ones((size, size))),
    "random": lambda random, size: random.normal(size=(2 * size, size)),
    "fewer than cells": lambda random, size: random.integers(0, 2, (max(size - 2, 1), size)).astype(float),
}


@pytest.mark.parametrize("name", SETS)
def test_projections_match_a_general_solver(name):
    random = np.random.default_rng(1)
    for size in (2, 5, 12):
        for _ in range(3):
            made = SETS[name](random, size)
            answers = made.truth + random.laplace(0, 4, size)
            weights = random.uniform(0.3, 3, size)
            estimate = project(answers, *made.sets, weights=weights)
            expected = general_solver(np.eye(size), answers, weights, made.conditions)
            assert np.abs(estimate.constrained - expected).max() < 1e-6
            assert estimate.residual < 1e-9


@pytest.mark.parametrize("strategy", ["prefixes", "random"])
@pytest.mark.parametrize("name", SETS)
def test_fits_match_a_general_solver(name, strategy):
    """Dense and implicit: the same cells."""
    random = np.random.default_rng(2)
    for size in (2, 9):
        made = SETS[name](random, size)
        matrix = STRATEGIES[strategy](random, size)
        answers = matrix @ made.truth + random.laplace(0, 4, matrix.shape[0])
        weights = random.uniform(0.3, 3, matrix.shape[0])
        expected = general_solver(matrix, answers, weights, made.conditions)
        for given in (matrix, aslinearoperator(matrix)):
            estimate = fit_cells(given, answers, *made.sets, weights=weights)
            assert np.abs(estimate.constrained - expected).max() < 1e-6
            assert estimate.residual < 1e-9


def test_a_strategy_that_does_not_determine_the_cells_is_fitted_all_the_same():
    """The cells are not unique, their answers are."""
    random = np.random.default_rng(3)
    matrix = STRATEGIES["fewer than cells"](random, 8)
    answers = matrix @ random.poisson(2, 8) + random.laplace(0, 4, matrix.shape[0])
    expected = matrix @ general_solver(matrix, answers, np.ones(answers.size), lambda x: [x >= 0])
    for given in (matrix, aslinearoperator(matrix)):
        estimate = fit_cells(given, answers, NonNegative())
        assert np.abs(matrix @ estimate.constrained - expected).max() < 1e-6
        shortest = np.linalg.lstsq(matrix, answers, rcond=None)[0]
        assert np.abs(estimate.unbiased - shortest).max() < 1e-9


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "everything" else []) for name in SETS]
)
def test_a_projection_is_never_farther_from_the_truth(name):
    """On every draw of the noise, and strictly closer on average."""
    random = np.random.default_rng(4)
    before, after = [], []
    for _ in range(60):
        size = int(random.integers(2, 24))
        made = SETS[name](random, size)
        answers = made.truth + random.laplace(0, 3, size)
        estimate = project(answers, *made.sets, tolerance=1e-9)
        before.append(np.linalg.norm(answers - made.truth))
        after.append(np.linalg.norm(estimate.constrained - made.truth))
        assert after[-1] <= before[-1] + 1e-8
    assert np.mean(np.square(after)) < 0.98 * np.mean(np.square(before))


@pytest.mark.parametrize("name", SETS)
def test_a_fit_never_increases_the_error_of_the_answers(name):
    """In the norm of the strategy on every draw; the squared error of the cells on average."""
    random = np.random.default_rng(5)
    before, after = [], []
    for _ in range(40):
        size = int(random.integers(2, 10))
        made = SETS[name](random, size)
        matrix = random.normal(size=(2 * size, size))
        answers = matrix @ made.truth + random.laplace(0, 3, matrix.shape[0])
        estimate = fit_cells(matrix, answers, *made.sets, tolerance=1e-9)
        free = np.linalg.lstsq(matrix, answers, rcond=None)[0]
        assert (
            np.linalg.norm(matrix @ (estimate.constrained - made.truth))
            <= np.linalg.norm(matrix @ (free - made.truth)) + 1e-6
        )
        before.append(np.sum((free - made.truth) ** 2))
        after.append(np.sum((estimate.constrained - made.truth) ** 2))
    assert np.mean(after) < np.mean(before)


def test_unbiased_and_constrained_estimates_are_kept_apart():
    """Equalities keep the mean, non-negativity shifts it: which is which is in the record."""
    random = np.random.default_rng(6)
    truth = np.array([0.0, 0.0, 0.0, 1.0, 9.0])
    answers = truth + random.laplace(0, 2, (4000, 5))
    made = [project(y, NonNegative(), KnownTotal(10)) for y in answers]
    unbiased = np.mean([estimate.unbiased for estimate in made], axis=0)
    constrained = np.mean([estimate.constrained for estimate in made], axis=0)
    error = 2 * np.sqrt(2) / np.sqrt(4000)
    assert np.abs(unbiased - truth).max() < 5 * error
    assert constrained[:3].min() > 10 * error
    assert all(abs(estimate.unbiased.sum() - 10) < 1e-9 for estimate in made)
    assert made[0].constraints == ("entries are non-negative and add up to the total",)


def test_the_first_constraint_is_met_to_the_last_digit():
    random = np.random.default_rng(7)
    made = SETS["non-negative and equalities"](random, 12)
    estimate = project(made.truth + random.laplace(0, 5, 12), *made.sets)
    assert estimate.constrained.min() >= 0
    assert estimate.iterations > 0


def test_weights_matter_only_by_their_ratios():
    answers, weights = [3.0, -1.0, 4.0, -2.0], np.array([1.0, 2.0, 3.0, 4.0])
    once = project(answers, Simplex(5), weights=weights).constrained
    again = project(answers, Simplex(5), weights=1e-9 * weights).constrained
    assert np.abs(once - again).max() < 1e-12
    assert np.abs(once - project(answers, Simplex(5)).constrained).max() > 0.1


def test_without_constraints_nothing_changes():
    estimate = project([1.0, -2.0])
    assert estimate.constrained.tolist() == [1.0, -2.0]
    assert estimate.residual == 0
    fitted = fit_cells([[2.0, 0.0], [0.0, 1.0]], [4.0, 3.0])
    assert fitted.constrained == pytest.approx([2, 3])


@pytest.mark.parametrize("size", [0, 1, 2])
def test_tiny_domains(size):
    answers = np.arange(size) - 1.0
    for sets in ([NonNegative()], [Ordered()], [Ordered(lower=0, upper=1)], [NonNegative(), Ordered()]):
        estimate = project(answers, *sets)
        assert estimate.constrained.shape == (size,)
        assert estimate.residual < 1e-9
    estimate = project(answers, NonNegative(), Equalities(np.zeros((1, size)), [0.0]))
    assert estimate.constrained == pytest.approx(np.maximum(answers, 0))
    if size:
        assert project(answers, NonNegative(), KnownTotal(3)).constrained.sum() == pytest.approx(3)


@pytest.mark.parametrize(
    ("sets", "named"),
    [
        ([NonNegative(), KnownTotal(-1)], "non-negative, and add up to a total below zero"),
        ([KnownTotal(3), KnownTotal(4)], "two totals"),
        ([KnownTotal(3), Simplex(4)], "two totals"),
        ([Ordered(lower=2), KnownTotal(3)], "add up to the total; entries never fall and lie"),
        ([NonNegative(), Equalities([[1, 0, 0]], [-1])], "non-negative; linear equalities"),
    ],
)
def test_contradictory_constraints_are_refused_and_named(sets, named):
    with pytest.raises(ParameterError, match=named):
        project([1.0, 2.0, 3.0], *sets)
    with pytest.raises(ParameterError, match=named):
        fit_cells(np.eye(3), [1.0, 2.0, 3.0], *sets)


def test_a_contradiction_too_large_to_check_ahead_is_found_by_the_steps(monkeypatch):
    monkeypatch.setattr("discreet.workloads.inference.sets.contradictions.MOST_CHECKED", 0)
    with pytest.raises(ParameterError, match="no common point"):
        project([1.0, 2.0, 3.0], NonNegative(), Equalities([[1, 0, 0]], [-1]))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: project([[1.0]], NonNegative()), "dimensions"),
        (lambda: project([np.nan], NonNegative()), "NaN"),
        (lambda: project(["a"], NonNegative()), "no number"),
        (lambda: project([1.0, 2.0], NonNegative(), weights=[1.0]), "weights"),
        (lambda: project([1.0, 2.0], NonNegative(), weights=[1.0, 0.0]), "positive"),
        (lambda: project([], KnownTotal(1)), "no entries"),
        (lambda: fit_cells([1.0, 2.0], [1.0]), "matrix"),
        (lambda: fit_cells(np.eye(2), [1.0]), "answers"),
        (lambda: fit_cells(aslinearoperator(np.eye(2)), [1.0]), "answers"),
        (lambda: project([1.0, 2.0], Equalities([[1.0, 1.0, 1.0]], [1.0])), "columns"),
    ],
)
def test_bad_input_is_refused(call, match):
    with pytest.raises(ParameterError, match=match):
        call()


def test_a_strategy_too_large_for_memory_is_refused_with_its_size():
    wide = np.broadcast_to(np.float64(1), (1 << 14, 1 << 13))
    with pytest.raises(ParameterError, match=r"16384 x 8192 = 134217728 entries.*operator"):
        Equalities(wide, np.zeros(1 << 14))
