"""A general convex solver, as the oracle for constrained least squares, and random instances of every set."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import aslinearoperator

from discreet.workloads.inference.sets.equalities import Equalities, ImplicitEqualities
from discreet.workloads.inference.sets.isotonic import Ordered
from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative, Simplex

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import cvxpy

TIGHT = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 500}


def general_solver(matrix, answers, weights, conditions) -> np.ndarray:
    """Minimize sum w (A x - y)^2 under conditions, by an interior-point method that knows nothing of ours."""
    cells = cvxpy.Variable(matrix.shape[1])
    misses = cvxpy.multiply(np.sqrt(weights), matrix @ cells - answers)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(misses)), conditions(cells))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver="CLARABEL", **TIGHT)
        except cvxpy.SolverError:  # some tiny instances are too tight for it
            problem.solve(solver="OSQP", eps_abs=1e-12, eps_rel=1e-12, max_iter=100_000, polish=True)
    assert problem.status in {"optimal", "optimal_inaccurate"}
    return cells.value


@dataclass(frozen=True)
class Instance:
    """A true vector, the sets that it lies in, and the same sets as conditions of the general solver."""

    truth: np.ndarray
    sets: list[Any]
    conditions: Callable[[Any], list[Any]]


def _non_negative(random, size):
    truth = random.poisson(1.0, size).astype(float)
    return Instance(truth, [NonNegative()], lambda x: [x >= 0])


def _total(random, size):
    truth = random.normal(0, 3, size)
    total = float(truth.sum())
    return Instance(truth, [KnownTotal(total)], lambda x: [cvxpy.sum(x) == total])


def _simplex(random, size):
    truth = random.poisson(1.0, size).astype(float)
    total = float(truth.sum())
    return Instance(truth, [Simplex(total)], lambda x: [cvxpy.sum(x) == total, x >= 0])


def _signs_and_total(random, size):
    made = _simplex(random, size)
    return Instance(made.truth, [NonNegative(), KnownTotal(made.sets[0].total)], made.conditions)


def _rising(random, size):
    return Instance(np.sort(random.normal(0, 2, size)), [Ordered()], lambda x: [x[1:] >= x[:-1]])


def _non_negative_and_rising(random, size):
    truth = np.sort(np.maximum(random.normal(0, 2, size), 0))
    return Instance(truth, [NonNegative(), Ordered()], lambda x: [x[1:] >= x[:-1], x >= 0])


def _falling_between(random, size):
    truth = -np.sort(-random.uniform(1, 4, size))
    return Instance(
        truth, [Ordered(lower=1, upper=4, falling=True)], lambda x: [x[1:] <= x[:-1], x >= 1, x <= 4]
    )


def _rows(random, size):
    truth = random.poisson(2.0, size).astype(float)
    matrix = random.integers(0, 2, (max(size // 3, 1), size)).astype(float)
    return truth, np.vstack([matrix, matrix[:1]])  # the last row says what the first does


def _equalities(random, size):
    truth, matrix = _rows(random, size)
    values = matrix @ truth
    return Instance(truth, [Equalities(matrix, values)], lambda x: [matrix[:-1] @ x == values[:-1]])


def _implicit(random, size):
    made, (_, matrix) = None, _rows(random, size)
    truth = random.poisson(2.0, size).astype(float)
    values = matrix @ truth
    made = ImplicitEqualities(aslinearoperator(matrix), values)
    return Instance(truth, [made], lambda x: [matrix[:-1] @ x == values[:-1]])


def _signs_and_equalities(random, size):
    made = _equalities(random, size)
    return Instance(made.truth, [NonNegative(), *made.sets], lambda x: [*made.conditions(x), x >= 0])


def _everything(random, size):
    truth, matrix = _rows(random, size)
    truth = np.sort(truth)
    values, total = matrix @ truth, float(truth.sum())
    return Instance(
        truth,
        [NonNegative(), KnownTotal(total), Ordered(), Equalities(matrix, values)],
        lambda x: [matrix[:-1] @ x == values[:-1], cvxpy.sum(x) == total, x >= 0, x[1:] >= x[:-1]],
    )


SETS = {
    "non-negative": _non_negative,
    "total": _total,
    "simplex": _simplex,
    "non-negative and total": _signs_and_total,
    "rising": _rising,
    "non-negative and rising": _non_negative_and_rising,
    "falling within bounds": _falling_between,
    "equalities": _equalities,
    "implicit equalities": _implicit,
    "non-negative and equalities": _signs_and_equalities,
    "everything": _everything,
}
