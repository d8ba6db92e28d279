"""UNION, INTERSECT and EXCEPT of released tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.answers.grouping import distinct_rows
from discreet.queries.answers.table import AnswerCells, AnswerTable, check_row_count
from discreet.queries.outputs.calculation import Evaluated, PossibleTruths, PossibleWords, words_of
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.question.answer_relations import Combination

__all__ = ["combined"]


def combined(kind: Combination, one: AnswerTable, other: AnswerTable) -> AnswerTable:
    """Return the rows of two tables together, those of both, or those of the first alone.

    All but UNION ALL show each row once. INTERSECT and EXCEPT are of columns that no noise enters: a row is
    in the other table as released if it is there, for sure if it is there for sure, possibly if it may be.
    """
    other = replace(other, columns=dict(zip(one.columns, other.columns.values(), strict=True)))
    if kind is Combination.ALL:
        return _stacked(one, other)
    if kind is Combination.UNION:
        return distinct_rows(_stacked(one, other))
    one, other = distinct_rows(one), distinct_rows(other)
    places = {row: place for place, row in enumerate(_rows(other))}
    found = [places.get(row, -1) for row in _rows(one)]
    released, certain, possible = (
        _padded(flags)[found] for flags in (other.released, other.certain, np.ones(len(other), np.bool_))
    )
    noises = one.noises + other.noises
    if kind is Combination.INTERSECT:
        left = replace(one, released=one.released & released, certain=one.certain & certain, noises=noises)
        return left.at(np.flatnonzero(possible))
    left = replace(one, released=one.released & ~released, certain=one.certain & ~possible, noises=noises)
    return left.at(np.flatnonzero(left.released | ~certain))


def _stacked(one: AnswerTable, other: AnswerTable) -> AnswerTable:
    check_row_count(len(one) + len(other))
    chosen = 0
    if one.chosen_from or other.chosen_from:
        chosen = max(len(one), one.chosen_from) + max(len(other), other.chosen_from)
    return AnswerTable(
        columns={name: _joined(one.columns[name], other.columns[name]) for name in one.columns},
        released=np.concatenate([one.released, other.released]),
        certain=np.concatenate([one.certain, other.certain]),
        noises=max(one.noises, other.noises),
        chosen_from=chosen,
    )


def _joined(one: AnswerCells, other: AnswerCells) -> AnswerCells:
    unknown = None
    if one.unknown is not None or other.unknown is not None:
        unknown = np.concatenate(
            [
                np.zeros(_length(cells.values), np.bool_) if cells.unknown is None else cells.unknown
                for cells in (one, other)
            ]
        )
    return AnswerCells(
        values=_under_each_other(one.values, other.values),
        noises=max(one.noises, other.noises),
        bare=one.bare or other.bare,
        unknown=unknown,
        listed=None
        if one.listed is None or other.listed is None
        else np.concatenate([one.listed, other.listed]),
    )


def _under_each_other(one: Evaluated, other: Evaluated) -> Evaluated:
    if isinstance(one, PossibleNumbers) and isinstance(other, PossibleNumbers):
        low, value, high, null = (
            np.concatenate([getattr(one, part), getattr(other, part)])
            for part in ("low", "value", "high", "null")
        )
        return PossibleNumbers(low=low, value=value, high=high, null=null, whole=one.whole and other.whole)
    if isinstance(one, PossibleTruths) and isinstance(other, PossibleTruths):
        value, true, false, null = (
            np.concatenate([getattr(one, part), getattr(other, part)])
            for part in ("value", "true", "false", "null")
        )
        return PossibleTruths(value=value, true=true, false=false, null=null)
    first, second = words_of(one), words_of(other)
    values = np.concatenate([first.values, second.values])
    return PossibleWords(values=values, certain=first.certain and second.certain)


def _length(values: Evaluated) -> int:
    return len(values.values if isinstance(values, PossibleWords) else values.value)


def _rows(table: AnswerTable) -> list[tuple[object, ...]]:
    return list(zip(*(cells.plain() for cells in table.columns.values()), strict=True))


def _padded(flags: NDArray[np.bool_]) -> NDArray[Any]:
    """Return flags with one more, which is what the place -1 means: not there."""
    return np.append(flags, False)
