"""Consistent trees: least squares over noisy sums at every node, in one pass up and one pass down."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.workloads.algebra.arrays import Real, precision
from discreet.workloads.inference.estimate import Estimate
from discreet.workloads.inference.sets.simplex import price_residual
from discreet.workloads.inference.trees.tree import Tree

__all__ = ["consistent_tree", "tree_residual"]

_CONTRADICTION = 1e-9


def consistent_tree(tree: Tree, answers: ArrayLike, variances: ArrayLike = 1.0) -> Estimate:
    """Return the sums of the cells that fit noisy answers at all nodes best, in O(n).

    Parameters
    ----------
    tree : Tree
        Which node is the sum of which.
    answers : array
        One noisy answer for each node, level by level from the root.
    variances : number or array
        Of the noise: for all nodes, for each level, or for each node. Only ratios matter. Infinite where
        a node above the leaves was not asked; 0 where its answer is known, such as a public total.

    Returns
    -------
    Estimate
        Over all nodes. Both estimates are the same: sums are equalities, and the truth meets them.

    Notes
    -----
    Upward, z is the best estimate of a node from its own subtree and s its variance: the node's answer
    y of variance v, and the sum c of the children's z, of variance S = the sum of their s, combine to
    z = (S y + v c) / (S + v) and s = S v / (S + v). Downward, what the final value of a node differs
    from c is shared among its children in proportion to their s (Hay, Rastogi, Miklau & Suciu 2010,
    generalized; proof: docs/proofs/inference.md).
    """
    values, variance = tree.enter(answers, variances)
    fitted = least_squares_sums(tree, values, variance)
    return Estimate(
        unbiased=fitted,
        constrained=fitted,
        residual=tree_residual(tree, fitted, values, variance),
        constraints=("every node is the sum of its children",),
    )


def least_squares_sums(tree: Tree, values: Real, variance: Real) -> Real:
    """Return the best sums at all nodes."""
    answers, noise = tree.split(values), tree.split(variance)
    best, spread = [answers[-1]], [noise[-1]]
    sums: list[Real] = []
    for level in range(len(tree.offsets) - 1, -1, -1):
        starts = tree.offsets[level][:-1]
        below, width = np.add.reduceat(best[-1], starts), np.add.reduceat(spread[-1], starts)
        sums.append(below)
        best.append(_combined(answers[level], noise[level], below, width, level))
        with np.errstate(divide="ignore"):
            spread.append(1 / (precision(noise[level]) + precision(width)))
    final = best[-1]
    for level, offsets in enumerate(tree.offsets):
        below, share = best[-2 - level], spread[-2 - level]
        counts = np.diff(offsets)
        width = np.add.reduceat(share, offsets[:-1])
        missing = np.divide(final - sums[-1 - level], width, out=np.zeros_like(width), where=width > 0)
        final = below + np.repeat(missing, counts) * share
    return tree.sums(final)


def tree_residual(
    tree: Tree, fitted: Real, answers: Real, variance: Real, *, non_negative: bool = False
) -> float:
    """Return by how much sums miss the conditions for the optimum, in the units of the answers.

    The gradient at a leaf is the sum of (x - y) / v over the nodes above it. Leaves below the same known
    node may share a price for it, others have the price 0; at the optimum the gradient is the
    price, or, for a leaf at its bound of zero, not below it.
    """
    known = variance == 0
    weights = np.where(known, 0.0, precision(np.where(known, 1.0, variance)))
    gradient = tree.spread(weights * (fitted - answers))
    scale = float(weights.max(initial=0.0)) or 1.0
    gradient = gradient / scale
    leaves = tree.split(fitted)[-1]
    missed = float(np.abs(np.where(known, fitted - answers, 0.0)).max(initial=0.0))
    missed = max(missed, float(np.abs(tree.sums(leaves) - fitted).max(initial=0.0)))
    if non_negative:
        missed = max(missed, float(-leaves.min(initial=0.0)))
    group = _known_above(tree, known)
    free = group < 0
    at_zero = leaves <= 0 if non_negative else np.zeros(leaves.size, bool)
    unpriced = np.where(at_zero, np.minimum(gradient, 0.0), gradient)[free]
    missed = max(missed, float(np.abs(unpriced).max(initial=0.0)))
    order = np.argsort(group[~free], kind="stable")
    prices, priced = -gradient[~free][order], np.where(at_zero, 0.0, 1.0)[~free][order]
    starts = np.unique(group[~free][order], return_index=True)[1]
    for part, point in zip(np.split(prices, starts[1:]), np.split(priced, starts[1:]), strict=True):
        missed = max(missed, price_residual(part, point))
    return missed


def _known_above(tree: Tree, known: Real) -> Real:
    """Return, for each leaf, the number of the lowest known node at or above it, or -1."""
    numbers = tree.split(np.where(known, np.arange(tree.nodes), -1))
    above = numbers[0]
    for offsets, level in zip(tree.offsets, numbers[1:], strict=True):
        inherited = np.repeat(above, np.diff(offsets))
        above = np.where(level >= 0, level, inherited)
    return above


def _combined(answers: Real, noise: Real, below: Real, width: Real, level: int) -> Real:
    """Return (S y + v c) / (S + v), with its limits where v is infinite, or both are zero."""
    both = (noise == 0) & (width == 0)
    clash = both & (np.abs(answers - below) > _CONTRADICTION * (1 + np.abs(answers)))
    if clash.any():
        raise ParameterError(
            "constraints",
            f"contradict each other: node {int(np.argmax(clash))} of level {level} is known, and so are its"
            " children, which add up to something else",
            "known answers that agree",
        )
    unasked = np.isinf(noise) | both
    finite = np.where(unasked, 1.0, noise)
    return np.where(unasked, below, (width * answers + finite * below) / (width + finite))
