"""The answer of a statement: its relation over the released tables of its questions.

Error
-----
Let K be the number of released numbers that enter one value of a column, those included that decide which
rows enter it. Every interval of a part is made at the confidence 1 - (1 - c) / K, so that with probability c
all K hold, and the interval of the value holds what the statement gives for the exact statistics (proof:
statements, theorem 5). K follows from the keys alone, before anything is drawn: `noises_counted` finds it in
a table in which every number is possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from discreet.curator.release.release import as_drawn
from discreet.curator.request.compound_request import Assembly
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Request
from discreet.queries.answers.evaluate import Evaluator
from discreet.queries.answers.leaves import open_table, released_table, supposed_table
from discreet.queries.answers.table import AnswerCells, AnswerTable
from discreet.queries.outputs.base import of_several
from discreet.queries.outputs.calculated import BY_NOISE, NO_INTERVAL
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.question.answer_relations import AnswerRelation
from discreet.records import dataclass

__all__ = ["AssembledStatement", "noises_counted"]

_EXACT = 2.0**53
_OPEN = Fraction(1, 2)
"""Any confidence will do where nothing is known."""


def noises_counted(relation: AnswerRelation, requests: Sequence[Request]) -> AnswerTable:
    """Return the table with all rows that there can be, and how many noises enter each column; or refuse it.

    What is refused is what the keys make too large, before anything is charged.
    """
    parts = [open_table(request) for request in requests]
    return Evaluator(parts=parts, share=_OPEN, whole=True).of(relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledStatement(Assembly):
    """What a statement makes of its answers.

    Attributes
    ----------
    relation : AnswerRelation
        What is calculated.
    keys, names : tuples of str
        Its columns: those that name the rows, and the others.
    noises : tuple of int
        How many released numbers enter a value of each of `names`.
    """

    relation: AnswerRelation
    keys: tuple[str, ...]
    names: tuple[str, ...]
    noises: tuple[int, ...]

    @classmethod
    def of(
        cls, relation: AnswerRelation, keys: tuple[str, ...], names: tuple[str, ...], table: AnswerTable
    ) -> AssembledStatement:
        """Return what makes the answer, given what `noises_counted` found."""
        noises = tuple(max(table.columns[name].noises, 1) for name in names)
        return cls(relation=relation, keys=keys, names=names, noises=noises)

    def finish(
        self, requests: Sequence[Request], draws: Sequence[Sequence[Draw]], confidence: Fraction
    ) -> tuple[Mapping[str, Sequence[object]], tuple[AnswerColumn, ...]]:
        """Return the released rows, with intervals."""
        tables = {
            noises: self._table(
                [
                    released_table(request, drawn, of_several(confidence, noises))
                    for request, drawn in zip(requests, draws, strict=True)
                ],
                of_several(confidence, noises),
            )
            for noises in {*self.noises, 1}
        }
        keys = {name: tables[1].columns[name].plain() for name in self.keys}
        drawn = [draw for some in draws for draw in some]
        columns = tuple(
            _column(name, tables[noises].columns[name], drawn)
            for name, noises in zip(self.names, self.noises, strict=True)
        )
        return keys, columns

    def expect(self, requests: Sequence[Request], confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong every column will be for plausible statistics of a number of rows.

        The margin is the widest of all rows. The deviation is of first order, as if all groups were alike:
        one value of each question's table is moved, in the first row and in another.
        """
        found = []
        for name, noises in zip(self.names, self.noises, strict=True):
            share = of_several(confidence, noises)
            parts = [supposed_table(request, share, rows) for request in requests]
            whole = Evaluator(parts=parts, share=share, whole=True)
            cells = whole.of(self.relation).columns[name]
            found.append(_expected(name, cells, self._deviation(name, requests, whole, rows), rows))
        return tuple(found)

    def _table(self, parts: Sequence[AnswerTable], share: Fraction) -> AnswerTable:
        table = Evaluator(parts=parts, share=share).of(self.relation)
        return table.at(np.flatnonzero(table.released))

    def _deviation(self, name: str, requests: Sequence[Request], before: Evaluator, rows: int) -> float:
        first = _first(before.of(self.relation).columns[name])
        squares = 0.0
        for place, request in enumerate(requests):
            groups = request.plan.cells
            for output in request.outputs:
                for row, often in ((0, 1), (1, groups - 1))[: min(groups, 2)]:
                    parts = list(before.parts)
                    parts[place] = supposed_table(request, before.share, rows, moved=(output.name, row))
                    moved = Evaluator(parts=parts, share=before.share, whole=True).of(self.relation)
                    squares += often * (_first(moved.columns[name]) - first) ** 2
        return sqrt(squares) if isfinite(squares) else inf


def _first(cells: AnswerCells) -> float:
    if not isinstance(cells.values, PossibleNumbers) or not len(cells.values.value):
        return 0.0
    return float(cells.values.value[0])


def _expected(name: str, cells: AnswerCells, deviation: float, rows: int) -> Expectation:
    values = cells.values
    if cells.is_public:
        return Expectation(name=name, margin=0.0, standard_deviation=0.0, means="exact")
    if not isinstance(values, PossibleNumbers):
        return Expectation(name=name, margin=0.0, standard_deviation=0.0, means=BY_NOISE)
    with np.errstate(invalid="ignore"):
        reach = np.maximum(values.high - values.value, values.value - values.low)
    margin = float(np.max(reach, initial=0.0))
    known = isfinite(margin) and isfinite(deviation)
    return Expectation(
        name=name,
        margin=margin if known else inf,
        standard_deviation=deviation if known else inf,
        assumes=f"{rows} rows in every group, and sums as large as bounds allow" if known else "",
        means="" if known else "depends on the values",
    )


def _column(name: str, cells: AnswerCells, draws: Sequence[Draw]) -> AnswerColumn:
    """Return a column of the answer: numbers with intervals, other values as they were released."""
    values = cells.values
    if not isinstance(values, PossibleNumbers) or cells.is_public:
        return _without_interval(name, cells)
    value, none = values.value, values.low > values.high
    low, high = values.low, values.high
    if cells.law is None:  # a count as it was measured may lie outside of what is possible
        low, high = np.fmin(low, value), np.fmax(high, value)
    lower, upper = np.where(none, np.nan, low), np.where(none, np.nan, high)
    unknown = np.isinf(lower) | np.isinf(upper) | np.isnan(value)
    if cells.unknown is not None:
        unknown = unknown | cells.unknown
    arrays: list[Any] = [value, lower, upper]
    if values.whole and all(bool((np.abs(array) < _EXACT).all()) for array in arrays):
        arrays = [array.astype(np.int64) for array in arrays]
    value, lower, upper = (as_drawn(array, draws) for array in arrays)
    if cells.bare:
        return AnswerColumn(name=name, values=value, offers=NO_INTERVAL, unknown=unknown)
    return AnswerColumn(name=name, values=value, lower=lower, upper=upper, unknown=unknown)


def _without_interval(name: str, cells: AnswerCells) -> AnswerColumn:
    offers = "" if cells.is_public else BY_NOISE
    listed = cells.plain()
    values = np.empty(len(listed), np.object_)
    values[:] = listed
    kinds = {type(value) for value in listed}
    if kinds == {int} and all(abs(value) < 1 << 63 for value in listed):
        return AnswerColumn(name=name, values=values.astype(np.int64), offers=offers)
    if kinds and kinds <= {int, float}:
        return AnswerColumn(name=name, values=values.astype(np.float64), offers=offers)
    return AnswerColumn(name=name, values=values, offers=offers)
