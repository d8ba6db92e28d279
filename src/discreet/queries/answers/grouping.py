"""GROUP BY over released tables.

Rows that agree in their keys are a group. If noise enters a key, the released table groups by released
values, while of the exact one it is open which group a row is in: every row may be in every group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from discreet.data import Aggregate, AggregateFunction
from discreet.data.language.expressions import Column
from discreet.errors import UnsupportedQuery
from discreet.queries.answers.aggregates import Ends, aggregate_of_numbers, count_of
from discreet.queries.answers.table import AnswerCells, AnswerTable, Flags, NoiseLaw, Places
from discreet.queries.outputs.base import of_several
from discreet.queries.outputs.calculation import PossibleWords, words_of
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.records import dataclass
from discreet.workloads.error.intervals import half_width

__all__ = ["distinct_rows", "grouped"]

_MOST_PAIRS = 10_000_000
"""How many pairs of a group and a row may be looked at, where every row may be in every group."""
_LAWFUL = {AggregateFunction.SUM, AggregateFunction.MEAN}
_ROUNDING = 2.0**-52


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """The rows that may be in a group, which of them are so in the released table, and which for sure."""

    rows: Places
    released: Flags
    certain: Flags


def grouped(
    table: AnswerTable, keys: Sequence[str], columns: Sequence[tuple[str, Aggregate]], share: Fraction
) -> AnswerTable:
    """Return one row for each group, with aggregates.

    Parameters
    ----------
    table : AnswerTable
        What is grouped.
    keys : sequence of str
        By which columns; without any there is one group, even of no rows.
    columns : sequence of (name, Aggregate)
        What is calculated of each group; aggregates are of columns.
    share : Fraction
        The confidence of the interval of a sum of noises.
    """
    public = all(table.columns[key].is_public for key in keys)
    groups, firsts = _groups(table, keys, public=public)
    largest = len(table) if not public else max((len(one.rows) for one in groups), default=0)
    deciding = [] if public else [table.columns[key] for key in keys]
    found = {key: replace(table.columns[key].at(firsts), law=None) for key in keys}
    for key in keys if not public else ():
        found[key] = replace(found[key], values=_definite(found[key]))
    for name, aggregate in columns:
        found[name] = _Aggregation(table, aggregate, share).over(groups, largest, deciding)
    whole = not keys
    return AnswerTable(
        columns=found,
        released=np.array([whole or bool(one.released.any()) for one in groups], np.bool_),
        certain=np.array([whole or bool(one.certain.any()) for one in groups], np.bool_),
        noises=0 if whole else table.entering(deciding, largest),
    )


def distinct_rows(table: AnswerTable) -> AnswerTable:
    """Return each row once.

    Rows are the same if their released values are. If noise enters a column, the exact rows may be the same
    although these are not, or the other way round, so that no row is there for sure but a single one.
    """
    names = list(table.columns)
    if all(cells.is_public for cells in table.columns.values()):
        return grouped(table, names, (), Fraction(1, 2))
    seen: dict[tuple[object, ...], int] = {}
    for place, row in enumerate(_rows(table, names)):
        if row not in seen or not table.released[seen[row]]:
            seen[row] = place
    left = table.at(np.array(sorted(seen.values()), np.int64))
    certain = left.certain & (len(left) == 1)
    noises = table.entering(list(table.columns.values()), len(table))
    return replace(left, certain=certain, noises=noises)


def _groups(table: AnswerTable, keys: Sequence[str], *, public: bool) -> tuple[list[_Group], Places]:
    """Return the groups, in the order in which they first occur, and the first row of each."""
    if not keys:
        everything = np.arange(len(table))
        one = _Group(rows=everything, released=table.released, certain=table.certain)
        return [one], np.zeros(0, np.int64)
    members: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(_rows(table, keys)):
        members.setdefault(row, []).append(place)
    listed = [np.array(places, np.int64) for places in members.values()]
    firsts = np.array([places[0] for places in listed], np.int64)
    if public:
        groups = [
            _Group(rows=rows, released=table.released[rows], certain=table.certain[rows]) for rows in listed
        ]
        return groups, firsts
    if len(listed) * len(table) > _MOST_PAIRS:
        raise too_many_groups()
    everything, nothing, groups = np.arange(len(table)), np.zeros(len(table), np.bool_), []
    for rows in listed:
        here = nothing.copy()
        here[rows] = table.released[rows]
        groups.append(_Group(rows=everything, released=here, certain=nothing))
    return groups, firsts


def too_many_groups() -> UnsupportedQuery:
    """Return the refusal of groups by released numbers of too many rows."""
    return UnsupportedQuery(
        "GROUP BY or DISTINCT on released numbers is asked of too many groups; group by keys, or sort the "
        "numbers into a few classes with CASE"
    )


def _rows(table: AnswerTable, names: Sequence[str]) -> list[tuple[object, ...]]:
    return list(zip(*(table.columns[name].plain() for name in names), strict=True))


def _definite(cells: AnswerCells) -> PossibleNumbers | PossibleWords:
    """Return the released values as they are: a group that is named by a value has that value."""
    values = cells.values
    if not isinstance(values, PossibleNumbers):
        return words_of(values)
    missing = np.isnan(values.value)
    low, high = np.where(missing, inf, values.value), np.where(missing, -inf, values.value)
    return replace(values, low=low, high=high, null=missing)


class _Aggregation:
    """One aggregate of a table, group by group."""

    def __init__(self, table: AnswerTable, aggregate: Aggregate, share: Fraction) -> None:
        self._table, self._aggregate, self._share = table, aggregate, share
        operand = aggregate.operand
        self._cells = table.columns[operand.name] if isinstance(operand, Column) else None

    def over(self, groups: Sequence[_Group], largest: int, deciding: Sequence[AnswerCells]) -> AnswerCells:
        """Return a column with the aggregate of each group.

        Parameters
        ----------
        groups : sequence of groups
            The groups.
        largest : int
            How many rows the largest has.
        deciding : sequence of AnswerCells
            The columns whose noise decides which group a row is in.
        """
        cells, function = self._cells, self._aggregate.function
        read = [*deciding, *([] if cells is None else [cells])]
        noises = self._table.entering(read, largest)
        bare = any(one.bare for one in read)
        if cells is None:
            ends = [count_of(one.released, one.certain) for one in groups]
            return AnswerCells(values=_numbers(ends, whole=True), noises=noises, bare=bare)
        unknown = None
        if cells.unknown is not None:
            unknown = np.array([bool(cells.unknown[one.rows].any()) for one in groups], np.bool_)
        if function is AggregateFunction.COUNT_DISTINCT:
            ends = [self._distinct(cells, one) for one in groups]
            return AnswerCells(values=_numbers(ends, whole=True), noises=noises, bare=bare)
        if not isinstance(cells.values, PossibleNumbers):
            return self._of_words(words_of(cells.values), groups, noises)
        if cells.law is not None and function in _LAWFUL and self._table.is_settled and not deciding:
            values = self._by_law(cells.values, cells.law, groups)
            return AnswerCells(values=values, noises=1, bare=bare, unknown=unknown)
        ends = [self._ends(cells.values, one) for one in groups]
        counted = function is AggregateFunction.COUNT
        whole = counted or (cells.values.whole and function in _STAYS_WHOLE)
        values = _numbers(ends, whole=whole)
        return AnswerCells(values=values, noises=noises, bare=bare, unknown=None if counted else unknown)

    def _ends(self, values: PossibleNumbers, group: _Group) -> Ends:
        numbers = PossibleNumbers(
            low=values.low[group.rows],
            value=values.value[group.rows],
            high=values.high[group.rows],
            null=values.null[group.rows],
            whole=values.whole,
        )
        return aggregate_of_numbers(
            self._aggregate.function, numbers, group.released, group.certain, self._aggregate.parameter
        )

    def _distinct(self, cells: AnswerCells, group: _Group) -> Ends:
        values = cells.plain()

        def count(rows: Places) -> int:
            return len({values[row] for row in rows} - {None})

        released = float(count(group.rows[group.released]))
        if cells.is_public:
            return float(count(group.rows[group.certain])), released, float(count(group.rows)), False
        sure = 0.0
        if isinstance(cells.values, PossibleNumbers):
            sure = float((group.certain & ~cells.values.null[group.rows]).any())
        return sure, released, float(len(group.rows)), False

    def _of_words(self, words: PossibleWords, groups: Sequence[_Group], noises: int) -> AnswerCells:
        """Return the least or the largest text, date or truth value; or how many there are."""
        function, ends, found = self._aggregate.function, [], []
        missing = np.array([value is None for value in words.values], np.bool_)
        for one in groups:
            present = one.rows[~missing[one.rows]] if words.certain else one.rows
            sure = int((one.certain & ~missing[one.rows]).sum()) if words.certain else 0
            released = [words.values[row] for row in one.rows[one.released] if not missing[row]]
            ends.append((float(sure), float(len(released)), float(len(present)), False))
            extreme = min if function is AggregateFunction.MINIMUM else max
            found.append(extreme(released) if released else None)
        if function is AggregateFunction.COUNT:
            return AnswerCells(values=_numbers(ends, whole=True), noises=noises)
        values = np.empty(len(found), np.object_)
        values[:] = found
        return AnswerCells(values=PossibleWords(values=values, certain=noises == 0), noises=noises)

    def _by_law(self, values: PossibleNumbers, law: NoiseLaw, groups: Sequence[_Group]) -> PossibleNumbers:
        """Return sums or means of numbers with independent noises, whose sum has an interval of its own.

        A noise that several rows have counts as often. Sums of counts are at least 0.
        """
        ends: list[Ends] = []
        share = of_several(self._share, len(law.terms))
        for one in groups:
            rows = one.rows[law.places[one.rows] >= 0]
            _, often = np.unique(law.places[rows], return_counts=True)
            factor = float((often.astype(np.float64) ** 2).sum())
            reach = sum(float(abs(by)) * half_width(noise, factor, share) for noise, by in law.terms)
            numbers = values.value[rows]
            total, size = float(numbers.sum()), float(np.abs(numbers).sum())
            reach += (len(rows) + 4) * _ROUNDING * (size + reach)
            ends.append(
                (total - reach, total, total + reach, False) if len(rows) else (inf, np.nan, -inf, True)
            )
        sums = _numbers(ends, whole=values.whole)
        if law.counts:
            none = sums.low > sums.high
            low, high = np.maximum(sums.low, 0.0), np.where(none, sums.high, np.maximum(sums.high, 0.0))
            sums = replace(sums, low=low, high=high)
        if self._aggregate.function is AggregateFunction.SUM:
            return sums
        counts = np.array([max(int((law.places[one.rows] >= 0).sum()), 1) for one in groups], np.float64)
        return PossibleNumbers(
            low=sums.low / counts - _ROUNDING * np.abs(sums.low / counts),
            value=sums.value / counts,
            high=sums.high / counts + _ROUNDING * np.abs(sums.high / counts),
            null=sums.null,
        )


_STAYS_WHOLE = {
    AggregateFunction.SUM,
    AggregateFunction.MINIMUM,
    AggregateFunction.MAXIMUM,
    AggregateFunction.QUANTILE,
}


def _numbers(ends: Sequence[Ends], *, whole: bool) -> PossibleNumbers:
    low, value, high, null = zip(*ends, strict=True) if ends else ((), (), (), ())
    least, most = np.array(low, np.float64), np.array(high, np.float64)
    return PossibleNumbers(
        low=np.ceil(least) if whole else least,  # an integer within the ends
        value=np.array(value, np.float64),
        high=np.floor(most) if whole else most,
        null=np.array(null, np.bool_),
        whole=whole,
    )
