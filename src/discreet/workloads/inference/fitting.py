"""Constrained inference: the closest point to noisy answers inside a convex set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.workloads.algebra.arrays import Operator, Real, real_matrix, real_vector, weight_vector
from discreet.workloads.inference.estimate import Estimate
from discreet.workloads.inference.sets.base import ConvexSet
from discreet.workloads.inference.sets.contradictions import check_compatible
from discreet.workloads.inference.sets.isotonic import Ordered
from discreet.workloads.inference.sets.simplex import KnownTotal, NonNegative, Simplex
from discreet.workloads.inference.solvers.active_set import descend
from discreet.workloads.inference.solvers.admm import Solution, alternate
from discreet.workloads.inference.solvers.objective import DenseFit, Distance, Fit, ImplicitFit
from discreet.workloads.inference.solvers.simplex_dual import descend_on_simplex

__all__ = ["fit_cells", "project"]

_MOST_STEPS = 20_000
_MOST_FACES = 2000
_MOST_DENSE = 2048
_APART = 1e-4


def project(
    answers: ArrayLike,
    *constraints: ConvexSet,
    weights: ArrayLike | None = None,
    tolerance: float = 1e-12,
) -> Estimate:
    """Return the point of a convex set that is closest to noisy answers.

    Parameters
    ----------
    answers : array
        What was released.
    *constraints : ConvexSet
        What the true answers are known to meet, from public facts: `NonNegative`, `KnownTotal`, `Simplex`,
        `Ordered`, `Equalities`, `ImplicitEqualities`, or any of them together.
    weights : number or array, optional
        Of the squared differences, 1 / variance for the best estimate; equal by default.
    tolerance : float
        For combinations: the residual to stop at, relative to the largest answer.

    Returns
    -------
    Estimate
        Its `constrained` estimate is never farther from the truth than the answers are, in the weighted
        norm, on every draw of the noise: a projection on a convex set does not move away from its points.

    Notes
    -----
    One constraint is projected on exactly; non-negative with a total is one, the simplex. Several are
    combined by alternating directions; the first of them is then met to the last digit, the
    others up to `residual`.

    Examples
    --------
    >>> from discreet.workloads.inference import KnownTotal, NonNegative, project
    >>> estimate = project([5.0, -2.0, 3.0], NonNegative(), KnownTotal(10))
    >>> estimate.constrained.tolist()
    [6.0, 0.0, 4.0]
    """
    values = real_vector(answers, "answers")
    weight = weight_vector(weights, values.size)
    sets = _merged(constraints)
    check_compatible(sets, values.size)
    return _solved(Distance(answers=values, weights=weight), sets, tolerance)


def fit_cells(
    strategy: ArrayLike | Operator,
    answers: ArrayLike,
    *constraints: ConvexSet,
    weights: ArrayLike | None = None,
    tolerance: float = 1e-12,
) -> Estimate:
    """Return the cells whose answers, by a linear strategy, are closest to the noisy ones.

    Parameters
    ----------
    strategy : array of shape (m, n) or Operator
        What was measured: m answers of n cells. A matrix with up to 2048 cells is decomposed once;
        an operator is only applied, itself and its transpose.
    answers : array of m numbers
        What was released.
    *constraints : ConvexSet
        What the true cells are known to meet.
    weights : number or array, optional
        One for each answer, 1 / variance for the best estimate.
    tolerance : float
        The residual to stop at, relative to the largest cell of the unbiased estimate.

    Returns
    -------
    Estimate
        Of the cells. Where the strategy does not determine them, the shortest of the unbiased estimates.

    Notes
    -----
    One constraint takes conjugate gradients on the faces of its set, non-negative cells with a known
    total a price for the total; several constraints take alternating directions. `residual` certifies
    what was reached. For trees of sums `consistent_tree` and `non_negative_tree` are exact and faster.
    """
    objective, size = _objective(strategy, answers, weights)
    sets = _merged(constraints)
    check_compatible(sets, size)
    return _solved(objective, sets, tolerance)


def _objective(
    strategy: ArrayLike | Operator, answers: ArrayLike, weights: ArrayLike | None
) -> tuple[Fit, int]:
    if hasattr(strategy, "matvec"):
        operator = cast("Operator", strategy)
        values = real_vector(answers, "answers", operator.shape[0])
        fit: Fit = ImplicitFit(operator, values, weight_vector(weights, values.size))
        return fit, operator.shape[1]
    instead = "give an operator with matvec and rmatvec"
    matrix = real_matrix(strategy, "strategy", "one row for each answer", instead)
    values = real_vector(answers, "answers", matrix.shape[0])
    weight = weight_vector(weights, values.size)
    if matrix.shape[1] <= _MOST_DENSE:
        return DenseFit(matrix, values, weight), matrix.shape[1]
    from scipy.sparse.linalg import aslinearoperator

    return ImplicitFit(aslinearoperator(matrix), values, weight), matrix.shape[1]


def _merged(constraints: Sequence[ConvexSet]) -> list[ConvexSet]:
    """Return the constraints, those that are one exact projection together as one."""
    signs = [member for member in constraints if isinstance(member, NonNegative)]
    totals = [member for member in constraints if isinstance(member, KnownTotal | Simplex)]
    if len({member.total for member in totals}) > 1:
        raise ParameterError("constraints", "contradict each other: they name two totals", "one total")
    positive = signs or any(isinstance(member, Simplex) for member in totals)
    others = [member for member in constraints if not isinstance(member, NonNegative | KnownTotal | Simplex)]
    if signs and not totals:
        bounded = [member.non_negative() for member in others if isinstance(member, Ordered)]
        if bounded:
            return [*bounded, *(member for member in others if not isinstance(member, Ordered))]
    if totals:
        return [Simplex(totals[0].total) if positive else totals[0], *others]
    return [*signs[:1], *others]


def _solved(objective: Fit, sets: Sequence[ConvexSet], tolerance: float) -> Estimate:
    affine = _affine_part(sets)
    solution = _constrained(objective, affine, objective.minimum(), tolerance)
    unbiased = solution.point
    if affine != sets:
        solution = _constrained(objective, sets, unbiased, tolerance)
    return Estimate(
        unbiased=unbiased,
        constrained=solution.point,
        residual=solution.residual,
        constraints=tuple(member.words for member in sets),
        iterations=solution.steps,
    )


def _affine_part(sets: Sequence[ConvexSet]) -> list[ConvexSet]:
    """Return the equalities among the constraints."""
    part: list[ConvexSet] = []
    for member in sets:
        if member.affine:
            part.append(member)
        elif isinstance(member, Simplex):
            part.append(KnownTotal(member.total))
    return part


def _constrained(objective: Fit, sets: Sequence[ConvexSet], start: Real, tolerance: float) -> Solution:
    if not sets:
        return Solution(start, float(np.abs(objective.gradient(start)).max(initial=0.0)), 0)
    if isinstance(objective, Distance) and len(sets) == 1:
        point = sets[0].project(objective.answers, objective.weights)
        return Solution(point, sets[0].residual(point, objective.answers, objective.weights), 0)
    goal = tolerance * (1 + float(np.abs(start).max(initial=0.0)))
    if len(sets) == 1 and isinstance(sets[0], Simplex):
        return descend_on_simplex(objective, sets[0], start, tolerance=goal, most=_MOST_FACES)
    if len(sets) == 1:
        return descend(objective, sets[0], start, tolerance=goal, most=_MOST_FACES)
    solution = alternate(objective, sets, start, tolerance=goal, most=_MOST_STEPS)
    if solution.apart > _APART * goal / tolerance:
        raise ParameterError(
            "constraints",
            f"have no common point that {_MOST_STEPS} steps could find: {'; '.join(s.words for s in sets)}",
            "constraints that some vector meets",
        )
    return solution
