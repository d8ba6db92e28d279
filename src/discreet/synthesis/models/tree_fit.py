"""A model of noisy tables over a tree of pairs, in closed form: no optimization over all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.array_types import Floats
from discreet.synthesis.models.junction_tree import ColumnSet, JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_counts, rows_counted
from discreet.synthesis.models.tree_model import TreeModel

__all__ = ["column_tables", "fitted_tree"]

_ROUNDS = 200
_CLOSE = 1e-9
_TRACE = 1e-9


def column_tables(shape: Sequence[int], measured: Sequence[MeasuredTable]) -> tuple[list[Floats], float]:
    """Return the counts of every column that all its measurements together say, and their total.

    The sum over c cells of a table with noise of variance v has the variance c v: means are weighted by its
    inverse, and then brought to the nearest counts.
    """
    total = rows_counted(measured)
    sums = [np.zeros(size) for size in shape]
    weights = [np.zeros(size) for size in shape]
    for one in measured:
        for axis, column in enumerate(one.columns):
            others = tuple(place for place in range(len(one.columns)) if place != axis)
            weight = 1.0 / (np.zeros(one.counts.shape) + one.variance).sum(axis=others)
            sums[column] += one.counts.sum(axis=others) * weight
            weights[column] += weight
    means = [
        np.divide(summed, weight, out=np.full(len(summed), total / len(summed)), where=weight > 0)
        for summed, weight in zip(sums, weights, strict=True)
    ]
    return [nearest_counts(mean, total) for mean in means], total


def fitted_tree(shape: Sequence[int], measured: Sequence[MeasuredTable]) -> TreeModel:
    """Return the model of measured columns and of measured pairs that form a tree, or several.

    The columns are settled first; then every pair is moved to the nearest table with these margins, made
    nonnegative, and scaled to the margins again. Pairs of a tree share single columns only, so that tables
    which agree on the columns are those of one distribution.
    """
    columns, total = column_tables(shape, measured)
    pairs: dict[ColumnSet, MeasuredTable] = {one.columns: one for one in measured if len(one.columns) == 2}
    tree = JunctionTree.spanning(shape, pairs)
    tables = []
    for clique in tree.cliques:
        if len(clique) == 1:
            tables.append(columns[clique[0]])
        else:
            margins = columns[clique[0]], columns[clique[1]]
            tables.append(_with_margins(pairs[clique].counts.astype(np.float64), *margins, total))
    return TreeModel(tree=tree, total=total, tables=tuple(tables))


def _with_margins(noisy: Floats, rows: Floats, columns: Floats, total: float) -> Floats:
    """Return a nonnegative table near a noisy one that has given margins."""
    table = noisy + (rows - noisy.sum(axis=1))[:, None] / noisy.shape[1]
    table = table + (columns - table.sum(axis=0))[None, :] / noisy.shape[0]
    # A trace of independence everywhere: scaling can then reach every margin.
    table = nearest_counts(table, total) + _TRACE * np.outer(rows, columns) / total
    for _ in range(_ROUNDS):
        sums = table.sum(axis=1)
        table *= np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)[:, None]
        sums = table.sum(axis=0)
        table *= np.divide(columns, sums, out=np.zeros_like(columns), where=sums > 0)[None, :]
        if np.abs(table.sum(axis=1) - rows).sum() <= _CLOSE * total:
            break
    return table
