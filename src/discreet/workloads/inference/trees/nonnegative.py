"""Non-negative consistent trees: the exact optimum, by prices.

Ask of every subtree: how much would it hold if each unit earned a price? A leaf with answer y and
variance v holds max(0, y + v price), a rising function with one kink. Children under one price hold the
sum of theirs, with all their kinks. A node with an answer of its own pays for the distance to it, which
changes the price on the way down: rising piecewise linear functions become such functions, kink by kink.
Upward the functions are collected, at the root the price is zero, and downward every node learns its
price. No iteration: sorting kinks, level by level, is all the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.workloads.algebra.arrays import Real, precision
from discreet.workloads.inference.estimate import Estimate
from discreet.workloads.inference.trees.least_squares import least_squares_sums, tree_residual
from discreet.workloads.inference.trees.tree import Tree

__all__ = ["non_negative_tree"]

MOST_KINKS = 1 << 28
"""The most kinks that are kept, 16 bytes each."""

_CONTRADICTION = 1e-9


class _Supply(NamedTuple):
    """For each node, base + sum of slope (price - kink)+ over its kinks, one for each leaf below."""

    base: Real
    kinks: Real
    slopes: Real


class _Pooled(NamedTuple):
    """The children of nodes under one price: least amount, kinks in order, amounts there, slopes after."""

    base: Real
    kinks: Real
    held: Real
    slopes: Real


def non_negative_tree(tree: Tree, answers: ArrayLike, variances: ArrayLike = 1.0) -> Estimate:
    """Return the sums of non-negative cells that fit noisy answers at all nodes best, exactly.

    Parameters
    ----------
    tree, answers, variances
        As for `consistent_tree`; a known root (variance 0) is a known total. Finite positive variances, zeros
        and, above the leaves, infinities may be mixed.

    Returns
    -------
    Estimate
        Over all nodes; `unbiased` is that of `consistent_tree`.

    Notes
    -----
    O(n log n) for each level, and 16 bytes for each leaf and level. The prices say which leaves are zero;
    one pass of `consistent_tree` with those leaves known to be zero then gives the optimum to the last
    digits (proof: docs/proofs/inference.md).
    """
    kept = tree.leaves * len(tree.widths)
    if kept > MOST_KINKS:
        raise ParameterError(
            "tree",
            f"has {tree.leaves} leaves and {len(tree.widths)} levels, for which {kept} kinks are kept",
            f"at most {MOST_KINKS}: a larger branching has fewer levels",
        )
    values, variance = tree.enter(answers, variances)
    unbiased = least_squares_sums(tree, values, variance)
    empty = _priced_leaves(tree, values, variance) <= 0
    leaf = tree.nodes - tree.leaves
    fixed, noise = values.copy(), variance.copy()
    fixed[leaf:][empty], noise[leaf:][empty] = 0.0, 0.0
    fitted = tree.sums(np.maximum(least_squares_sums(tree, fixed, noise)[leaf:], 0.0))
    return Estimate(
        unbiased=unbiased,
        constrained=fitted,
        residual=tree_residual(tree, fitted, values, variance, non_negative=True),
        constraints=("every node is the sum of its children", "entries are non-negative"),
    )


def _priced_leaves(tree: Tree, values: Real, variance: Real) -> Real:
    """Return the leaves of the optimum, before the last digits are settled."""
    answers, noise = tree.split(values), tree.split(variance)
    bounds = _leaf_bounds(tree)
    supplies = [_leaf_supply(answers[-1], noise[-1], len(tree.offsets))]
    for level in range(len(tree.offsets) - 1, -1, -1):
        pooled = _pool(supplies[-1], bounds[level], tree.offsets[level])
        supplies.append(_node_supply(answers[level], noise[level], pooled, bounds[level], level))
    supplies.reverse()
    amounts = _held(supplies[0], np.zeros(tree.widths[0]), bounds[0])
    for level, offsets in enumerate(tree.offsets):
        below = supplies[level + 1]
        pooled = _pool(below, bounds[level], offsets)
        counts = np.diff(bounds[level])
        reached = np.add.reduceat(
            (pooled.held <= np.repeat(amounts, counts)).astype(np.int64), bounds[level][:-1]
        )
        last = bounds[level][:-1] + np.maximum(reached, 1) - 1
        slope = pooled.slopes[last]
        rise = np.maximum(amounts - pooled.held[last], 0.0)
        prices = pooled.kinks[last] + np.divide(rise, slope, out=np.zeros_like(rise), where=slope > 0)
        amounts = _held(below, np.repeat(prices, np.diff(offsets)), bounds[level + 1])
    return amounts


def _leaf_bounds(tree: Tree) -> list[NDArray[np.int64]]:
    """Return, for each level, where the leaves below each node begin, and their number at the end."""
    bounds = [np.arange(tree.leaves + 1)]
    for offsets in reversed(tree.offsets):
        bounds.append(bounds[-1][offsets])
    return bounds[::-1]


def _leaf_supply(answers: Real, noise: Real, level: int) -> _Supply:
    known = noise == 0
    _refuse(known & (answers < 0), level, "is known to be below zero")
    return _Supply(
        base=np.where(known, answers, 0.0),
        kinks=np.where(known, 0.0, -answers / np.where(known, 1.0, noise)),
        slopes=np.where(known, 0.0, noise),
    )


def _node_supply(
    answers: Real, noise: Real, pooled: _Pooled, bounds: NDArray[np.int64], level: int
) -> _Supply:
    """Return what nodes hold at a price, from what their children hold, and their own answers."""
    base = pooled.base
    known, counts = noise == 0, np.diff(bounds)
    slack = _CONTRADICTION * (1 + np.abs(answers))
    _refuse(
        known & (answers < base - slack), level, "is known to be less than its known and non-negative parts"
    )
    fixed = pooled.slopes[bounds[1:] - 1] == 0
    _refuse(known & fixed & (answers > base + slack), level, "is known to be more than its known parts")
    pull = np.repeat(precision(np.where(known, np.inf, noise)), counts)
    kinks = pooled.kinks + pull * (pooled.held - np.repeat(answers, counts))
    after = pooled.slopes / (1 + pull * pooled.slopes)
    slopes = np.diff(after, prepend=0.0)
    slopes[bounds[:-1]] = after[bounds[:-1]]
    slopes[np.repeat(known, counts)] = 0.0
    return _Supply(base=np.where(known, answers, base), kinks=kinks, slopes=np.maximum(slopes, 0.0))


def _pool(below: _Supply, bounds: NDArray[np.int64], offsets: NDArray[np.int64]) -> _Pooled:
    """Return the children of every node under one price."""
    counts = np.diff(bounds)
    base = np.add.reduceat(below.base, offsets[:-1])
    order = np.lexsort((below.kinks, np.repeat(np.arange(counts.size), counts)))
    kinks = below.kinks[order]
    slopes = _running(below.slopes[order], bounds)
    gains = np.zeros(kinks.size)
    gains[1:] = slopes[:-1] * np.diff(kinks)
    gains[bounds[:-1]] = 0.0
    held = np.repeat(base, counts) + _running(gains, bounds)
    return _Pooled(base=base, kinks=kinks, held=held, slopes=slopes)


def _running(values: Real, bounds: NDArray[np.int64]) -> Real:
    """Return running sums that begin again at each node."""
    total = np.cumsum(values)
    starts = bounds[:-1]
    before = total[starts] - values[starts]
    return total - np.repeat(before, np.diff(bounds))


def _held(supply: _Supply, prices: Real, bounds: NDArray[np.int64]) -> Real:
    """Return what nodes hold at their prices."""
    above = np.maximum(np.repeat(prices, np.diff(bounds)) - supply.kinks, 0.0)
    return supply.base + np.add.reduceat(supply.slopes * above, bounds[:-1])


def _refuse(clash: NDArray[np.bool_], level: int, problem: str) -> None:
    if clash.any():
        raise ParameterError(
            "constraints",
            f"contradict each other: node {int(np.argmax(clash))} of level {level} {problem}",
            "known answers that non-negative cells can have",
        )
