"""What a relation over answers gives, given the tables of its measured questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.data.language.expressions import Column, Expression, columns_of
from discreet.queries.answers.combining import combined
from discreet.queries.answers.grouping import grouped
from discreet.queries.answers.joining import joined
from discreet.queries.answers.table import AnswerCells, AnswerTable
from discreet.queries.outputs.calculation import Evaluation
from discreet.queries.question.answer_relations import (
    AnswerRelation,
    Combined,
    Cut,
    Extended,
    Joined,
    Kept,
    Measured,
    OneRow,
    Regrouped,
    Rows,
)
from discreet.queries.question.post_processing import PostProcessing, shown_groups
from discreet.records import dataclass

__all__ = ["Evaluator"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluator:
    """Calculates relations over answers.

    Attributes
    ----------
    parts : sequence of AnswerTable
        The released table of every measured question.
    share : Fraction
        The confidence at which the intervals of the parts hold, each by itself.
    whole : bool
        Whether nothing is cut, so that the result has all the rows that there can be.
    """

    parts: Sequence[AnswerTable]
    share: Fraction
    whole: bool = False

    def of(self, relation: AnswerRelation) -> AnswerTable:
        """Return the table that a checked relation gives."""
        with np.errstate(all="ignore"):  # what overflows is infinite, and what has no value is missing
            return self._of(relation)

    def _of(self, relation: AnswerRelation) -> AnswerTable:
        if isinstance(relation, Measured):
            part = self.parts[relation.part]
            return replace(part, columns={name: part.columns[source] for name, source in relation.columns})
        if isinstance(relation, Rows | OneRow):
            return _public(relation)
        if isinstance(relation, Joined):
            return joined(relation, self._of(relation.one), self._of(relation.other))
        if isinstance(relation, Combined):
            return combined(relation.kind, self._of(relation.one), self._of(relation.other))
        source = self._of(relation.source)
        if isinstance(relation, Extended):
            added = {one.name: calculated(source, one.expression) for one in relation.columns}
            return replace(source, columns={**source.columns, **added})
        if isinstance(relation, Kept):
            return _kept(source, relation.condition)
        if isinstance(relation, Regrouped):
            return grouped(source, relation.keys, relation.columns, self.share)
        if isinstance(relation, Cut):
            return self._cut(source, relation)
        return replace(source, columns={name: source.columns[column] for name, column in relation.columns})

    def _cut(self, table: AnswerTable, relation: Cut) -> AnswerTable:
        """Return the released rows in order, and of these the first.

        What a LIMIT chooses by released values is what is meant from there on: the rows that were chosen,
        in the released table and in the exact one.
        """
        columns: dict[str, Sequence[Any]] = {
            part.column: table.columns[part.column].plain() for part in relation.order
        }
        columns[""] = range(len(table))
        unknown = {
            part.column: found
            for part in relation.order
            if (found := table.columns[part.column].unknown) is not None
        }
        public = table.is_settled and all(table.columns[part.column].is_public for part in relation.order)
        places = shown_groups(PostProcessing(order=relation.order), columns, unknown)
        if relation.limit is None and not relation.offset:
            return table.at(np.array(places, np.int64))
        if public:
            return table.at(np.array(places[relation.offset :][: relation.limit], np.int64))
        if not self.whole:
            places = [place for place in places if table.released[place]]
            places = places[relation.offset :][: relation.limit]
        left = table.at(np.array(places, np.int64))
        chosen = max(len(table), table.chosen_from)
        return replace(left, certain=left.released.copy(), noises=0, chosen_from=chosen)


def calculated(table: AnswerTable, expression: Expression) -> AnswerCells:
    """Return a column that an expression over the others gives."""
    values = {name: cells.values for name, cells in table.columns.items()}
    read = [table.columns[name] for name in sorted(columns_of(expression))]
    if isinstance(expression, Column):
        return read[0]
    unknown = None
    for cells in read:
        if cells.unknown is not None:
            unknown = cells.unknown if unknown is None else unknown | cells.unknown
    return AnswerCells(
        values=Evaluation(values, {}, len(table)).of(expression),
        noises=sum(cells.noises for cells in read),
        bare=any(cells.bare for cells in read),
        unknown=unknown,
    )


def _kept(table: AnswerTable, condition: Expression) -> AnswerTable:
    """Return the rows for which a condition is TRUE of released values, or may be of the exact ones."""
    values: Mapping[str, Any] = {name: cells.values for name, cells in table.columns.items()}
    truth = Evaluation(values, {}, len(table)).truth(condition)
    if all(table.columns[name].is_public for name in columns_of(condition)):
        return table.at(np.flatnonzero(truth.value == 1))
    released = table.released & (truth.value == 1)
    certain = table.certain & truth.true & ~truth.false & ~truth.null
    noises = table.noises + sum(table.columns[name].noises for name in columns_of(condition))
    left = replace(table, released=released, certain=certain, noises=noises)
    return left.at(np.flatnonzero(released | truth.true))


def _public(relation: Rows | OneRow) -> AnswerTable:
    if isinstance(relation, OneRow):
        return AnswerTable(columns={}, released=np.ones(1, np.bool_), certain=np.ones(1, np.bool_))
    listed = relation.rows.rows
    columns = {
        name: AnswerCells.public([row[place].value for row in listed])
        for place, name in enumerate(relation.columns)
    }
    everything = np.ones(len(listed), np.bool_)
    return AnswerTable(columns=columns, released=everything, certain=everything)
