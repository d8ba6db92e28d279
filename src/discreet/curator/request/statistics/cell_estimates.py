"""Cells that stand in for the rows, chosen or learned: SmallDB and multiplicative weights."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import isfinite, nan
from typing import ClassVar

import numpy as np

from discreet.array_types import Integers
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import (
    AnswerKeys,
    DrawnNumbers,
    ReleasedStatistic,
    offer_object,
    offered_epsilon,
)
from discreet.curator.request.statistics.fixed_counts import KeyAxes
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer
from discreet.records import dataclass
from discreet.workloads.data_release.multiplicative_weights import MultiplicativeWeights
from discreet.workloads.data_release.small_database import SmallDatabase

__all__ = ["LearnedCells", "SmallDatabaseCells", "all_marginals"]

_MOST_ENTRIES = 1 << 22
"""How many entries the matrix of all marginals may have."""


@lru_cache(maxsize=32)
def all_marginals(axes: KeyAxes) -> Integers:
    """Return one query for each cell of each marginal: of every set of columns, all of them included."""
    lengths = axes.lengths
    chosen = [some for size in range(1, len(lengths) + 1) for some in combinations(range(len(lengths)), size)]
    queries = sum(int(np.prod([lengths[place] for place in some])) for some in chosen)
    if queries * axes.cells > _MOST_ENTRIES:
        raise ParameterError(
            "columns",
            f"have {queries} cells in all marginals, of {axes.cells} cells",
            "fewer columns or keys",
        )
    places = np.indices(lengths).reshape(len(lengths), -1)
    found = []
    for some in chosen:
        numbers = np.ravel_multi_index(
            tuple(places[place] for place in some), tuple(lengths[place] for place in some)
        )
        found.append((np.arange(numbers.max() + 1)[:, None] == numbers[None, :]).astype(np.int64))
    matrix: Integers = np.concatenate(found)
    matrix.setflags(write=False)
    return matrix


class CellEstimates(ReleasedStatistic):
    """Estimates of all cells that answer every marginal. Subclasses are frozen dataclasses.

    The error that they promise holds for all cells and marginals at once, if every row has declared keys.
    """

    __slots__ = ()

    rows: int
    axes: KeyAxes
    offer: Offer

    @property
    def name(self) -> str:
        """The name of the output."""
        return "rows"

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers are drawn."""

    @property
    def queries(self) -> Integers:
        """What is answered: every marginal."""
        return all_marginals(self.axes)

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss."""
        return offered_epsilon(self.offer, "a choice among databases or queries")

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return self.axes.fit(table, self.rows)

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether these are as many finite numbers."""
        return len(drawn) == self.size and all(
            isinstance(number, int | float) and isfinite(number) for number in drawn
        )

    def _column(self, cells: Sequence[float], error: float) -> tuple[AnswerKeys, AnswerColumn]:
        values = np.array(cells, np.float64)
        ends = [np.clip(values + side * error, 0, float(self.rows)) for side in (-1, 1)]
        offers = (
            f"sums of cells that are a marginal are within {error:.6g} rows as well, all at once, if every "
            "row has declared keys"
        )
        column = AnswerColumn(name=self.name, values=values, lower=ends[0], upper=ends[1], offers=offers)
        return self.axes.keys, column

    def _written(self, **others: int) -> dict[str, object]:
        asked = hashlib.sha256(self.queries.tobytes()).hexdigest()
        return {
            "axes": self.axes.to_object(),
            "rows": self.rows,
            "offer": offer_object(self.offer),
            "queries": asked,
            **others,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallDatabaseCells(CellEstimates):
    """SmallDB: the database of a few records that answers every marginal best, chosen privately.

    Attributes
    ----------
    records : int
        How many records it has.
    """

    kind: ClassVar[str] = "small database"

    rows: int
    axes: KeyAxes
    records: int
    offer: Offer

    def __post_init__(self) -> None:
        self.mechanism(Fraction(19, 20))

    def mechanism(self, confidence: Fraction) -> SmallDatabase:
        """Return the choice among all databases."""
        return SmallDatabase(
            queries=self.queries,
            epsilon=self.epsilon,
            records=self.records,
            total=self.rows,
            neighbors=REPLACE_ROW,
            confidence=confidence,
        )

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return (
            f"a database of {self.records} records in place of {', '.join(self.axes.names)}, chosen privately"
        )

    @property
    def parameters(self) -> dict[str, object]:
        """The cells, the queries, the number of rows and of records, and the offer."""
        return self._written(records=self.records)

    @property
    def event(self) -> Event:
        """The choice."""
        return self.mechanism(Fraction(19, 20)).event

    @property
    def size(self) -> int:
        """One number of records for each cell."""
        return self.axes.cells

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Choose a database."""
        chosen = self.mechanism(confidence).release(self.axes.counts(table))
        return [int(count) for count in chosen.records]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether this is a database of as many records."""
        counts = [number for number in drawn if type(number) is int and number >= 0]
        return len(counts) == len(drawn) == self.size and sum(counts) == self.records

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the records scaled to the public number of rows."""
        scale = self.rows / self.records
        error = self.mechanism(confidence).error_bound(confidence)
        return self._column([scale * (number or 0) for number in drawn], error)

    def expect(self, confidence: Fraction) -> Expectation:
        """Return what the theorem promises for all marginals at once."""
        return Expectation(
            name=self.name,
            margin=self.mechanism(confidence).error_bound(confidence),
            standard_deviation=nan,
            means="for all marginals at once",
            assumes="every row has declared keys",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedCells(CellEstimates):
    """Multiplicative weights: an estimate of all cells, corrected where it answers a marginal worst.

    Attributes
    ----------
    rounds : int
        How many marginals are chosen and measured.
    """

    kind: ClassVar[str] = "multiplicative weights"

    rows: int
    axes: KeyAxes
    rounds: int
    offer: Offer

    def __post_init__(self) -> None:
        self.mechanism(Fraction(19, 20))

    def mechanism(self, confidence: Fraction) -> MultiplicativeWeights:
        """Return the choices and measurements."""
        return MultiplicativeWeights(
            queries=self.queries,
            epsilon=self.epsilon,
            rounds=self.rounds,
            total=self.rows,
            neighbors=REPLACE_ROW,
            confidence=confidence,
        )

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        asked = ", ".join(self.axes.names)
        return (
            f"an estimate of the rows by {asked}, learned in {self.rounds} rounds of multiplicative weights"
        )

    @property
    def parameters(self) -> dict[str, object]:
        """The cells, the queries, the number of rows and rounds, and the offer."""
        return self._written(rounds=self.rounds)

    @property
    def event(self) -> Event:
        """Every choice and every measurement."""
        return self.mechanism(Fraction(19, 20)).event

    @property
    def size(self) -> int:
        """An estimate for each cell, and the error that was found."""
        return self.axes.cells + 1

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Learn the cells; the estimate whose error is bounded best, and that bound."""
        learned = self.mechanism(confidence).release(self.axes.counts(table))
        return [*(float(cell) for cell in learned.best), float(learned.max_error)]

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the estimates, with the error that the measurements showed."""
        del confidence
        *cells, error = (float(number or 0) for number in drawn)
        return self._column(cells, error)

    def expect(self, confidence: Fraction) -> Expectation:
        """Return what the theorem promises; what a release reports is often smaller."""
        return Expectation(
            name=self.name,
            margin=self.mechanism(confidence).error_bound(),
            standard_deviation=nan,
            means="for all marginals at once, at most",
            assumes="every row has declared keys",
        )
