"""A distribution over rows that factors over a junction tree: its tables, exactly, and rows drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.synthesis.models.junction_tree import ColumnSet, JunctionTree

__all__ = ["TreeModel", "drawn_given", "expanded", "summed_out"]

_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeModel:
    """Tables of the cliques of a junction tree that agree on what they share.

    Attributes
    ----------
    tree : JunctionTree
        The cliques.
    total : float
        What every table adds up to: a number of rows.
    tables : tuple of arrays
        For each clique the expected number of rows of each combination of its columns.

    Notes
    -----
    The model is P(x) = prod over cliques of P(x_C) / prod over branches of P(x_S): of all distributions with
    these tables that of the largest entropy.
    """

    tree: JunctionTree
    total: float
    tables: tuple[Floats, ...]

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the expected counts of some columns, in their order."""
        place = self.tree.clique_of(columns)
        if place is None:
            return self._eliminated(tuple(columns))
        clique = self.tree.cliques[place]
        return _ordered(summed_out(self.tables[place], clique, columns), columns)

    def pairs(self, asked: Iterable[ColumnSet]) -> dict[ColumnSet, Floats]:
        """Return the expected counts of some pairs of columns, each increasing; no others are written out.

        For a column a, the tables P(a, S) of the separators S are passed from clique to clique: P(a, S') is
        the sum of P(a, S) P(S' | S) over the rest of S, a product of matrices. P(a, b) for b in the clique is
        one more such product. So nothing is ever written out that is larger than a table of a with a
        separator, or than a clique.
        """
        left = set(asked)
        found: dict[ColumnSet, Floats] = {}
        for place, clique in enumerate(self.tree.cliques):
            for pair in left.intersection(combinations(clique, 2)):
                found[pair] = summed_out(self.tables[place], clique, pair)
            left -= set(found)
        later: dict[int, set[int]] = {}
        for column, other in left:
            later.setdefault(column, set()).add(other)
        for column, wanted in sorted(later.items()):
            for other, table in self._along(column, wanted).items():
                found[column, other] = table
        return found

    def _along(self, column: int, others: Iterable[int]) -> dict[int, Floats]:
        """Return the tables of a column with later ones that share no clique with it."""
        start = self.tree.clique_of([column])
        assert start is not None  # noqa: S101
        wanted = set(others)
        answers: dict[int, Floats] = {}
        alone = summed_out(self.tables[start], self.tree.cliques[start], (column,))
        waiting: list[tuple[int, int, ColumnSet, Floats]] = [(start, -1, (column,), alone)]
        beside = self._neighbors()
        while waiting and wanted:
            place, before, given, passed = waiting.pop()
            for other in [one for one in wanted if one in self.tree.cliques[place]]:
                answers[other] = self._carried(place, column, given, passed, (other,))
                wanted.discard(other)
            for after, separator in beside[place]:
                if after != before and wanted:
                    onward = self._carried(place, column, given, passed, separator)
                    waiting.append((after, place, separator, onward))
        return answers

    def _carried(
        self, place: int, column: int, given: ColumnSet, passed: Floats, wanted: ColumnSet
    ) -> Floats:
        """Return P(column, wanted) from P(column, given), for columns of one clique; all orders increase.

        It is a product of matrices, one for each value of what is both given and wanted.
        """
        kept = _sorted({column, *wanted}) if column in given else wanted
        both, gone = _split(given, kept)
        new = tuple(one for one in kept if one not in given)
        alone = () if column in given else (column,)
        sizes = [[self.tree.shape[one] for one in part] for part in (both, alone, gone, new)]
        cells = [prod(one) for one in sizes]
        left = _placed(passed, _sorted({column, *given}), (*both, *alone, *gone))
        joined = _sorted({*given, *kept})
        right = _placed(self._conditional(place, joined, given), joined, (*both, *gone, *new))
        product = left.reshape(cells[0], cells[1], cells[2]) @ right.reshape(cells[0], cells[2], cells[3])
        order = (*both, *alone, *new)
        found = product.reshape([*sizes[0], *sizes[1], *sizes[3]])
        return _placed(found, order, _sorted(order))

    def _conditional(self, place: int, needed: ColumnSet, separator: ColumnSet) -> Floats:
        """Return P(needed | separator) within a clique; 0 where the separator has no rows."""
        clique = self.tree.cliques[place]
        table = summed_out(self.tables[place], clique, needed)
        below = expanded(summed_out(table, needed, separator), separator, needed)
        return np.divide(table, below, out=np.zeros_like(table), where=below > _TINY)

    def _neighbors(self) -> list[list[tuple[int, ColumnSet]]]:
        beside: list[list[tuple[int, ColumnSet]]] = [[] for _ in self.tree.cliques]
        for branch in self.tree.branches:
            beside[branch.parent].append((branch.child, branch.separator))
            beside[branch.child].append((branch.parent, branch.separator))
        return beside

    def _eliminated(self, columns: ColumnSet) -> Floats:
        """Return the table of columns of several cliques: leaves of the tree are summed out, one by one.

        What a clique C passes to its parent is the sum of P(C | S) times what it was passed, over all but the
        separator S and the wanted columns.
        """
        wanted = set(columns)
        held = [(table, clique) for table, clique in zip(self.tables, self.tree.cliques, strict=True)]
        for branch in reversed(self.tree.branches):
            clique = self.tree.cliques[branch.child]
            table, present = held[branch.child]
            below = summed_out(self.tables[branch.child], clique, branch.separator)
            spread = np.broadcast_to(expanded(below, branch.separator, present), table.shape)
            passed = np.divide(table, spread, out=np.zeros_like(table), where=spread > _TINY)
            kept = _sorted(one for one in present if one in wanted or one in branch.separator)
            upper, above = held[branch.parent]
            union = _sorted({*kept, *above})
            joined = expanded(upper, above, union) * expanded(summed_out(passed, present, kept), kept, union)
            held[branch.parent] = joined, union
        table, present = held[0]
        return _ordered(summed_out(table, present, columns), columns)

    def sample(self, rows: int, random: np.random.Generator) -> Integers:
        """Return rows of codes, drawn clique by clique; each is a row of the model on its own.

        Within rows of the same separator the conditional distribution is drawn by systematic sampling: of n
        rows either the floor or the ceiling of n p have a value of probability p, on average n p.
        """
        found = np.zeros((rows, len(self.tree.shape)), np.int64)
        drawn: set[int] = set()
        for place, clique in enumerate(self.tree.cliques):
            given = tuple(column for column in clique if column in drawn)
            new = tuple(column for column in clique if column not in drawn)
            if not new:
                continue
            sizes = [self.tree.shape[column] for column in new]
            order = [clique.index(column) for column in (*given, *new)]
            flat = self.tables[place].transpose(order).reshape(-1, int(np.prod(sizes)))
            codes = _codes(found, given, self.tree.shape)
            values = drawn_given(flat, codes, random)
            for column, value in zip(new, np.unravel_index(values, sizes), strict=True):
                found[:, column] = value
            drawn |= set(new)
        return random.permutation(found, axis=0)


