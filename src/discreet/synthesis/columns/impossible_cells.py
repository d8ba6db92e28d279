"""Declared facts about rows, in cells: which combinations of cells have no rows, and where cells must end."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Protocol

from discreet.data import Bounds, Keys
from discreet.data.language.declarations import KeyValue
from discreet.data.tables.row_facts import Chosen, End
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import EPOCH, CodedColumn

__all__ = [
    "CellChoice",
    "ImpossibleCells",
    "chosen_cells",
    "edges_of",
    "grid_place",
    "grid_spans",
    "impossible_cells",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpossibleCells:
    """Rows that do not exist: those in which each of some columns is in one of its listed cells.

    Attributes
    ----------
    columns : tuple of int
        Places of columns, increasing.
    cells : tuple of tuples of int
        For each of these columns, some of its cells, increasing.
    """

    columns: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]


class CellChoice(Protocol):
    """Some cells of a column."""

    def cells(self, column: CodedColumn) -> tuple[int, ...]:
        """Return these cells."""
        ...


def impossible_cells(
    columns: Sequence[CodedColumn], parts: Iterable[tuple[int, Chosen | CellChoice]]
) -> ImpossibleCells | None:
    """Return a fact in cells; None if no row that is counted can have these values.

    Several choices of one column all hold.
    """
    chosen: dict[int, set[int]] = {}
    for place, part in parts:
        column = columns[place]
        cells = set(chosen_cells(column, part) if isinstance(part, Chosen) else part.cells(column))
        chosen[place] = chosen[place] & cells if place in chosen else cells
    if not all(chosen.values()):
        return None
    places = tuple(sorted(chosen))
    return ImpossibleCells(columns=places, cells=tuple(tuple(sorted(chosen[place])) for place in places))


def edges_of(column: CodedColumn, chosen: Chosen) -> tuple[int, ...]:
    """Return the grid points, counted from the lower bound, at which cells must begin; none for keys."""
    if not isinstance(column.axis.values, Bounds):
        return ()
    return tuple(edge for span in grid_spans(column, chosen) for edge in span)


def chosen_cells(column: CodedColumn, chosen: Chosen) -> tuple[int, ...]:
    """Return the cells of the values of a column; every range must begin and end where cells do."""
    found: list[int] = []
    values = column.axis.values
    null_is_key = isinstance(values, Keys) and values.has_null
    if None in chosen.values and column.has_missing and not null_is_key:
        found.append(column.cells - 1)
    if (None, None) in chosen.ranges and column.has_missing and null_is_key:
        found.append(column.cells - 1)  # keys that are not listed, which are values, too
    if isinstance(column.axis.values, Keys):
        return tuple(sorted({*found, *_key_places(column, column.axis.values, chosen)}))
    starts = column.axis.starts
    for first, after in grid_spans(column, chosen):
        found += [cell for cell, start in enumerate(starts) if first <= start < after]
    return tuple(sorted(set(found)))


def _key_places(column: CodedColumn, keys: Keys, chosen: Chosen) -> list[int]:
    """Return the places of keys; where keys were chosen privately, others are among all others."""
    listed: tuple[KeyValue, ...] = keys.values
    single = [value for value in chosen.values if value is not None or None in listed]
    known: dict[tuple[type, object], int] = {(type(key), key): place for place, key in enumerate(listed)}
    places = [known.get((type(value), value), -1) for value in single]
    if -1 in places and not column.chosen:
        raise ParameterError(
            "facts",
            f"name a value of {column.name!r} that is not one of its keys",
            f"keys such as {listed[0]!r}",
        )
    places += [
        place for place, key in enumerate(listed) if any(Chosen(span).holds(key) for span in chosen.ranges)
    ]
    return [place for place in places if place >= 0]


def grid_spans(column: CodedColumn, chosen: Chosen, *, refuse: bool = True) -> list[tuple[int, int]]:
    """Return the grid points of values, as half-open ranges from the lower bound on, within the bounds.

    What is outside the bounds is refused: no value is there, so that the fact is likely not what was meant.
    """
    bounds = column.axis.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    points, low_end = bounds.upper_steps - bounds.lower_steps + 1, bounds.lower_steps

    def above(end: End) -> int:
        return ceil(_number(column, end) / bounds.step) - low_end

    spans = [
        (0 if low is None else above(low), points if high is None else above(high))
        for low, high in chosen.ranges
    ]
    for value in chosen.values:
        if value is not None:  # a number is the grid point that values like it are rounded to
            place = grid_place(column, value)
            spans.append((place, place + 1))
    found: list[tuple[int, int]] = []
    for begun, ended in spans:
        first, after = max(begun, 0), min(ended, points)
        if first >= after and not refuse:
            continue
        if first >= after:
            raise ParameterError(
                "facts",
                f"have a range of {column.name!r} in which its bounds leave nothing",
                "one within them",
            )
        found.append((first, after))
    return found


def grid_place(column: CodedColumn, value: object) -> int:
    """Return the grid point, counted from the lower bound, that a value is rounded to, halves upward."""
    bounds = column.axis.values
    assert isinstance(bounds, Bounds)  # noqa: S101
    exact = Fraction(value) if isinstance(value, float) else _number(column, value)
    return floor(exact / bounds.step + Fraction(1, 2)) - bounds.lower_steps


def _number(column: CodedColumn, value: object) -> Fraction:
    """Return a number, or the number of a day; refuse what the column cannot hold."""
    day = isinstance(value, datetime.date)
    if (
        day == column.dates
        and isinstance(value, int | Fraction | datetime.date)
        and not isinstance(value, bool)
    ):
        return Fraction((value - EPOCH).days) if isinstance(value, datetime.date) else Fraction(value)
    raise ParameterError(
        "facts",
        f"compare {column.name!r} with something else",
        "days" if column.dates else "numbers, or keys where keys are declared",
    )
