"""Fitting a model to noisy marginals: mirror descent over the tables of a junction tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.array_types import Floats
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.possible_rows import PossibleRows
from discreet.synthesis.models.propagation import has_zeros, model_of
from discreet.synthesis.models.tree_model import TreeModel, expanded, summed_out

__all__ = ["Potentials", "fitted", "started"]

Potentials = tuple[Floats, ...]
"""One function of its columns for each clique."""

_LONGEST = 40
_ENOUGH = 1e-7


def started(
    tree: JunctionTree,
    before: JunctionTree | None,
    potentials: Potentials,
    possible: PossibleRows | None = None,
) -> Potentials:
    """Return the potentials of the same model on another tree: each goes to a clique that holds its own.

    What is not possible gets minus infinity, which no step changes.
    """
    found = [np.zeros([tree.shape[column] for column in clique]) for clique in tree.cliques]
    if possible is not None:
        found = list(possible.potentials(tree))
    if before is not None:
        for clique, potential in zip(before.cliques, potentials, strict=True):
            place = tree.clique_of(clique)
            if place is not None:  # else it is learned again
                found[place] = found[place] + expanded(potential, clique, tree.cliques[place])
    return tuple(found)


def fitted(
    tree: JunctionTree,
    measured: Sequence[MeasuredTable],
    total: float,
    potentials: Potentials,
    steps: int,
) -> tuple[TreeModel, Potentials]:
    """Return the model of the tree that is closest to what was measured, and its potentials.

    The sum over measurements of abs(counts - table)^2 / (2 variance) is convex in the tables. A step moves
    the potentials against its derivative by the tables (Beck & Teboulle 2003; McKenna, Sheldon & Miklau
    2019), and is halved until it lowers the sum by half of what the derivative promises.
    """
    homes = [tree.clique_of(one.columns) for one in measured]
    zeros = has_zeros(potentials)  # no step makes or removes one
    model = model_of(tree, potentials, total, zeros=zeros)
    loss, slopes = _loss(model, measured, homes)
    stride = 1.0 / max(sum(total / float(np.min(one.variance)) for one in measured), 1e-300)
    for _ in range(steps):
        if all(slope is None for slope in slopes):
            break
        stride *= 1.3
        for _ in range(_LONGEST):
            tried = tuple(
                old if slope is None else old - stride * slope
                for old, slope in zip(potentials, slopes, strict=True)
            )
            moved = model_of(tree, tried, total, zeros=zeros)
            lower, further = _loss(moved, measured, homes)
            promised = sum(
                float((slope * (old - new)).sum())
                for slope, old, new in zip(slopes, model.tables, moved.tables, strict=True)
                if slope is not None
            )
            if loss - lower >= promised / 2:
                break
            stride /= 2
        gained = loss - lower
        if gained < 0:
            break
        model, potentials, loss, slopes = moved, tried, lower, further
        if gained <= _ENOUGH * loss:
            break
    return model, potentials


def _loss(
    model: TreeModel, measured: Sequence[MeasuredTable], homes: Sequence[int | None]
) -> tuple[float, list[Floats | None]]:
    """Return the loss, and its derivative by each clique's table, where something is measured in it."""
    slopes: list[Floats | None] = [None] * len(model.tables)
    loss = 0.0
    for one, home in zip(measured, homes, strict=True):
        assert home is not None  # noqa: S101
        clique = model.tree.cliques[home]
        apart = summed_out(model.tables[home], clique, one.columns) - one.counts
        loss += float((apart**2 / one.variance).sum()) / 2
        slope = expanded(apart / one.variance, one.columns, clique)
        before = slopes[home]
        slopes[home] = slope if before is None else before + slope
    return loss, [
        None if slope is None else np.broadcast_to(slope, table.shape)
        for slope, table in zip(slopes, model.tables, strict=True)
    ]
