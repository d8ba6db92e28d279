"""The best strategy for Gaussian noise and any workload, by a fixed point that certifies how good it is.

The total variance of a strategy with X = A^T A, scaled so that every diagonal entry of X is at most 1, is
tr(G X^-1). For all weights v > 0 on cells,

    tr(G X^-1) >= (tr R)^2 / sum(v),    R = (V^(1/2) G V^(1/2))^(1/2),    V = diag(v),

and R gives a strategy too, X = V^(-1/2) R V^(-1/2). At the optimum v = diag(R) and both meet
(Denisov, McMahan, Rush, Smith & Thakurta 2022, who iterate v <- diag(R)). Here v <- diag(R)^2 / v:
the same fixed points, reached in one step where V and G commute, and in two or three for ranges.
Each step gives a bound and a strategy, so the gap is known whatever the path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.workloads.dense import DenseStrategy

if TYPE_CHECKING:
    from discreet.workloads.workload import Vector, Workload

__all__ = ["LARGEST_OPTIMIZED", "Optimum", "optimize"]

LARGEST_OPTIMIZED = 4096
_MIXED_IN = 1e-5
_SAFE = 1e-9
_LEAST = 1e-12


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


def optimize(workload: Workload, tolerance: float = 1e-4, steps: int = 60) -> Optimum:
    """Find the best strategy for Gaussian noise, for domains of at most 4096 cells.

    Parameters
    ----------
    workload : Workload
        The queries.
    tolerance : float
        Stop when the error is certified to be within this fraction of the best.
    steps : int
        Stop after this many steps; each takes O(n^3).
    """
    workload.check_dense(LARGEST_OPTIMIZED)
    if steps < 1:
        raise ParameterError("steps", "is not positive", "at least 1")
    gram = workload.gram()
    if np.diagonal(gram).max() <= 0:
        raise ParameterError(
            "workload", "asks nothing: all its coefficients are 0", "at least one query that is not 0"
        )
    weights = np.ones(workload.size)
    bound, best_total, best_gram, best_weights = 0.0, np.inf, gram, weights
    for _ in range(steps):
        root, trace = _root(gram, weights)
        value = trace**2 / weights.sum() * (1 - _SAFE)
        if value > bound:
            bound, best_weights = value, weights
        candidate, total = _candidate(gram, root, weights)
        if total < best_total:
            best_gram, best_total = candidate, total
        if (best_total / bound) ** 0.5 - 1 < tolerance:
            break
        diagonal = np.maximum(np.diagonal(root), _LEAST * np.diagonal(root).max())
        updated = np.maximum(diagonal**2 / weights, _LEAST * diagonal.max())
        weights = updated * (workload.size / updated.sum())
    return Optimum(total=best_total, bound=bound, weights=best_weights, gram=best_gram)


def _root(gram: Vector, weights: Vector) -> tuple[Vector, float]:
    """Return (V^(1/2) G V^(1/2))^(1/2) and its trace."""
    scale = np.sqrt(weights)
    values, vectors = np.linalg.eigh(scale[:, None] * gram * scale)
    roots = np.sqrt(np.maximum(values, 0.0))
    return (vectors * roots) @ vectors.T, float(roots.sum())


def _candidate(gram: Vector, root: Vector, weights: Vector) -> tuple[Vector, float]:
    """Return V^(-1/2) R V^(-1/2) with its diagonal brought to 1, and its total variance.

    A workload of low rank makes R singular; a little of the identity keeps X invertible and costs
    at most as little.
    """
    scale = 1 / np.sqrt(weights)
    matrix = scale[:, None] * root * scale
    norms = np.sqrt(np.maximum(np.diagonal(matrix), 1e-12 * np.diagonal(matrix).max()))
    matrix = matrix / norms / norms[:, None] * (1 - _MIXED_IN)
    matrix[np.diag_indices_from(matrix)] = 1.0
    return matrix, float(np.trace(np.linalg.solve(matrix, gram)))
