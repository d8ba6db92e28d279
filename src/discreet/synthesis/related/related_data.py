"""Two related synthetic tables as they were released. All of it is public."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.related.event_model import EventModel
from discreet.synthesis.release.synthetic_data import SyntheticData

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from discreet.synthesis.related.related_tables import TableNames

__all__ = ["RelatedCodes", "RelatedData"]

_MOST_EVENTS = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedCodes:
    """Rows of both tables as codes.

    Attributes
    ----------
    persons : array of integers
        One line for each person, one entry for each column; the last is the code of their number of events.
    numbers : array of integers
        How many events each person has.
    events : array of integers
        One line for each event, those of the first person first.
    """

    persons: Integers
    numbers: Integers
    events: Integers

    @property
    def owners(self) -> Integers:
        """Whose each event is: the place of the person."""
        return np.repeat(np.arange(len(self.numbers)), self.numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelatedData:
    """Synthetic persons with synthetic events.

    Attributes
    ----------
    persons : SyntheticData
        The table of persons; its last column is how many events each has.
    events : CodedColumns
        The columns of events.
    measured : tuple of MeasuredTable
        The noisy tables of events that were released; columns of persons are numbered first.
    model : EventModel
        Events given persons.
    names : TableNames
        What the tables and their keys are called.
    """

    persons: SyntheticData
    events: CodedColumns
    measured: tuple[MeasuredTable, ...] = field(repr=False)
    model: EventModel = field(repr=False)
    names: TableNames

    @property
    def private(self) -> bool:
        """Whether the noise came from the operating system, not from a replay for tests."""
        return self.persons.private

    @property
    def total(self) -> int:
        """How many persons the measurements say there are."""
        return self.persons.total

    @property
    def total_events(self) -> int:
        """How many events the model expects of so many persons."""
        return round(self.model.total)

    def codes(self, persons: int | None = None, *, seed: int = 0) -> RelatedCodes:
        """Return rows of both tables as codes; the same seed gives the same rows."""
        held = self.persons.codes(persons, seed=seed)
        random = np.random.default_rng([seed, 2])
        drawn = self.persons.domain.columns[-1].decoded(held[:, -1], random)
        numbers = np.array(drawn, np.int64).reshape(-1)
        if numbers.sum() > _MOST_EVENTS:
            raise ParameterError("persons", "have too many events together", "fewer persons")
        events = self.model.sample(np.repeat(held, numbers, axis=0), random)
        return RelatedCodes(persons=held, numbers=numbers, events=events)

    def columns(self, persons: int | None = None, *, seed: int = 0) -> dict[str, dict[str, list[object]]]:
        """Return both tables, column by column, in the units of the data. Keys are numbers from 1 on."""
        found = self.codes(persons, seed=seed)
        random = np.random.default_rng([seed, 3])
        keys: list[object] = list(range(1, len(found.numbers) + 1))
        owners: list[object] = (found.owners + 1).tolist()
        people = self.persons.domain.decoded(found.persons, random)
        # The number of events comes last, and is left out: the table of events says it.
        named = dict(zip(self.names.columns, people.values(), strict=False))
        events = self.events.decoded(found.events, random)
        return {
            self.names.persons: {self.names.person_key: keys, **named},
            self.names.events: {self.names.event_key: owners, **events},
        }

    def to_pandas(self, persons: int | None = None, *, seed: int = 0) -> dict[str, pandas.DataFrame]:
        """Return both tables as pandas frames, by their names.

        Parameters
        ----------
        persons : int, optional
            How many persons; by default as many as the measurements say there are.
        seed : int
            The same seed gives the same rows. Rows are drawn from released values, so that any number of them
            costs nothing.
        """
        import pandas

        found = self.columns(persons, seed=seed)
        return {name: pandas.DataFrame(columns) for name, columns in found.items()}

    def to_arrow(self, persons: int | None = None, *, seed: int = 0) -> dict[str, pyarrow.Table]:
        """Return both tables as Arrow tables, by their names."""
        import pyarrow

        return {name: pyarrow.table(columns) for name, columns in self.columns(persons, seed=seed).items()}

    def __repr__(self) -> str:
        many = sum(len(one.columns) > 1 for one in self.measured)
        return (
            f"RelatedData({self.names.persons}: {len(self.persons.domain.columns) - 1} columns, about "
            f"{self.total:,} persons; {self.names.events}: {len(self.events.columns)} columns, about "
            f"{self.total_events:,} events; {many} pairs measured for events)"
        )
