"""A private fidelity report on two related tables: persons, events, and what is between them, with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import log, prod, sqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.curator.request.tabulated_request import TableMechanism
from discreet.data import Statistics
from discreet.errors import UnsupportedQuery
from discreet.privacy.events import Event, compose
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record
from discreet.synthesis.asking.compared_model import model_digest
from discreet.synthesis.measuring.steps import SCORE_STEPS, TableNoise, distance
from discreet.synthesis.methods.base import MOST_CELLS_AT_ONCE, MOST_TABLE_CELLS
from discreet.synthesis.related.related_data import RelatedData

__all__ = ["RelatedDistances"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedDistances(Record, TableMechanism):
    """The total variation of tables of persons and of events from those of released models.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person with all their events: of each table the L1 distance from a public
    one is an integer that a person moves by at most `SCORE_STEPS`, times their events for tables of events;
    each is measured with discrete Gaussian noise of an equal share of rho (proof:
    docs/proofs/related_tables.md, lemma 5).

    Finite precision
    ----------------
    As for `TableDistances`.

    Error
    -----
    That of the noise, in steps, divided by twice the persons or events that the models say there are.

    Attributes
    ----------
    data : RelatedData
        What was released.
    person_sets : tuple of tuples of int
        The columns of each table of persons that is compared.
    event_sets : tuple of tuples of int
        The columns of each table of events; columns of persons are numbered first.
    rows : int
        How many events of a person count.
    person_noise, event_noise : TableNoise
        What is added to each distance, in steps.
    """

    data: RelatedData = field(repr=False)
    person_sets: tuple[tuple[int, ...], ...]
    event_sets: tuple[tuple[int, ...], ...]
    rows: int
    person_noise: TableNoise
    event_noise: TableNoise
    digest: str = field(init=False, repr=False)
    """What the compared models are, by a hash."""

    def __post_init__(self) -> None:
        data = self.data
        found = model_digest(
            [len(data.persons.measured), data.total, data.total_events],
            (*data.persons.measured, *data.measured),
            (self.estimate(place, chosen) for place, chosen in enumerate(self._sets)),
        )
        self._amend(digest=found)

    @classmethod
    def costing(cls, data: RelatedData, rho: Fraction, rows: int, ways: int) -> RelatedDistances:
        """Return the report on tables of so many columns that costs a rho; pairs across tables included."""
        people = data.persons.domain.shape
        shape = (*people, *data.events.shape)
        first = len(people)
        persons = [one for one in combinations(range(first), ways) if _cells(one, shape)]
        events = [
            one for one in combinations(range(len(shape)), ways) if one[-1] >= first and _cells(one, shape)
        ]
        cells = sum(_cells(one, shape) for one in (*persons, *events))
        if not persons or not events or cells > MOST_CELLS_AT_ONCE:
            raise UnsupportedQuery(
                f"tables of {cells:,} cells cannot be compared at once; at most {MOST_CELLS_AT_ONCE:,} cells "
                "can: take ways=1, fewer columns or wider cells"
            )
        each = rho / (len(persons) + len(events))
        return cls(
            data=data,
            person_sets=tuple(persons),
            event_sets=tuple(events),
            rows=rows,
            person_noise=TableNoise.costing(each, SCORE_STEPS),
            event_noise=TableNoise.costing(each, SCORE_STEPS * rows),
        )

    @property
    def output(self) -> str:
        """What the values are called."""
        return "total_variation"

    @property
    def event(self) -> Event:
        """One distance for each table."""
        persons = self.person_noise.event * len(self.person_sets)
        return compose([persons, self.event_noise.event * len(self.event_sets)])

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What was released, by a hash of the models, and which tables are compared with it."""
        sets: list[JsonValue] = [list(one) for one in self._sets]
        return {"compared": self.digest, "sets": sets, "rows": self.rows}

    @property
    def remark(self) -> str:
        """What is compared."""
        return (
            f"{len(self.person_sets):,} tables of {self.data.names.persons} and {len(self.event_sets):,} of "
            f"{self.data.names.events} are compared with those of released models"
        )

    def covers(self, bound: Sensitivity) -> bool:
        """Return whether one person moves a table of events by no more than the noise was made for."""
        return bound.l1 <= self.rows

    def covers_all(self, found: Sequence[Statistics]) -> bool:
        """Return whether one person is one row of persons, and no more events than the noise is for."""
        if len(found) != 2:
            return False
        persons, events = found
        return all(one.sensitivity.l1 <= 1 for one in persons.statistics) and all(
            self.covers(one.sensitivity) for one in events.statistics
        )

    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Measure each distance: of persons, then of events."""
        found: list[JsonValue] = []
        for place, (chosen, table) in enumerate(zip(self._sets, tables, strict=True)):
            estimate = self.estimate(place, chosen)
            apart = distance(table.reshape(estimate.shape), estimate)
            noisy = self._noise(place).measured((0,), np.array([apart], np.int64)).counts
            found.append(int(noisy[0]))
        return found

    def estimate(self, place: int, columns: tuple[int, ...]) -> Floats:
        """Return the models' table of some columns: public."""
        if place < len(self.person_sets):
            return self.data.persons.model.table(columns)
        return self.data.model.table(columns)

    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the total variation of every table with its interval."""
        if not isinstance(drawn, list) or len(drawn) != len(self._sets):
            raise ValueError("not one distance for each table")
        places = range(len(drawn))
        values = np.array(drawn, np.int64) / np.array([self._scale(place) for place in places])
        widths = np.array([self._margin(place, confidence) for place in places])
        columns = (*self.data.persons.domain.columns, *self.data.events.columns)
        listed = [", ".join(columns[column].name for column in chosen) for chosen in self._sets]
        rows = [
            self.data.names.persons if place < len(self.person_sets) else self.data.names.events
            for place in places
        ]
        column = AnswerColumn(name=self.output, values=values, lower=values - widths, upper=values + widths)
        return {"rows": rows, "table": listed}, column

    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return the margin of each total variation."""
        del rows
        names = self.data.names
        kinds = ((names.persons, 0), (names.events, len(self.person_sets)))
        return tuple(
            Expectation(
                name=f"{self.output} of {name}",
                margin=self._margin(place, confidence),
                standard_deviation=sqrt(self._noise(place).variance) / self._scale(place),
                assumes="as many persons and events as the released models say",
                means="of each table",
            )
            for name, place in kinds
        )

    @property
    def _sets(self) -> tuple[tuple[int, ...], ...]:
        return (*self.person_sets, *self.event_sets)

    def _noise(self, place: int) -> TableNoise:
        return self.person_noise if place < len(self.person_sets) else self.event_noise

    def _scale(self, place: int) -> float:
        """Return how many steps are a total variation of 1."""
        total = self.data.total if place < len(self.person_sets) else self.data.total_events
        return 2.0 * SCORE_STEPS * max(total, 1)

    def _margin(self, place: int, confidence: Fraction) -> float:
        """Return half the width of an interval: noise of variance v is sub-Gaussian with it."""
        return sqrt(2 * self._noise(place).variance * log(2 / float(1 - confidence))) / self._scale(place)


def _cells(chosen: Sequence[int], shape: Sequence[int]) -> int:
    """Return how many cells a table has; 0 if it is too large to be counted."""
    cells = prod(shape[column] for column in chosen)
    return cells if cells <= MOST_TABLE_CELLS else 0
