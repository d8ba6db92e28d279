"""The best strategy for Gaussian noise and any workload, by a fixed point that certifies how good it is.

The total variance of a strategy with X = A^T A, scaled so that every diagonal entry of X is at most 1, is
tr(G X^-1). For all weights v > 0 on cells,

    tr(G X^-1) >= (tr R)^2 / sum(v),    R = (V^(1/2) G V^(1/2))^(1/2),    V = diag(v),

and R gives a strategy too, X = V^(-1/2) R V^(-1/2). At the optimum v = diag(R) and both meet
(Denisov, McMahan, Rush, Smith & Thakurta 2022, who iterate v <- diag(R)). Here v <- diag(R)^2 / v:
the same fixed points, reached in one step where V and G commute, and in two or three for ranges.
Each step gives a bound and a strategy, so the gap is known for any path.
"""

from __future__ import annotations

from dataclasses import field
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.workloads.algebra.cache import remembered
from discreet.workloads.strategies.dense import DenseStrategy

if TYPE_CHECKING:
    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["LARGEST_OPTIMIZED", "Optimum", "optimize"]

LARGEST_OPTIMIZED = 4096
MOST_WORK = 10**12
_WORK_OF_A_STEP = 20
_MIXED_IN = 1e-5
_SAFE = 1e-9
_LEAST = 1e-12
_STALLED = 1e-2
_PATIENCE = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """What the fixed point found.

    Attributes
    ----------
    total : float
        The total variance of the best X found, for noise of variance 1 and L2 sensitivity 1.
    bound : float
        What no strategy's total variance is below.
    weights : array
        The weights v that prove it.
    gram : array
        X, with ones on its diagonal.
    """

    total: float
    bound: float
    weights: Vector = field(repr=False)
    gram: Vector = field(repr=False)

    @property
    def gap(self) -> float:
        """How far the error may be above the best possible, as a fraction of it: of root mean squares."""
        return sqrt(self.total / self.bound) - 1

    def strategy(self, bits: int = 16, shape: tuple[int, ...] | None = None) -> DenseStrategy:
        """Return integers close to the Cholesky factor of X, whose own error and sensitivity are exact."""
        return DenseStrategy.rounded(
            np.asarray(np.linalg.cholesky(self.gram).T, np.float64),
            bits,
            shape,
            name="the optimum for Gaussian noise",
        )


