"""A synthesizer behind the door: it reads the tables that an engine counted, and what it draws is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import pi, prod, sqrt

import numpy as np

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.curator.request.tabulated_request import TableMechanism
from discreet.privacy.events import Event
from discreet.privacy.sensitivity import Sensitivity
from discreet.synthesis.measuring.exact_tables import CountedTables
from discreet.synthesis.methods.base import Synthesizer
from discreet.synthesis.models.folding import JoinedCells
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.release.synthetic_data import count_margin

__all__ = ["ANSWER_NAMES", "TableSynthesis", "cell_labels"]

ANSWER_NAMES = frozenset({"table", "n", "n_lower", "n_upper"})
"""The columns that the list of measured counts has besides those of the data."""

_JOINED = "(several)"
"""What a joined cell of keys is called in the list of measured tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSynthesis(TableMechanism):
    """A synthesizer and the tables that it reads, in the order of the plan."""

    synthesizer: Synthesizer

    @property
    def event(self) -> Event:
        """That of the synthesizer."""
        return self.synthesizer.event

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """The method, and what it was given besides columns and budget."""
        return {"method": type(self.synthesizer).__name__, **self.synthesizer.options}

    @property
    def remark(self) -> str:
        """What is measured and chosen."""
        return "; ".join(self.synthesizer.steps)

    def covers(self, bound: Sensitivity) -> bool:
        """Return whether one person moves a table by no more rows than the synthesizer was made for."""
        most = self.synthesizer.rows
        return bound.l1 <= most and bound.squared_l2 <= most**2

    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Choose and measure."""
        shape = self.synthesizer.counted.shape
        counted = CountedTables(
            tables={
                chosen: table.reshape([shape[column] for column in chosen])
                for chosen, table in zip(self.synthesizer.counted_sets, tables, strict=True)
            }
        )
        return [
            {"columns": list(one.columns), "counts": np.asarray(one.counts).reshape(-1).tolist()}
            for one in self.synthesizer.draw(counted)
        ]

    def measured(self, drawn: object) -> tuple[MeasuredTable, ...]:
        """Return what was drawn, or raise a `ValueError` if it cannot have been."""
        made = self.synthesizer
        if not isinstance(drawn, list) or len(drawn) != len(made.variances):
            raise ValueError
        many, last = len(made.domain.shape), len(drawn) - len(made.bought_sets)
        found: list[MeasuredTable] = []
        folds: tuple[JoinedCells, ...] = ()
        for place, (one, variance) in enumerate(zip(drawn, made.variances, strict=True)):
            columns, counts = tuple(one["columns"]), np.array(one["counts"], np.int64)
            if place == many:
                folds = made.folds(found)
            if place >= last:
                folds = ()
            expected = (place,) if place < many else made.bought_sets[place - last] if place >= last else None
            if (columns not in made.sets) if expected is None else (columns != expected):
                raise ValueError
            sizes = made.counted.shape
            shape = [folds[column].cells if folds else sizes[column] for column in columns]
            if counts.shape != (prod(shape),):
                raise ValueError
            found.append(MeasuredTable(columns=columns, counts=counts.reshape(shape), variance=variance))
        return tuple(found)

    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return every measured count with its interval, table after table."""
        measured = self.measured(drawn)
        columns, many = self.synthesizer.counted.columns, len(self.synthesizer.domain.columns)
        last = len(measured) - len(self.synthesizer.bought_sets)
        folds = self.synthesizer.folds(measured[:many])
        keys: dict[str, list[object]] = {"table": [], **{column.name: [] for column in columns}}
        values, margins = [], []
        for place, one in enumerate(measured):
            names = ", ".join(columns[column].name for column in one.columns)
            labels = {
                column: cell_labels(columns[column].labels, folds[column] if many <= place < last else None)
                for column in one.columns
            }
            for combination in product(*(labels[column] for column in one.columns)):
                keys["table"].append(names)
                given = dict(zip(one.columns, combination, strict=True))
                for number, column in enumerate(columns):
                    keys[column.name].append(given.get(number))
            values.append(one.counts.reshape(-1))
            margins.append(np.full(one.counts.size, count_margin(one, confidence)))
        counts, widths = np.concatenate(values), np.concatenate(margins)
        return keys, AnswerColumn(name="n", values=counts, lower=counts - widths, upper=counts + widths)

    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return the margin of a count of a column, and of a chosen table."""
        made = self.synthesizer
        many = len(made.domain.shape)
        shape = made.domain.shape
        deviations = [sqrt(variance) for variance in made.variances]
        noise = sum(deviation * cells for deviation, cells in zip(deviations, shape, strict=False)) / many
        kinds = [("columns", max(made.variances[:many]), noise)]
        last = len(made.variances) - len(made.bought_sets) - 1
        if last >= many:
            joined = min(max(sqrt(max(rows, 1) / (2 * deviations[last])), 1.0), max(shape))
            kinds.append(("chosen tables", made.variances[last], deviations[last] * joined**2))
        return tuple(
            Expectation(
                name=name,
                margin=float(count_margin(variance, confidence)),
                standard_deviation=sqrt(variance),
                assumes=f"{rows:,} rows",
                means=f"of each noisy count; total variation of about "
                f"{min(sqrt(2 / pi) * noise / (2 * rows), 1.0):.2g} from noise alone",
            )
            for name, variance, noise in kinds
        )


def cell_labels(labels: Sequence[object], fold: JoinedCells | None) -> list[object]:
    """Return what cells are called; a joined one by its first number, or as several keys."""
    if fold is None or fold.cells == len(labels):
        return list(labels)
    inside: list[list[object]] = [[] for _ in range(fold.cells)]
    for label, place in zip(labels, fold.places.tolist(), strict=True):
        inside[place].append(label)
    return [held[0] if len(held) == 1 or not isinstance(held[0], str) else _JOINED for held in inside]