def summed_out(table: Floats, held: Sequence[int], kept: Iterable[int]) -> Floats:
    """Return a table with all columns that are not kept summed out; the rest stay in their order."""
    keep = set(kept)
    axes = tuple(axis for axis, column in enumerate(held) if column not in keep)
    return np.asarray(table.sum(axis=axes)) if axes else table


def expanded(table: Floats, held: Sequence[int], columns: Sequence[int]) -> Floats:
    """Return a table as one of more columns, for broadcasting; both orders increase."""
    present = set(held)
    index = tuple(slice(None) if column in present else None for column in columns)
    return table[index]


def _ordered(table: Floats, columns: Sequence[int]) -> Floats:
    """Return a table of increasing columns in another order of them."""
    return table.transpose(np.argsort(np.argsort(columns)))


def _placed(table: Floats, held: ColumnSet, order: ColumnSet) -> Floats:
    """Return a table with its axes in another order of its columns."""
    return table.transpose([held.index(column) for column in order])


def _split(columns: ColumnSet, kept: ColumnSet) -> tuple[ColumnSet, ColumnSet]:
    """Return the columns that are kept, and the others."""
    present = set(kept)
    return (
        tuple(one for one in columns if one in present),
        tuple(one for one in columns if one not in present),
    )


def _sorted(columns: Iterable[int]) -> ColumnSet:
    return tuple(sorted(set(columns)))


def _codes(rows: Integers, columns: ColumnSet, shape: Sequence[int]) -> Integers:
    """Return one number for the values of some columns of each row."""
    found = np.zeros(len(rows), np.int64)
    for column in columns:
        found = found * shape[column] + rows[:, column]
    return found


def drawn_given(weights: Floats, given: Integers, random: np.random.Generator) -> Integers:
    """Return a value for each row, by the weights of what it was given; uniform where all are 0.

    A value of the weight 0 is never drawn beside others: what rounding leaves goes to the last that has some.
    """
    held = np.maximum(weights, 0.0)
    sums = held.sum(axis=1, keepdims=True)
    shares = np.where(sums > _TINY, held / np.maximum(sums, _TINY), 1.0 / held.shape[1])
    ends = np.cumsum(shares, axis=1)
    last = held.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    ends[np.arange(held.shape[1]) >= last[:, None]] = 1.0
    line = (ends + np.arange(len(ends))[:, None]).reshape(-1)
    shuffled = random.permutation(len(given))
    order = shuffled[np.argsort(given[shuffled], kind="stable")]
    ordered = given[order]
    counts = np.bincount(ordered, minlength=len(ends))
    first = np.cumsum(counts) - counts
    rank = np.arange(len(given)) - first[ordered]
    start = random.random(len(ends))
    places = ordered + (rank + start[ordered]) / np.maximum(counts[ordered], 1)
    values = np.searchsorted(line, places, side="right") - ordered * held.shape[1]
    found = np.empty(len(given), np.int64)
    found[order] = np.clip(values, 0, last[ordered])
    return found