@remembered(4)
def optimize(workload: Workload, tolerance: float = 1e-4, steps: int = 60) -> Optimum:
    """Find the best strategy for Gaussian noise, for domains of at most 4096 cells.

    Parameters
    ----------
    workload : Workload
        The queries.
    tolerance : float
        Stop when the error is certified to be within this fraction of the best.
    steps : int
        Stop after this many steps, or when three in a row bring next to nothing, or when the work,
        20 n^3 operations for a step, reaches 10^12: after 46 steps at 1024 cells, and two at 4096.
    """
    workload.check_dense(LARGEST_OPTIMIZED)
    if steps < 1:
        raise ParameterError("steps", "is not positive", "at least 1")
    queries = _Queries.of(workload)
    affordable = max(2, MOST_WORK // (_WORK_OF_A_STEP * workload.size**3))
    weights = np.ones(workload.size)
    bound, best_total, best_gram, best_weights = 0.0, np.inf, np.eye(workload.size), weights
    idle = 0
    for _ in range(min(steps, affordable)):
        root, trace, singular = queries.root(weights)
        value = trace**2 / weights.sum() * (1 - _SAFE)
        idle += 1
        if value > bound:
            idle = 0 if value > bound * (1 + _STALLED * tolerance) else idle
            bound, best_weights = value, weights
        for candidate in _candidates(root, weights, singular):
            total = queries.total(candidate)
            if total < best_total:
                idle = 0 if total < best_total * (1 - _STALLED * tolerance) else idle
                best_gram, best_total = candidate, total
        if sqrt(best_total / bound) - 1 < tolerance or idle >= _PATIENCE:
            break
        diagonal = np.maximum(np.diagonal(root), _LEAST * np.diagonal(root).max())
        updated = np.maximum(diagonal**2 / weights, _LEAST * diagonal.max())
        weights = updated * (workload.size / updated.sum())
    unit = queries.unit
    for array in (best_weights, best_gram):
        array.flags.writeable = False  # the result is remembered
    return Optimum(total=best_total * unit, bound=bound * unit, weights=best_weights, gram=best_gram)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Queries:
    """The workload as its rows, where they are few, and as its Gram matrix, whose largest entry is 1."""

    rows: Vector | None
    gram: Vector
    unit: float

    @classmethod
    def of(cls, workload: Workload) -> _Queries:
        gram = workload.gram()
        unit = float(np.diagonal(gram).max())
        if not unit > 0:
            raise ParameterError(
                "workload", "asks nothing: all its coefficients are 0", "at least one query that is not 0"
            )
        few = 2 * workload.queries <= workload.size
        return cls(rows=workload.matrix() / sqrt(unit) if few else None, gram=gram / unit, unit=unit)

    def root(self, weights: Vector) -> tuple[Vector, float, bool]:
        """Return R = (V^(1/2) G V^(1/2))^(1/2), a number of at most its trace, and whether R is singular.

        Computed eigenvalues are off by less than e = n 2^-52 times the largest, so sqrt(max(0,
        eigenvalue - e)) are roots of a matrix below the true one, and below its roots (Weyl). Without e,
        eigenvalues that are 0 would add roots of about 10^-8 each to the bound.
        """
        scale = np.sqrt(weights)
        rounding = len(weights) * float(np.finfo(np.float64).eps)
        if self.rows is not None:
            _, roots, transposed = np.linalg.svd(self.rows * scale, full_matrices=False)
            vectors, sure = transposed.T, np.maximum(roots - rounding * roots.max(), 0.0)
        else:
            values, vectors = np.linalg.eigh(scale[:, None] * self.gram * scale)
            sure = np.sqrt(np.maximum(values - rounding * values.max(), 0.0))
            roots = np.where(sure > 0, np.sqrt(np.maximum(values, 0.0)), 0.0)
        kept = sure > 0
        root = (vectors[:, kept] * roots[kept]) @ vectors[:, kept].T
        return root, float(sure.sum()), int(kept.sum()) < len(weights)

    def total(self, matrix: Vector) -> float:
        """Return tr(G X^-1), or infinity where X cannot be inverted."""
        from scipy.linalg import cho_factor, cho_solve, lapack

        try:
            factor = cho_factor(matrix, lower=True)
        except np.linalg.LinAlgError:
            return np.inf
        if self.rows is not None:
            return float((self.rows.T * cho_solve(factor, self.rows.T)).sum())
        inverse, _ = lapack.dpotri(factor[0], lower=1)
        lower = np.tril(inverse)
        return float(2 * (lower * self.gram).sum() - np.diagonal(lower) @ np.diagonal(self.gram))


def _candidates(root: Vector, weights: Vector, singular: bool) -> list[Vector]:
    """Return matrices X with ones on the diagonal, from V^(-1/2) R V^(-1/2).

    One divides by the roots of the diagonal on both sides. Where R is singular this may lose the
    range of G, so that one more divides by the largest diagonal entry and adds to the diagonal what is
    missing to 1. A little is mixed in always, so that X can be inverted.
    """
    scale = 1 / np.sqrt(weights)
    matrix = scale[:, None] * root * scale
    diagonal = np.diagonal(matrix).copy()
    norms = np.sqrt(np.maximum(diagonal, _LEAST * diagonal.max()))
    found = [matrix / norms / norms[:, None] * (1 - _MIXED_IN)]
    if singular:
        found.append(matrix / diagonal.max() * (1 - _MIXED_IN))
    for candidate in found:
        candidate[np.diag_indices_from(candidate)] = 1.0
    return found
