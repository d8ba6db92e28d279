"""Which rows are possible at all: combinations of cells that a declared fact rules out have no rows.

All of it is public. It is a function of declarations alone, never of counts: a zero that was read off the
data would tell that somebody is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.synthesis.columns.impossible_cells import ImpossibleCells
from discreet.synthesis.models.junction_tree import ColumnSet, JunctionTree, tree_cells
from discreet.synthesis.models.propagation import model_of
from discreet.synthesis.models.tree_model import TreeModel, expanded

__all__ = ["MOST_KINDS", "PossibleRows"]

MOST_KINDS = 1 << 20
"""How many combinations of kinds of cells are looked at to find out whether any row is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleRows:
    """All rows of codes but those that a fact rules out.

    Attributes
    ----------
    shape : tuple of int
        How many cells each column has.
    zeros : tuple of ImpossibleCells
        The facts.
    """

    shape: tuple[int, ...]
    zeros: tuple[ImpossibleCells, ...] = ()

    @property
    def sets(self) -> tuple[ColumnSet, ...]:
        """The sets of columns that some fact is about: each must lie within a clique of a model."""
        return tuple(dict.fromkeys(zero.columns for zero in self.zeros))

    def kinds(self, column: int) -> Integers:
        """Return the kind of each cell of a column: two are of one kind if they are in the same facts.

        Which combinations are possible depends on kinds alone, so that cells of one kind may be joined.
        """
        listed = [zero.cells[zero.columns.index(column)] for zero in self.zeros if column in zero.columns]
        inside = np.zeros((self.shape[column], len(listed)), bool)
        for place, cells in enumerate(listed):
            inside[list(cells), place] = True
        if not listed:
            return np.zeros(self.shape[column], np.int64)
        return np.unique(inside, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def joined(self, places: Sequence[Integers]) -> PossibleRows:
        """Return the same facts about joined cells, where only cells of one kind were joined."""
        zeros = tuple(
            ImpossibleCells(
                columns=zero.columns,
                cells=tuple(
                    tuple(sorted(set(places[column][list(cells)].tolist())))
                    for column, cells in zip(zero.columns, zero.cells, strict=True)
                ),
            )
            for zero in self.zeros
        )
        return PossibleRows(shape=tuple(int(one.max()) + 1 for one in places), zeros=zeros)

    def cells_with(self, sets: Sequence[ColumnSet]) -> int:
        """Return how many numbers a model holds that has these sets, and those of the facts, in cliques."""
        return tree_cells(self.shape, [*self.sets, *sets])

    def potentials(self, tree: JunctionTree) -> tuple[Floats, ...]:
        """Return a function for each clique: minus infinity where a fact rules rows out, else 0."""
        found = [np.zeros([tree.shape[column] for column in clique]) for clique in tree.cliques]
        for zero in self.zeros:
            place = tree.clique_of(zero.columns)
            assert place is not None  # noqa: S101
            inside = np.zeros([self.shape[column] for column in zero.columns])
            inside[np.ix_(*(list(cells) for cells in zero.cells))] = -np.inf
            found[place] = found[place] + expanded(inside, zero.columns, tree.cliques[place])
        return tuple(found)

    def violated(self, codes: Integers) -> NDArray[np.bool_]:
        """Return for each row whether a fact rules it out."""
        found = np.zeros(len(codes), bool)
        for zero in self.zeros:
            inside = np.ones(len(codes), bool)
            for column, cells in zip(zero.columns, zero.cells, strict=True):
                listed = np.zeros(self.shape[column], bool)
                listed[list(cells)] = True
                inside &= listed[codes[:, column]]
            found |= inside
        return found

    def repaired(self, codes: Integers) -> Integers:
        """Return rows with those that a fact rules out replaced by other rows of the sample.

        A model that respects the facts gives such rows no probability. What is left is rounding: a place that
        is chosen in the last digit of a double.
        """
        bad = np.flatnonzero(self.violated(codes))
        if not len(bad):
            return codes
        good = np.setdiff1d(np.arange(len(codes)), bad)
        found = codes.copy()
        found[bad] = codes[good[np.arange(len(bad)) % len(good)]] if len(good) else self.example()
        return found

    def example(self) -> Integers:
        """Return one row that is possible; a `ParameterError` if none is, or if that cannot be found out."""
        kinds = [self.kinds(column) for column in range(len(self.shape))]
        small = self.joined(kinds)
        if small.cells_with([]) > MOST_KINDS:
            raise ParameterError(
                "facts",
                f"join columns so that {small.cells_with([]):,} combinations would be held at once",
                f"at most {MOST_KINDS:,}: facts about fewer columns, or fewer facts about the same ones",
            )
        tree = JunctionTree.spanning(small.shape, small.sets)
        model = model_of(tree, small.potentials(tree), 1.0)
        if not all(np.isfinite(table).all() and table.sum() > 0 for table in model.tables):
            raise ParameterError("facts", "leave no row possible", "facts that some row can keep to")
        found = _likeliest(model)
        assert not small.violated(found[None, :]).any()  # noqa: S101
        return np.array([np.flatnonzero(kind == code)[0] for kind, code in zip(kinds, found, strict=True)])


def _likeliest(model: TreeModel) -> Integers:
    """Return a row of a model: in each clique the likeliest values, given those of cliques before."""
    found = np.full(len(model.tree.shape), -1, np.int64)
    for clique, table in zip(model.tree.cliques, model.tables, strict=True):
        known = tuple(slice(None) if found[column] < 0 else int(found[column]) for column in clique)
        left = table[known]
        new = [column for column in clique if found[column] < 0]
        found[new] = np.unravel_index(int(np.argmax(left)), left.shape)
    return found
