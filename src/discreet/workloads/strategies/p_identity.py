"""Strategies for Laplace noise that are optimized for the workload: all cells, and p weighted sums of them.

A = [I; Θ] diag(1 / s) with Θ >= 0 of p rows and s_j = 1 + sum of Θ's column j, so that every column
has L1 norm 1 (McKenna, Miklau, Hay & Machanavajjhala 2018). The total variance tr(G X^-1) = tr(G S
(I + Θ^T Θ)^-1 S) and its gradient cost O(p^2 n) with Woodbury's identity and the workload's
implicit Gram matrix. Θ is written as a square, so that the search is free.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.privacy.rational import whole
from discreet.workloads.algebra.cache import remembered
from discreet.workloads.algebra.lbfgs import minimize
from discreet.workloads.strategies.dense import DenseStrategy

if TYPE_CHECKING:
    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["LARGEST_SEARCHED", "p_identity", "search_cost"]

LARGEST_SEARCHED = 1024
MOST_WEIGHT_BITS = 16
_START = 0.5
_LOST = 1e-11
_SETTLED = 1e-3
"""In logarithms of variance: fifty steps that lower the error by a twentieth of a percent are the last."""
_GOLDEN = 0.6180339887498949


def p_identity(
    workload: Workload, sums: int | None = None, steps: int = 800, bits: int = MOST_WEIGHT_BITS
) -> DenseStrategy:
    """Search for the best strategy of this form, and round it to integers.

    All columns have the L1 norm 2^bits, or a little more where that is too small for the sums.

    Parameters
    ----------
    workload : Workload
        Over a domain of at most 8192 cells; beyond 1024 the search takes minutes.
    sums : int, optional
        The number p of weighted sums; by default 1.25 sqrt(n).
    steps : int
        The most steps of the search, which ends earlier where fifty of them gain less than a thousandth.
    bits : int
        1 to 16.
    """
    workload.check_dense()
    size = workload.size
    bits = whole(bits, "bits", least=1, most=MOST_WEIGHT_BITS)
    sums = whole(max(1, round(1.25 * sqrt(size))) if sums is None else sums, "sums", least=1, most=size)
    return _rounded(_searched(workload, sums, steps), workload.shape, bits)


@remembered(32)
def _searched(workload: Workload, sums: int, steps: int) -> Vector:
    """Return the best Θ found."""
    size = workload.size
    diagonal = workload.gram_diagonal()
    start = np.sqrt(_START * _scattered(sums * size))

    def cost(roots: Vector) -> tuple[float, Vector]:
        theta = (roots**2).reshape(sums, size)
        total, slope = search_cost(theta, workload, diagonal)
        if total <= _LOST * float((diagonal * (1 + theta.sum(axis=0)) ** 2).sum()):
            return np.inf, np.zeros_like(roots)  # of a difference of such sums only rounding is left
        return float(np.log(total)), 2 * slope.reshape(-1) * roots / total

    roots, _ = minimize(cost, start, steps, settled=_SETTLED)
    theta: Vector = (roots**2).reshape(sums, size)
    theta.flags.writeable = False
    return theta


def search_cost(theta: Vector, workload: Workload, diagonal: Vector) -> tuple[float, Vector]:
    """Return tr(G S K S), K = (I + Θ^T Θ)^-1, and its gradient in Θ.

    With R = (I + Θ Θ^T)^-1, K = I - Θ^T R Θ and Θ K = R Θ. The gradient is -2 R Θ S G S K through K, and
    2 diag(G S K) through s.
    """
    scale = 1 + theta.sum(axis=0)
    inner = np.linalg.solve(np.eye(len(theta)) + theta @ theta.T, theta)
    spread = workload.gram_times(theta * scale)
    total = float((diagonal * scale**2).sum() - ((inner * scale) * spread).sum())
    through_scale = 2 * (diagonal * scale - (spread * inner).sum(axis=0))
    outer = workload.gram_times(inner * scale) * scale
    through_sums = -2 * (outer - (outer @ theta.T) @ inner)
    return total, through_sums + through_scale


def _scattered(count: int) -> Vector:
    """Return numbers in [0, 1) without a pattern, always the same: the parts of k^2 g beyond the integers."""
    return np.arange(1.0, count + 1) ** 2 * _GOLDEN % 1.0


def _rounded(theta: Vector, shape: tuple[int, ...], bits: int) -> DenseStrategy:
    """Round the sums; what is left of each column's norm goes to its cell."""
    unit = 1 << bits
    scaled = np.rint(theta / (1 + theta.sum(axis=0)) * unit).astype(np.int64)
    cells = np.maximum(unit - scaled.sum(axis=0), 1)
    kept = scaled[scaled.any(axis=1)]
    return DenseStrategy(np.concatenate([np.diag(cells), kept]), shape, name="p-Identity")
