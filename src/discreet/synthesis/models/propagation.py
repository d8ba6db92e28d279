"""Message passing: from one function for each clique of a junction tree to the tables of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet.array_types import Floats
from discreet.synthesis.models.junction_tree import ColumnSet, JunctionTree
from discreet.synthesis.models.tree_model import TreeModel, expanded

__all__ = ["has_zeros", "model_of"]

_TINY = 1e-300


def model_of(
    tree: JunctionTree, potentials: Sequence[Floats], total: float, *, zeros: bool | None = None
) -> TreeModel:
    """Return the model with P(x) in proportion to exp(the sum over cliques C of potential_C(x_C)).

    Messages go from the leaves to the root and back, each a sum over what a clique does not share (Lauritzen
    & Spiegelhalter 1988). Afterwards every clique holds the logarithm of its own table. A potential may be
    minus infinity: such rows have the probability 0, exactly. If no row is left, tables are not numbers.
    `zeros` says whether there is such a potential, if that is known.
    """
    if has_zeros(potentials) if zeros is None else zeros:
        with np.errstate(divide="ignore", invalid="ignore"):
            return _propagated(tree, potentials, total, _log_sum_of_some)
    return _propagated(tree, potentials, total, _log_sum)


def has_zeros(potentials: Sequence[Floats]) -> bool:
    """Return whether some potential is minus infinity."""
    return any(bool((one == -np.inf).any()) for one in potentials)


def _propagated(
    tree: JunctionTree,
    potentials: Sequence[Floats],
    total: float,
    log_sum: Callable[[Floats, ColumnSet, ColumnSet], Floats],
) -> TreeModel:
    held = [np.array(one, np.float64) for one in potentials]
    sent: list[Floats] = []
    for branch in reversed(tree.branches):
        message = log_sum(held[branch.child], tree.cliques[branch.child], branch.separator)
        parent = tree.cliques[branch.parent]
        held[branch.parent] += expanded(message, branch.separator, parent)
        sent.append(message)
    held[0] -= log_sum(held[0], tree.cliques[0], ())
    for branch, message in zip(tree.branches, reversed(sent), strict=True):
        back = log_sum(held[branch.parent], tree.cliques[branch.parent], branch.separator) - message
        if log_sum is _log_sum_of_some:
            # Nothing less nothing: where a child has no rows it has none, whatever comes back.
            back = np.where(message == -np.inf, 0.0, back)
        held[branch.child] += expanded(back, branch.separator, tree.cliques[branch.child])
    return TreeModel(tree=tree, total=total, tables=tuple(np.exp(one) * total for one in held))


def _log_sum(table: Floats, held: ColumnSet, kept: ColumnSet) -> Floats:
    """Return the logarithm of the sum of exponentials over all columns that are not kept."""
    axes = tuple(axis for axis, column in enumerate(held) if column not in kept)
    if not axes:
        return table
    largest = table.max(axis=axes, keepdims=True)
    sums = np.exp(table - largest).sum(axis=axes)
    return np.asarray(np.log(np.maximum(sums, _TINY)) + largest.reshape(sums.shape))


def _log_sum_of_some(table: Floats, held: ColumnSet, kept: ColumnSet) -> Floats:
    """Return the same where some terms are 0; minus infinity where all of them are."""
    axes = tuple(axis for axis, column in enumerate(held) if column not in kept)
    if not axes:
        return table
    largest = table.max(axis=axes, keepdims=True)
    largest = np.where(largest > -np.inf, largest, 0.0)
    sums = np.exp(table - largest).sum(axis=axes)
    return np.asarray(np.log(sums) + largest.reshape(sums.shape))
