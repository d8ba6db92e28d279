"""Folding: cells of a column with few rows are joined before tables of several columns are measured.

A table over several columns spreads its noise over all cells. Where a column's own noisy counts, which were
released before, say that cells hold next to nothing, they are measured together, and what falls in them is
divided again as the column's own counts say. Columns of numbers are folded into neighboring cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.possible_rows import PossibleRows
from discreet.synthesis.models.tree_model import TreeModel, drawn_given

__all__ = [
    "FoldedModel",
    "JoinedCells",
    "folded_column",
    "folded_counts",
    "folded_kinds",
    "folded_measured",
    "unfolded_column",
]

_DEVIATIONS = 3
"""A cell with fewer rows than so many deviations of the noise is joined with others."""
_COARSER = 2
"""Neighbors are joined until they hold the root of so many times the rows, times the deviation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinedCells:
    """How the cells of a column are joined.

    Attributes
    ----------
    places : array of integers
        For each cell, in which joined cell it is.
    shares : array of floats
        For each cell, its share of the joined cell; they add up to 1 for each.
    """

    places: Integers
    shares: Floats

    @property
    def cells(self) -> int:
        """How many joined cells there are; as many as cells only if each is by itself, in order."""
        return int(self.places.max()) + 1


def folded_column(
    counts: Integers,
    variance: Fraction,
    total: int,
    *,
    ordered: bool,
    last: bool,
    kinds: Integers | None = None,
) -> JoinedCells:
    """Return how cells are joined, from a column's released counts.

    Which cells are joined is decided in integers: a stored answer is read by this rule again, perhaps on
    another machine, where floats may differ in their last digit.

    Parameters
    ----------
    counts : array of integers
        The column's counts, none of them negative.
    variance : Fraction
        Of the noise that tables of several columns will have.
    total : int
        The number of rows, at least 1.
    ordered : bool
        Whether neighboring cells are alike. Then about sqrt(total / (2 deviation)) joined cells are left,
        of about equal counts: finer ones drown in noise, coarser ones lose what the column says.
    last : bool
        Whether the last cell, of missing values, stays apart from those next to it.
    kinds : array of integers, optional
        Cells of different kinds are not joined: those that declared facts treat differently.
    """
    kinds = np.zeros(len(counts), np.int64) if kinds is None else kinds
    few = isqrt(_floor(_DEVIATIONS**2 * variance)) + 1
    places = np.zeros(len(counts), np.int64)
    if ordered:
        # The root of twice the total times the deviation: the fourth root of what is an exact fraction.
        enough = max(few, isqrt(isqrt(_floor((_COARSER * total) ** 2 * variance))))
        many = len(counts) - last
        places[:many] = _neighbors_joined(counts[:many], enough, kinds[:many])
        if last:
            places[many:] = (places[many - 1] + 1) if many else 0
    else:
        rare = counts < few
        several, inside, sizes = np.unique(kinds[rare], return_inverse=True, return_counts=True)
        if not (sizes > 1).any():
            return unfolded_column(len(counts))
        places = len(several) - 1 + np.cumsum(~rare)
        places[rare] = inside.reshape(-1)
    return _shared(places, counts)


def folded_kinds(counts: Integers, kinds: Integers) -> JoinedCells:
    """Return the fold that joins all cells of a kind; joined cells are in the order of their first cells.

    So it is the fold that joins nothing if every cell is of its own kind.
    """
    _, first, inside = np.unique(kinds, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return _shared(order[inside.reshape(-1)].astype(np.int64), counts)


def _shared(places: Integers, counts: Integers) -> JoinedCells:
    """Return joined cells with the shares that counts say; equal ones where they say nothing."""
    weights = np.maximum(counts, 0).astype(np.float64)
    sums = np.bincount(places, weights)[places]
    alike = 1.0 / np.bincount(places)[places]
    shares = np.divide(weights, sums, out=alike, where=sums > 0)
    return JoinedCells(places=places, shares=shares)


def unfolded_column(cells: int) -> JoinedCells:
    """Return the fold that joins nothing."""
    return JoinedCells(places=np.arange(cells), shares=np.ones(cells))


def folded_counts(table: Integers, columns: Sequence[int], folds: Sequence[JoinedCells]) -> Integers:
    """Return a table with joined cells: what was in them is added up."""
    for axis, column in enumerate(columns):
        fold = folds[column]
        if fold.cells < table.shape[axis]:
            joined = np.zeros((*table.shape[:axis], fold.cells, *table.shape[axis + 1 :]), np.int64)
            np.add.at(np.moveaxis(joined, axis, 0), fold.places, np.moveaxis(table, axis, 0))
            table = joined
    return table


def folded_measured(one: MeasuredTable, folds: Sequence[JoinedCells]) -> MeasuredTable:
    """Return the measurement of a column in joined cells; variances add up."""
    (column,) = one.columns
    many = np.bincount(folds[column].places).astype(np.float64)
    counts = folded_counts(one.counts, one.columns, folds)
    return MeasuredTable(columns=one.columns, counts=counts, variance=one.variance * many)


def _floor(value: Fraction) -> int:
    return value.numerator // value.denominator


def _neighbors_joined(counts: Integers, enough: int, kinds: Integers) -> Integers:
    """Join neighbors of a kind from the left until they hold enough; one that does by itself stays alone."""
    places = np.zeros(len(counts), np.int64)
    place, held, begun = -1, 0, False
    for cell, count in enumerate(counts.tolist()):
        other = cell > 0 and kinds[cell] != kinds[cell - 1]
        if not begun or other or held >= enough or (count >= enough and held > 0):
            place, held, begun = place + 1, 0, True
        places[cell] = place
        held += count
    return places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldedModel:
    """A model of joined cells as one of all cells: within a joined cell, by the columns' own counts."""

    model: TreeModel
    folds: tuple[JoinedCells, ...]
    possible: PossibleRows | None = None
    """What declared facts leave, in all cells: only cells of one kind are joined."""

    @property
    def total(self) -> float:
        """The number of rows."""
        return self.model.total

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the expected counts of some columns, in their order."""
        return self.unfolded(self.model.table(columns), columns)

    def unfolded(self, table: Floats, columns: Sequence[int]) -> Floats:
        """Return a table of joined cells as one of all cells."""
        for axis, column in enumerate(columns):
            fold = self.folds[column]
            shape = [1] * len(columns)
            shape[axis] = len(fold.places)
            table = np.take(table, fold.places, axis=axis) * fold.shares.reshape(shape)
        return table

    def sample(self, rows: int, random: np.random.Generator) -> Integers:
        """Return rows of codes."""
        found = self.model.sample(rows, random)
        for column, fold in enumerate(self.folds):
            if fold.cells == len(fold.places):  # nothing is joined, and cells are in their order
                continue
            line = np.zeros((fold.cells, len(fold.places)))
            line[fold.places, np.arange(len(fold.places))] = fold.shares
            found[:, column] = drawn_given(line, found[:, column], random)
        return found if self.possible is None else self.possible.repaired(found)
