"""Trees with the best weights: O(log n) numbers to choose, at any size.

With block widths w_l and weights a_l, the total variance is the sum over l of c_l / mu_l, mu_l =
sum over j <= l of a_j^2 w_j, at the squared sensitivity (sum a_l)^2 for Laplace and sum a_l^2 for
Gaussian noise. The search is over log a_l; for Laplace from several starting points, since there
are several local minima. Where blocks are cut by the end of the domain this is a guide only: what is found is
rounded to integers, and its error computed for those and for the blocks as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.workloads.algebra.cache import remembered
from discreet.workloads.algebra.lbfgs import minimize
from discreet.workloads.strategies.blocks import widths_of
from discreet.workloads.strategies.hierarchy import Hierarchy

if TYPE_CHECKING:
    from discreet.workloads.queries.base import Vector, Workload

__all__ = ["best_weights", "weighted_tree"]

BRANCHINGS = (2, 3, 10, 12)
FINEST_BITS = 12
_MOST_STRIDES = 6
_MOST_STEPS = 300
_LOWEST = -30.0


@remembered(256)
def weighted_tree(
    workload: Workload, norm: int, branchings: tuple[int, ...] = BRANCHINGS, bits: int = 16
) -> Hierarchy:
    """Return the tree with the least total error found.

    The tree of two levels, cells and the whole, is always tried.

    Parameters
    ----------
    workload : Workload
        Over an ordered domain.
    norm : int
        1 for Laplace, 2 for Gaussian noise.
    branchings : tuple of int
        Which numbers of children to try.
    bits : int
        The weights of all levels add up to at most about 2^bits, and each is at most 2^12.
    """
    choices = sorted({b for b in branchings if b <= max(2, workload.size)} | {max(2, workload.size)})
    nests = {branching: widths_of(workload.size, branching) for branching in choices}
    every = sorted({width for widths in nests.values() for width in widths})
    traces = dict(zip(every, workload.block_traces(every), strict=True))
    trees = []
    for branching, widths in nests.items():
        own = np.array([traces[width] for width in widths])
        shares = np.maximum(own - np.append(own[1:], 0.0), 0.0)  # tr(G Q_l), as in `level_traces`
        finest = 1 << max(0, min(FINEST_BITS, bits - (len(widths) - 1).bit_length()))
        weights = best_weights(np.array(widths, float), shares, norm, finest)
        tree = Hierarchy(workload.size, branching, weights)
        sensitivity = tree.column_norm1**2 if norm == 1 else tree.squared_column_norm2
        trees.append((tree.trace(workload) * sensitivity, branching, tree))
    return min(trees, key=lambda found: found[:2])[2]


def best_weights(widths: Vector, shares: Vector, norm: int, finest: int = 1 << FINEST_BITS) -> list[int]:
    """Return integer weights of levels, from cells to the root, for traces `shares` of the levels.

    The largest weight is `finest`.
    """
    levels = len(widths)
    if levels == 1:
        return [1]

    def cost(logs: Vector) -> tuple[float, Vector]:
        logs = np.maximum(logs - logs.max(), _LOWEST)  # the cost does not depend on a common factor
        squares = np.exp(2 * logs)
        eigenvalues = np.cumsum(squares * widths)
        powers = np.exp(norm * logs)
        total = float((shares / eigenvalues).sum())
        falls = np.cumsum((shares / eigenvalues**2)[::-1])[::-1]
        slope = 2 * powers / powers.sum() - 2 * squares * widths * falls / total
        return float(np.log(total) + 2 / norm * np.log(powers.sum())), slope

    found = [minimize(cost, start, _MOST_STEPS) for start in _starts(levels, norm)]
    best = min(found, key=lambda result: result[1])[0]
    weights = np.rint(np.exp(best - best.max()) * finest).astype(np.int64)
    weights[0] = max(1, weights[0])
    return [int(weight) for weight in weights]


def _starts(levels: int, norm: int) -> list[Vector]:
    """Begin with every level, every second, every third … of the tree, with and without the root.

    For Gaussian noise the problem is convex in the squared weights, and one start is enough.
    """
    if norm == 2:
        return [np.zeros(levels)]
    starts = []
    for step in range(1, min(levels, _MOST_STRIDES) + 1):
        for top in (levels, levels - 1):
            start = np.full(levels, -8.0)
            start[:top:step] = 0.0
            starts.append(start)
    return starts
