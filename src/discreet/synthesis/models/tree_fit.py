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
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))[None, :]
        if np.abs(table.sum(axis=1) - rows).sum() <= _CLOSE * total:
            break
    return _with_exact_margins(table, rows, columns)


def _with_exact_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return a table near one with nearly these margins: what is too much is cut, what is missing spread.

    Scaling alone may need thousands of rounds where a table has next to nothing in a cell that its margins
    need (Altschuler, Weed & Rigollet 2017).
    """
    table = table * np.minimum(_ratio(rows, table.sum(axis=1)), 1.0)[:, None]
    table = table * np.minimum(_ratio(columns, table.sum(axis=0)), 1.0)[None, :]
    below, beside = rows - table.sum(axis=1), columns - table.sum(axis=0)
    missing = below.sum()
    if not missing > 0:
        return table
    spread: Floats = table + np.outer(np.maximum(below, 0.0), np.maximum(beside, 0.0)) / missing
    return spread


def _ratio(wanted: Floats, sums: Floats) -> Floats:
    """Return what scales sums to wanted ones; 0 for nothing."""
    return np.divide(wanted, sums, out=np.zeros_like(wanted), where=sums > 0)
