"""Joins of released tables with each other and with public rows, by columns that no noise enters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.errors import UnsupportedQuery
from discreet.queries.answers.table import AnswerCells, AnswerTable, Flags, Places, check_row_count
from discreet.queries.question.answer_relations import Joined, Paired
from discreet.records import dataclass

__all__ = ["joined"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """Rows of a join: their places in both tables, -1 for none, and whether they are there."""

    one: Places
    other: Places
    released: Flags
    certain: Flags


def joined(relation: Joined, one: AnswerTable, other: AnswerTable) -> AnswerTable:
    """Return pairs of rows that agree, and the rows without a partner that an outer join keeps.

    A row without a partner is there if it is itself and no partner is: for sure if none can be, possibly if
    none is for sure.
    """
    matches = _matches(relation.on, one, other)
    check_row_count(sum(map(len, matches)))
    first = np.repeat(np.arange(len(one)), [len(found) for found in matches])
    second = np.array([place for found in matches for place in found], np.int64)
    parts = [
        _Pairs(
            one=first,
            other=second,
            released=one.released[first] & other.released[second],
            certain=one.certain[first] & other.certain[second],
        )
    ]
    if relation.left:
        lonely = _alone(one, other, matches)
        parts.append(_Pairs(one=lonely[0], other=_none(lonely[0]), released=lonely[1], certain=lonely[2]))
    if relation.right:
        back: list[list[int]] = [[] for _ in range(len(other))]
        for place, found in enumerate(matches):
            for partner in found:
                back[partner].append(place)
        lonely = _alone(other, one, back)
        parts.append(_Pairs(one=_none(lonely[0]), other=lonely[0], released=lonely[1], certain=lonely[2]))
    firsts = np.concatenate([part.one for part in parts])
    seconds = np.concatenate([part.other for part in parts])
    check_row_count(len(firsts))
    columns = {
        **{name: _beside(cells, one).at(firsts) for name, cells in one.columns.items()},
        **{name: _beside(cells, other).at(seconds) for name, cells in other.columns.items()},
    }
    return AnswerTable(
        columns=columns,
        released=np.concatenate([part.released for part in parts]),
        certain=np.concatenate([part.certain for part in parts]),
        noises=_deciding(relation, one, other, matches),
        chosen_from=_chosen_from(one, other),
    )


def _matches(on: Sequence[Paired], one: AnswerTable, other: AnswerTable) -> list[list[int]]:
    """Return the places in the other table that each row of the first agrees with; NULL agrees with none."""
    if not on:
        check_row_count(len(one) * len(other))
        return [list(range(len(other)))] * len(one)
    if not all(one.columns[pair.left].is_public and other.columns[pair.right].is_public for pair in on):
        raise UnsupportedQuery("answers are joined by released numbers; join them by their keys")
    index: dict[tuple[object, ...], list[int]] = {}
    keys = zip(*(other.columns[pair.right].plain() for pair in on), strict=True)
    for place, key in enumerate(keys):
        if None not in key:
            index.setdefault(key, []).append(place)
    wanted = zip(*(one.columns[pair.left].plain() for pair in on), strict=True)
    return [[] if None in key else index.get(key, []) for key in wanted]


def _alone(
    one: AnswerTable, other: AnswerTable, matches: Sequence[Sequence[int]]
) -> tuple[Places, Flags, Flags]:
    """Return the rows that may have no partner, and whether they have none, as released and for sure."""
    places, released, certain = [], [], []
    for place, found in enumerate(matches):
        partners = np.array(found, np.int64)
        shown = bool(one.released[place] and not other.released[partners].any())
        if not shown and other.certain[partners].any():
            continue
        places.append(place)
        released.append(shown)
        certain.append(bool(one.certain[place] and not len(partners)))
    return np.array(places, np.int64), np.array(released, np.bool_), np.array(certain, np.bool_)


def _beside(cells: AnswerCells, table: AnswerTable) -> AnswerCells:
    """Return a column that comes beside other rows; where LIMIT chose its row, it may be any of them."""
    return replace(cells, noises=cells.noises * max(table.chosen_from, 1))


def _none(places: Places) -> Places:
    return np.full(len(places), -1, np.int64)


def _deciding(
    relation: Joined, one: AnswerTable, other: AnswerTable, matches: Sequence[Sequence[int]]
) -> int:
    """Return how many released numbers decide about a row; one without a partner depends on all of them."""
    if not (relation.left or relation.right):
        return one.noises + other.noises
    most = max((len(found) for found in matches), default=0)
    return one.noises * max(len(one) if relation.right else 1, 1) + other.noises * max(most, 1)


def _chosen_from(one: AnswerTable, other: AnswerTable) -> int:
    if not (one.chosen_from or other.chosen_from):
        return 0
    return max(len(one), one.chosen_from) * max(len(other), other.chosen_from)
