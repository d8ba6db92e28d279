"""Bins of columns of numbers, from a noisy histogram: where data are dense they are narrow.

Each column has a grid of cells within its bounds. One noisy histogram of all columns is bought; edges of bins
are a function of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.learning.design.features import NumberColumn

__all__ = ["CELLS", "cell_counts", "cell_edges", "cells_of", "chosen_edges", "most_bins"]

CELLS = 256
"""How many cells a column has, at most."""


def cell_edges(column: NumberColumn) -> Floats:
    """Return the inner edges of the cells of a column.

    Cells are equally wide. If a grid was declared they hold equally many of its points, so that none holds
    what no value can be.
    """
    if column.step is None:
        return np.linspace(float(column.lower), float(column.upper), CELLS + 1)[1:-1]
    points = int((column.upper - column.lower) / column.step) + 1
    each = -(-points // CELLS)
    first = column.lower - column.step / 2
    return np.array([float(first + place * column.step) for place in range(each, points, each)])


def cell_counts(columns: Sequence[NumberColumn], values: Iterable[NDArray[Any]]) -> Integers:
    """Return how many rows are in each cell of each column; what is not a number is in none.

    A row adds 1 to at most one cell of each column.
    """
    found = np.zeros((len(columns), CELLS), dtype=np.int64)
    for number, (column, held) in enumerate(zip(columns, values, strict=True)):
        numbers = column.numbers(held)
        cells = cells_of(cell_edges(column), numbers[~np.isnan(numbers)])
        found[number] = np.bincount(cells, minlength=CELLS)
    return found


def cells_of(edges: Floats, numbers: Floats) -> Integers:
    """Return how many edges are at most each number, for edges that are about equally far apart.

    A division says where to look, to within one place; comparisons with the edges decide.
    """
    if len(edges) < 2:
        return np.searchsorted(edges, numbers, side="right")
    with np.errstate(all="ignore"):  # edges may be too near to each other for a float
        about = np.clip((numbers - edges[0]) / (edges[1] - edges[0]) + 1, 0, len(edges))
    places = np.where(np.isnan(about), 0, about).astype(np.int64)
    before, after = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.nan]])
    places += numbers >= after[places]
    places -= numbers < before[places]
    wrong = (numbers < before[places]) | (numbers >= after[places])
    places[wrong] = np.searchsorted(edges, numbers[wrong], side="right")
    return places


def most_bins(bins: int) -> int:
    """Return how many bins `chosen_edges` makes at most, whatever the counts are.

    Let h cells be bins of their own. Each has two ends, and the others are divided into b - h parts, at b - h
    - 1 places: b + h - 1 edges at most, and h is b - 1 at most.
    """
    return min(2 * bins - 1, CELLS)


def chosen_edges(column: NumberColumn, counts: Floats, bins: int) -> Floats:
    """Return inner edges of about as many bins, with about equal counts, and never more than `most_bins`.

    A cell that holds more than its share is a bin of its own; what is left is divided among the others.
    """
    edges = cell_edges(column)
    cells = len(edges) + 1
    held, own, left = np.maximum(counts[:cells], 0.0), np.zeros(cells, dtype=bool), bins
    while left > 1:
        share = held[~own].sum() / left
        heavy = ~own & (held > share)
        if not heavy.any() or share <= 0:
            break
        place = int(np.argmax(np.where(own, -1.0, held)))
        own[place] = True
        left -= 1
    rest = np.where(own, 0.0, held)
    total = max(float(rest.sum()), 1e-300)
    filled = ((np.cumsum(rest) - rest / 2) / total * left).astype(np.int64)  # by the middle of each cell
    filled = np.maximum.accumulate(np.minimum(filled, left - 1))
    # A new bin begins where a heavy cell begins or ends, and where another part of the rest is filled.
    begins = np.zeros(cells, dtype=bool)
    begins[1:] = (own[1:] | own[:-1]) | (filled[1:] != filled[:-1])
    return edges[np.flatnonzero(begins[1:])]
