"""Two related tables behind the door: persons and events are counted, then measured, and stored together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod, sqrt

import numpy as np

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.curator.request.tabulated_request import TableMechanism
from discreet.data import Statistics
from discreet.privacy.events import Event
from discreet.privacy.sensitivity import Sensitivity
from discreet.synthesis.asking.table_synthesis import TableSynthesis, cell_labels
from discreet.synthesis.measuring.exact_tables import CountedTables
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.related.related_tables import RelatedTables
from discreet.synthesis.release.synthetic_data import count_margin

__all__ = ["RelatedSynthesis"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedSynthesis(TableMechanism):
    """A synthesizer of two tables, and the tables of counts that it reads: of persons, then of events."""

    synthesizer: RelatedTables

    @property
    def event(self) -> Event:
        """That of the synthesizer."""
        return self.synthesizer.event

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What it was given besides columns and budget."""
        return {"method": type(self.synthesizer).__name__, "rows": self.synthesizer.events.rows}

    @property
    def remark(self) -> str:
        """What is measured and chosen."""
        return "; ".join(self.synthesizer.steps)

    def covers(self, bound: Sensitivity) -> bool:
        """Return whether one person moves a table of events by no more rows than it was made for."""
        return _within(bound, self.synthesizer.events.rows)

    def covers_all(self, found: Sequence[Statistics]) -> bool:
        """Return whether one person is one row of persons, and no more events than it was made for."""
        if len(found) != 2:
            return False
        persons, events = found
        return all(_within(one.sensitivity, 1) for one in persons.statistics) and all(
            self.covers(one.sensitivity) for one in events.statistics
        )

    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Choose and measure, of persons and then of events."""
        made = self.synthesizer
        sets, shape = made.persons.counted_sets, made.persons.domain.shape
        persons = _counted(sets, tables[: len(sets)], shape)
        events = _counted(made.events.counted_sets, tables[len(sets) :], made.events.shape)
        found = made.draw(persons, events)
        return {name: _written(one) for name, one in zip(("persons", "events"), found, strict=True)}

    def measured(self, drawn: object) -> tuple[tuple[MeasuredTable, ...], tuple[MeasuredTable, ...]]:
        """Return what was drawn, or raise a `ValueError` if it cannot have been."""
        if not isinstance(drawn, dict) or set(drawn) != {"persons", "events"}:
            raise ValueError
        made = self.synthesizer
        persons = TableSynthesis(synthesizer=made.persons).measured(drawn["persons"])
        listed, events = drawn["events"], made.events
        if not isinstance(listed, list) or len(listed) != len(events.variances):
            raise ValueError
        many = len(events.events.shape)
        found: list[MeasuredTable] = []
        shape = list(events.shape)
        for place, (one, variance) in enumerate(zip(listed, events.variances, strict=True)):
            columns, counts = tuple(one["columns"]), np.array(one["counts"], np.int64)
            if place == many:
                folds = events.folds(found, made.columns_of_persons(persons))
                shape = [fold.cells for fold in folds]
            allowed = columns == (events.first + place,) if place < many else columns in events.pairs
            sizes = [shape[column] for column in columns] if allowed else [-1]
            if counts.shape != (prod(sizes),):
                raise ValueError
            found.append(MeasuredTable(columns=columns, counts=counts.reshape(sizes), variance=variance))
        return persons, tuple(found)

    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return every measured count with its interval, table after table: of persons, then of events."""
        persons, events = self.measured(drawn)
        made = self.synthesizer
        people = TableSynthesis(synthesizer=made.persons)
        first, counted = people.finish(_written(persons), confidence)
        columns = (*made.persons.domain.columns, *made.events.events.columns)
        folds = made.events.folds(events[: len(made.events.events.shape)], made.columns_of_persons(persons))
        keys: dict[str, list[object]] = {name: list(held) for name, held in first.items()}
        keys |= {column.name: [None] * len(keys["table"]) for column in made.events.events.columns}
        values, margins = [], []
        for one in events:
            names = ", ".join(columns[column].name for column in one.columns)
            labels = [
                cell_labels(columns[column].labels, folds[column] if len(one.columns) > 1 else None)
                for column in one.columns
            ]
            for combination in product(*labels):
                given = dict(zip(one.columns, combination, strict=True))
                keys["table"].append(f"{made.names.events}: {names}")
                for number, column in enumerate(columns):
                    keys[column.name].append(given.get(number))
            values.append(one.counts.reshape(-1))
            margins.append(np.full(one.counts.size, count_margin(one, confidence)))
        counts, widths = np.concatenate(values), np.concatenate(margins)
        answered = AnswerColumn(
            name="n",
            values=np.concatenate([counted.values, counts]),
            lower=np.concatenate([counted.lower, counts - widths]),
            upper=np.concatenate([counted.upper, counts + widths]),
        )
        return keys, answered

    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return the margins of counts of persons and of events, if every person has one event at least."""
        made = self.synthesizer
        found = [
            replace(one, name=f"{made.names.persons}: {one.name}", assumes=f"{rows:,} persons")
            for one in TableSynthesis(synthesizer=made.persons).expectations(confidence, rows)
        ]
        many = len(made.events.events.shape)
        for name, variances in (
            ("columns", made.events.variances[:many]),
            ("chosen tables", made.events.variances[many:]),
        ):
            if variances:
                found.append(
                    Expectation(
                        name=f"{made.names.events}: {name}",
                        margin=float(count_margin(max(variances), confidence)),
                        standard_deviation=sqrt(max(variances)),
                        assumes=f"at most {made.events.rows:,} events of a person",
                        means="of each noisy count of events",
                    )
                )
        return tuple(found)


def _within(bound: Sensitivity, rows: int) -> bool:
    return bound.l1 <= rows and bound.squared_l2 <= rows**2


def _counted(
    sets: Sequence[tuple[int, ...]], tables: Sequence[Integers], shape: Sequence[int]
) -> CountedTables:
    return CountedTables(
        tables={
            chosen: table.reshape([shape[column] for column in chosen])
            for chosen, table in zip(sets, tables, strict=True)
        }
    )


def _written(measured: Sequence[MeasuredTable]) -> list[JsonValue]:
    return [
        {"columns": list(one.columns), "counts": np.asarray(one.counts).reshape(-1).tolist()}
        for one in measured
    ]
