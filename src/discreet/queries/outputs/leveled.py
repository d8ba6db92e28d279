"""An output at several levels: totals are made of the same noisy integers as the groups they total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part
from discreet.data import GroupKey, Measure
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.summed import exact_sums, summed_draw, summed_part
from discreet.queries.question.answer_levels import AnswerLevels
from discreet.records import dataclass

__all__ = ["LeveledOutput"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeveledOutput(QueryOutput):
    """An output whose measures add up, for every level of an answer.

    Totals are sums of the released integers of the finest groups, so that all levels agree. A total is about
    the same rows as these groups: those with declared or chosen keys, within the limits of each person.

    Error
    -----
    As that of the output itself, with the law of a sum of as many noises as a total has groups (proof:
    windows, lemma 4).

    Attributes
    ----------
    name : str
        The name of the column.
    output : QueryOutput
        What is measured in the finest groups.
    keys : tuple of GroupKey
        Of the finest groups.
    levels : tuple of tuples of bool
        By which of them each level is grouped.
    """

    name: str
    output: QueryOutput
    keys: tuple[GroupKey, ...]
    levels: AnswerLevels

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Those of the output."""
        return self.output.measures

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """Those of the output."""
        return self.output.weights

    @property
    def formula(self) -> str:
        """That of the output."""
        return self.output.formula

    @property
    def empty_is_null(self) -> bool:
        """As for the output."""
        return self.output.empty_is_null

    @property
    def identity(self) -> dict[str, object]:
        """None of its own."""
        return {}

    def supposed(self, rows: int) -> float:
        """What the output would be in the largest total."""
        return self.output.supposed(rows * max(map(self._groups, self.levels)))

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return the columns of all levels, one after the other."""
        columns = []
        for level in self.levels:
            count = self._groups(level)
            added = draws if count == 1 else [self._summed(draw, level, count) for draw in draws]
            columns.append(self.output.finish(added, confidence))
        return _joined(columns)

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the error of the largest total; that of finer levels is less."""
        count = max(map(self._groups, self.levels))
        added = [summed_part(part, count) for part in parts]
        found = self.output.expect(added, confidence, rows * count)
        return replace(found, means="; ".join([*filter(None, [found.means]), f"of {count} groups together"]))

    def _groups(self, level: Sequence[bool]) -> int:
        """Return how many of the finest groups a group of a level is made of."""
        pairs = zip(self.keys, level, strict=True)
        return prod(len(key.values) for key, grouped in pairs if not grouped)

    def _summed(self, draw: Draw, level: Sequence[bool], count: int) -> Draw:
        steps = exact_sums(draw.steps, count).reshape([len(key.values) for key in self.keys])
        left_out = tuple(place for place, grouped in enumerate(level) if not grouped)
        return summed_draw(draw, np.asarray(steps.sum(axis=left_out)).reshape(-1), count)


def _joined(columns: Sequence[AnswerColumn]) -> AnswerColumn:
    first = columns[0]
    excesses = [column.excess for column in columns if column.excess is not None]
    lower, upper = ([getattr(column, end) for column in columns] for end in ("lower", "upper"))
    unknown = [
        np.zeros(len(column.values), np.bool_) if column.unknown is None else np.asarray(column.unknown)
        for column in columns
    ]
    return replace(
        first,
        values=np.concatenate([column.values for column in columns]),
        lower=None if first.lower is None else np.concatenate(lower),
        upper=None if first.upper is None else np.concatenate(upper),
        unknown=None if all(column.unknown is None for column in columns) else np.concatenate(unknown),
        excess=max(excesses) if excesses else None,
    )
