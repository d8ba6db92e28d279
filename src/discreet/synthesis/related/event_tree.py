"""The private steps for events: their columns, and which pairs with columns of persons are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.privacy.events import Event, compose
from discreet.privacy.rational import whole
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.column_noises import column_noises
from discreet.synthesis.measuring.exact_tables import ExactTables, FoldedTables
from discreet.synthesis.measuring.steps import TableChoice, TableNoise, distance, whole_scores
from discreet.synthesis.methods.base import MOST_ROWS, MOST_TABLE_CELLS
from discreet.synthesis.models.folding import (
    JoinedCells,
    folded_column,
    folded_measured,
    unfolded_column,
)
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.row_model import RowModel
from discreet.synthesis.models.simplex import nearest_whole_counts, rows_counted, whole_rows_counted
from discreet.synthesis.models.tree_fit import column_tables, fitted_tree
from discreet.synthesis.related.event_model import EventModel, Given, event_weights

__all__ = ["EventTree"]

_COLUMNS, _CHOICES = Fraction(2, 5), Fraction(1, 10)
"""The shares of rho for the columns and for the choices; the rest is for the pairs."""
_CERTAIN = 1e-6
"""The variance of margins that a released model says: next to nothing beside what was measured."""
_LARGEST = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTree:
    """Columns of events, and a forest of pairs that leads from columns of persons to all of them.

    Tables count events, each with the columns of its person. A person has at most `rows` of them. Every
    column of events is measured; then pairs are chosen one after the other, of two columns of events, or of
    one with a column of persons, each joining what was not joined before. All columns of persons count as
    joined from the start, so that every column of events is reached from one of them on a single path.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person with all their events: see docs/proofs/related_tables.md.

    Attributes
    ----------
    persons : CodedColumns
        The columns of persons; the last is how many events they have.
    events : CodedColumns
        The columns of events.
    rows : int
        How many events of a person count.
    pairs : tuple of pairs of int
        Which may be chosen; columns of persons are numbered first.
    edges : int
        How many are chosen.
    """

    persons: CodedColumns
    events: CodedColumns
    rows: int
    pairs: tuple[tuple[int, int], ...]
    edges: int
    column_noises: tuple[TableNoise, ...]
    choice: TableChoice | None
    pair_noise: TableNoise | None

    @classmethod
    def costing(cls, persons: CodedColumns, events: CodedColumns, rho: Fraction, rows: int) -> EventTree:
        """Return the steps that cost a rho."""
        rows = whole(rows, "rows", least=1, most=MOST_ROWS)
        shape = (*persons.shape, *events.shape)
        first = len(persons.shape)
        pairs = tuple(
            (one, other)
            for one, other in combinations(range(len(shape)), 2)
            if other >= first and shape[one] * shape[other] <= MOST_TABLE_CELLS
        )
        edges = len(_forest(first, len(shape), pairs))
        columns = rho * _COLUMNS if edges else rho
        rest = rho * (1 - _COLUMNS - _CHOICES)
        return cls(
            persons=persons,
            events=events,
            rows=rows,
            pairs=pairs,
            edges=edges,
            column_noises=column_noises(events.shape, columns, rows),
            choice=TableChoice.costing(rho * _CHOICES / edges, rows) if edges else None,
            pair_noise=TableNoise.costing(rest / edges, rows) if edges else None,
        )

    @property
    def first(self) -> int:
        """The number of the first column of events."""
        return len(self.persons.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each column has, of persons and then of events."""
        return (*self.persons.shape, *self.events.shape)

    @property
    def event(self) -> Event:
        """All columns, all choices, and all chosen pairs."""
        columns = compose([noise.event for noise in self.column_noises])
        if self.choice is None or self.pair_noise is None:
            return columns
        return compose([columns, self.choice.event * self.edges, self.pair_noise.event * self.edges])

    @property
    def counted_sets(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every table that must be counted: all others are sums of one of them."""
        joined = {column for pair in self.pairs for column in pair}
        alone = [(column,) for column in range(self.first, len(self.shape)) if column not in joined]
        return (*alone, *self.pairs)

    @property
    def cells(self) -> int:
        """How many cells these tables have."""
        return sum(prod(self.shape[column] for column in chosen) for chosen in self.counted_sets)

    @property
    def variances(self) -> tuple[float, ...]:
        """Of the columns, and of the pairs."""
        pairs = () if self.pair_noise is None else (self.pair_noise.variance,) * self.edges
        return tuple(noise.variance for noise in self.column_noises) + pairs

    def draw(
        self, tables: ExactTables, persons: Sequence[MeasuredTable], model: RowModel
    ) -> tuple[MeasuredTable, ...]:
        """Measure the columns of events, choose pairs, and measure them.

        Parameters
        ----------
        tables : ExactTables
            Of events, with the columns of their persons. Private.
        persons : sequence of MeasuredTable
            The columns of persons as they were released.
        model : RowModel
            The model of persons as it was released.
        """
        columns = tuple(
            noise.measured((place,), tables.table((place,)))
            for place, noise in enumerate(self.column_noises, self.first)
        )
        if self.choice is None or self.pair_noise is None:
            return columns
        folded = FoldedTables(tables=tables, folds=self.folds(columns, persons))
        scores = self.scores(folded, columns, model)
        chosen = self._chosen(scores, self.choice)
        return (*columns, *(self.pair_noise.measured(pair, folded.table(pair)) for pair in chosen))

    def folds(
        self, columns: Sequence[MeasuredTable], persons: Sequence[MeasuredTable]
    ) -> tuple[JoinedCells, ...]:
        """Return how cells are joined for pairs, from released counts, in integers alone.

        A column of persons is joined as if all persons had equally many events; the number of events itself,
        by how many each number makes.
        """
        if self.pair_noise is None:
            return tuple(map(unfolded_column, self.shape))
        variance, total = Fraction(self.pair_noise.variance), whole_rows_counted(columns)
        people = whole_rows_counted(persons)
        held = [nearest_whole_counts(one.counts, people).tolist() for one in persons]
        held[-1] = [count * twice for count, twice in zip(held[-1], self._twice_numbers, strict=True)]
        scaled = [_scaled(counts, total) for counts in held]
        scaled += [nearest_whole_counts(one.counts, total) for one in columns]
        every = (*self.persons.columns, *self.events.columns)
        return tuple(
            folded_column(counts, variance, total, ordered=column.is_ordered, last=column.has_missing)
            for column, counts in zip(every, scaled, strict=True)
        )

    def scores(self, tables: FoldedTables, columns: Sequence[MeasuredTable], model: RowModel) -> Integers:
        """Return for every pair how far its table is from that of independent columns. Private."""
        joined = self._joined_columns(tables.folds, columns)
        total = rows_counted(joined)
        margins = self._margins(tables.folds, model, total)
        sizes = [fold.cells for fold in tables.folds]
        estimates, total = column_tables(sizes, [*margins, *joined])
        return whole_scores(
            [
                distance(tables.table((one, other)), np.outer(estimates[one], estimates[other]) / total)
                for one, other in self.pairs
            ]
        )

    def _chosen(self, scores: Integers, choice: TableChoice) -> list[tuple[int, int]]:
        """Choose pairs that join what was not joined, one after the other."""
        part = [0] * self.first + list(range(1, len(self.events.shape) + 1))
        found: list[tuple[int, int]] = []
        for _ in range(self.edges):
            places = [place for place, (one, other) in enumerate(self.pairs) if part[one] != part[other]]
            one, other = self.pairs[places[choice.chosen(scores[places])]]
            found.append((one, other))
            joined, gone = part[one], part[other]
            part = [joined if place == gone else place for place in part]
        return found

    def model(
        self, measured: Sequence[MeasuredTable], persons: Sequence[MeasuredTable], model: RowModel
    ) -> EventModel:
        """Return the model of events given persons: public arithmetic, in closed form."""
        many = len(self.events.shape)
        columns, pairs = measured[:many], measured[many:]
        folds = self.folds(columns, persons)
        joined = [*self._joined_columns(folds, columns), *pairs]
        margins = self._margins(folds, model, rows_counted(joined))
        tree = fitted_tree([fold.cells for fold in folds], [*margins, *joined])
        edges = [one.columns for one in pairs]
        order = []
        for parent, column in _downward(self.first, len(self.shape), edges):
            alone = (column,) if parent is None else (parent, column)
            weights = np.atleast_2d(tree.table(alone))
            order.append(Given(column=column, parent=parent, weights=weights))
        return EventModel(
            persons=model, number=self.first - 1, values=self.numbers, folds=folds, order=tuple(order)
        )

    @property
    def numbers(self) -> Floats:
        """How many events each code of the last column of persons stands for, on average."""
        return np.array(self._twice_numbers, np.float64) / 2

    @property
    def _twice_numbers(self) -> list[int]:
        """Twice the middle of each cell of numbers of events."""
        width, most = self.persons.columns[-1].axis.width, self.rows
        cells = self.persons.shape[-1]
        return [cell * width + min((cell + 1) * width - 1, most) for cell in range(cells)]

    def _joined_columns(
        self, folds: Sequence[JoinedCells], columns: Sequence[MeasuredTable]
    ) -> list[MeasuredTable]:
        return [folded_measured(one, folds) for one in columns]

    def _margins(self, folds: Sequence[JoinedCells], model: RowModel, total: float) -> list[MeasuredTable]:
        """Return how many events the persons in each cell have, as the model of persons says it."""
        found = []
        for column in range(self.first):
            weights = event_weights(model, (column,), self.first - 1, self.numbers)
            joined = np.bincount(folds[column].places, weights, minlength=folds[column].cells)
            every = joined.sum()
            shares = joined / every if every > 0 else np.full(len(joined), 1.0 / len(joined))
            found.append(
                MeasuredTable(columns=(column,), counts=shares * total, variance=_CERTAIN)  # type: ignore[arg-type]
            )
        return found


def _scaled(counts: Sequence[int], total: int) -> Integers:
    """Return counts that add up to about a total, rounded down; integers of any size stay exact."""
    every = max(sum(counts), 1)
    return np.array([min(count * total // every, _LARGEST) for count in counts], np.int64)


def _forest(first: int, columns: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs that join all columns that can be joined, if those before the first are already."""
    part = [0] * first + list(range(1, columns - first + 1))
    found = []
    for one, other in pairs:
        joined, gone = part[one], part[other]
        if joined != gone:
            found.append((one, other))
            part = [joined if place == gone else place for place in part]
    return found


def _downward(first: int, columns: int, edges: Sequence[tuple[int, ...]]) -> list[tuple[int | None, int]]:
    """Return the parent and the child of every edge, from columns of persons down; others are roots."""
    known = set(range(first))
    found: list[tuple[int | None, int]] = []
    left = [tuple(one) for one in edges]
    while len(known) < columns:
        ready = [one for one in left if (one[0] in known) != (one[1] in known)]
        if not ready:
            root = next(column for column in range(columns) if column not in known)
            found.append((None, root))
            known.add(root)
            continue
        for one, other in ready:
            parent, child = (one, other) if one in known else (other, one)
            found.append((parent, child))
            known.add(child)
        left = [one for one in left if one not in ready]
    return found
