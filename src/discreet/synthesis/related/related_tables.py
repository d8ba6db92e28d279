"""A synthesizer of two related tables: persons by a tree, and events by a forest that hangs on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from discreet.data import Axis, Bounds
from discreet.errors import UnsupportedQuery
from discreet.privacy.events import Event, compose
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.offer import Offer
from discreet.queries.counts.cells import default_width
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.exact_tables import ExactTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.methods.base import MOST_CELLS_AT_ONCE
from discreet.synthesis.methods.spanning_tree import SpanningTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.related.event_tree import EventTree
from discreet.synthesis.related.related_data import RelatedData

__all__ = ["RelatedTables", "TableNames", "number_axis"]

_PERSONS = Fraction(2, 5)
"""The share of rho for persons; events, of which a person may have several, get the rest."""
_MOST_NUMBERS = 257
"""How many cells numbers of events have at most: up to 256 events each number has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNames:
    """What two related tables are called.

    Attributes
    ----------
    persons, events : str
        The tables.
    person_key, event_key : str
        The column of each that says whose a row is.
    columns : tuple of str
        The columns of persons, as their table calls them.
    """

    persons: str
    events: str
    person_key: str
    event_key: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedTables:
    """Make synthetic persons, and synthetic events for each of them.

    How many events a person has is one more column of persons: the table of persons is made by
    `SpanningTree`. Then a forest of pairs of columns is chosen and measured that leads from columns of
    persons to all columns of events (`EventTree`). Rows are drawn in the same order: persons with a number of
    events, and so many events for each, given their person.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person with their row and all their events, and hence the stated (epsilon,
    delta): a person moves every table of persons by 1, and every table of events by at most `rows` (proof:
    docs/proofs/related_tables.md). Two fifths of rho are for persons, three fifths for events.

    Finite precision
    ----------------
    As for `SpanningTree`.

    Error
    -----
    Each noisy count has the error of its noise. Events of a person are independent of each other given the
    person: nothing is measured about pairs of events.

    Attributes
    ----------
    persons : SpanningTree
        Of the columns of persons; the last column is how many events they have.
    events : EventTree
        Of the columns of events.
    stated : StatedRho
        What was offered.
    names : TableNames
        What the tables are called.
    """

    persons: SpanningTree
    events: EventTree
    stated: StatedRho
    names: TableNames

    @classmethod
    def bought(
        cls,
        persons: Sequence[CodedColumn],
        events: Sequence[CodedColumn],
        *,
        number: Axis,
        offer: Offer,
        rows: int,
        names: TableNames,
    ) -> RelatedTables:
        """Return what an offer buys, or refuse; the data play no part in it."""
        stated = StatedRho.of(offer)
        people = CodedColumns(columns=(*persons, CodedColumn(axis=number)))
        first = SpanningTree(columns=people, rho=stated.rho * _PERSONS)
        second = EventTree.costing(
            people, CodedColumns(columns=tuple(events)), stated.rho * (1 - _PERSONS), rows
        )
        made = cls(persons=first, events=second, stated=stated, names=names)
        made.check_cells()
        return made

    def check_cells(self) -> None:
        """Refuse more cells than can be held at once."""
        self.persons.check_cells()
        shape = self.persons.domain.shape
        cells = sum(prod(shape[column] for column in chosen) for chosen in self.persons.counted_sets)
        if cells + self.events.cells > MOST_CELLS_AT_ONCE:
            raise UnsupportedQuery(
                f"tables of {cells + self.events.cells:,} cells are more than {MOST_CELLS_AT_ONCE:,}; take "
                "fewer columns, wider cells, or a lower limit of events"
            )

    @property
    def event(self) -> Event:
        """All that is drawn for persons, and then for events."""
        return compose([self.persons.event, self.events.event])

    @property
    def guarantee(self) -> ApproximateDP | ZeroConcentratedDP:
        """What is promised, as it was stated."""
        return self.stated.guarantee

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured and chosen, in words."""
        events = self.events
        found = [f"{self.names.persons}: {step}" for step in self.persons.steps]
        deviations = sorted(noise.variance**0.5 for noise in events.column_noises)
        found.append(
            f"{self.names.events}: the counts of {len(deviations)} columns are measured, at most "
            f"{events.rows:,} rows of a person, noise of deviation {deviations[0]:.4g} to "
            f"{deviations[-1]:.4g}"
        )
        if events.pair_noise is not None:
            found.append(
                f"{events.edges} of {len(events.pairs):,} pairs of their columns, with each other or with "
                f"those of {self.names.persons}, are chosen and measured, noise of deviation "
                f"{events.pair_noise.variance**0.5:.4g}"
            )
        return tuple(found)

    def draw(
        self, persons: ExactTables, events: ExactTables
    ) -> tuple[tuple[MeasuredTable, ...], tuple[MeasuredTable, ...]]:
        """Choose and measure: of persons, and then of events. What it returns is public."""
        first = self.persons.draw(persons)
        model = self.persons.model(first)
        return first, self.events.draw(events, self.columns_of_persons(first), model)

    def columns_of_persons(self, measured: Sequence[MeasuredTable]) -> tuple[MeasuredTable, ...]:
        """Return the tables of single columns among what was measured of persons."""
        return tuple(measured[: len(self.persons.domain.shape)])

    def finished(
        self, persons: Sequence[MeasuredTable], events: Sequence[MeasuredTable], *, private: bool
    ) -> RelatedData:
        """Return the synthetic tables of what was measured."""
        held = self.persons.finished(persons, private=private)
        model = self.events.model(events, self.columns_of_persons(persons), held.model)
        return RelatedData(
            persons=held, events=self.events.events, measured=tuple(events), model=model, names=self.names
        )


def number_axis(column: str, rows: int) -> Axis:
    """Return the cells of numbers of events, from 0 to a limit."""
    return default_width(column, Bounds(0, rows), _MOST_NUMBERS)
