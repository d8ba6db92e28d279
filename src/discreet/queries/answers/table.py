"""A table of answers: released rows, and which rows and numbers the exact statistics can give.

A table stands for two: the released one, and the exact one, which the same statement gives for the exact
statistics. It has a row for every row that is in the released table or may be in the exact one. Suppose that
every released number lies within its interval. Then (the invariant that every operation keeps)

- the rows that are marked `released`, with their values, are the released table;
- the exact table has every row that is marked `certain`, and no row that is not here, and what it has in each
  row is possible by the column.

How many intervals must hold for this is counted in `noises`, so that a union bound can be taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries.outputs.calculation import (
    Evaluated,
    PossibleTruths,
    PossibleWords,
    evaluated_values,
    words_of,
)
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.records import dataclass

__all__ = ["LARGEST_TABLE", "AnswerCells", "AnswerTable", "Flags", "NoiseLaw", "Places", "check_row_count"]

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

LARGEST_TABLE = 1_000_000
"""How many rows a table of answers may have: what is done with answers takes limited memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseLaw:
    """That a column is exact numbers plus independent noises, so that sums of it have less noise than bounds.

    Attributes
    ----------
    terms : tuple of (mechanism, factor)
        The noise of a number is the sum of the noises of the mechanisms in steps, each times its factor.
    places : array of integers
        Which of the independent noises each row has; -1 where the row has no number.
    counts : bool
        Whether the exact numbers are counts, which are not negative.
    """

    terms: tuple[tuple[Laplace | Gaussian, Fraction], ...]
    places: Places
    counts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCells:
    """A column.

    Attributes
    ----------
    values : PossibleNumbers, PossibleWords or PossibleTruths
        As released, and what is possible.
    noises : int
        At most how many released numbers enter one of its values; 0 if no noise does.
    law : NoiseLaw, optional
        Its law, if it is a count or a sum as it was measured.
    bare : bool
        Whether something enters that has no interval.
    unknown : array of booleans, optional
        Where the noise leaves nothing to be said.
    listed : array of objects, optional
        Public values as they are: integers of any size stay apart.
    """

    values: Evaluated
    noises: int = 0
    law: NoiseLaw | None = None
    bare: bool = False
    unknown: Flags | None = None
    listed: NDArray[np.object_] | None = None

    @classmethod
    def public(cls, values: Sequence[Any]) -> AnswerCells:
        """Return a column of public values."""
        listed = np.empty(len(values), np.object_)
        listed[:] = values
        return cls(values=evaluated_values(values), listed=listed)

    def at(self, places: Places) -> AnswerCells:
        """Return the values at some places; NULL at -1."""
        law = self.law
        if law is not None:
            law = replace(law, places=np.where(places < 0, -1, _padded(law.places, -1)[places]))
        unknown = self.unknown
        if unknown is not None:
            unknown = _padded(unknown, False)[places]
        listed = self.listed
        if listed is not None:
            listed = _padded(listed, None)[places]
        values = _taken(self.values, places)
        return replace(self, values=values, law=law, unknown=unknown, listed=listed)

    @property
    def is_public(self) -> bool:
        """Whether no noise enters."""
        return self.noises == 0

    def plain(self) -> list[Any]:
        """Return the released values, None for NULL."""
        return list(words_of(self.values).values if self.listed is None else self.listed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerTable:
    """Rows that were released, and rows that may be in the exact table.

    Attributes
    ----------
    columns : mapping of names to AnswerCells
        The columns.
    released, certain : arrays of booleans
        Which rows are in the released table, and which are in the exact one for sure.
    noises : int
        At most how many released numbers decide whether one row is in the table; 0 if none does.
    chosen_from : int
        Among how many rows these were chosen by their released values, as by LIMIT; 0 if they were not.
    """

    columns: Mapping[str, AnswerCells]
    released: Flags
    certain: Flags
    noises: int = 0
    chosen_from: int = 0

    def __len__(self) -> int:
        return len(self.released)

    def at(self, places: Places) -> AnswerTable:
        """Return some rows."""
        columns = {name: cells.at(places) for name, cells in self.columns.items()}
        return replace(self, columns=columns, released=self.released[places], certain=self.certain[places])

    @property
    def is_settled(self) -> bool:
        """Whether no noise decides which rows there are."""
        return self.noises == 0 and self.chosen_from == 0

    def entering(self, cells: Sequence[AnswerCells], rows: int) -> int:
        """Return at most how many released numbers enter an aggregate of columns over a number of rows.

        Rows that were chosen by released values may be any of those that they were chosen from, so that the
        intervals of all of these must hold.
        """
        each = self.noises + sum(one.noises for one in cells)
        return max(rows, self.chosen_from) * each


def _taken(values: Evaluated, places: Places) -> Evaluated:
    """Return what there is at some places; NULL at -1."""
    if isinstance(values, PossibleNumbers):
        return PossibleNumbers(
            low=_padded(values.low, np.inf)[places],
            value=_padded(values.value, np.nan)[places],
            high=_padded(values.high, -np.inf)[places],
            null=_padded(values.null, True)[places],
            whole=values.whole,
        )
    if isinstance(values, PossibleTruths):
        return PossibleTruths(
            value=_padded(values.value, np.nan)[places],
            true=_padded(values.true, False)[places],
            false=_padded(values.false, False)[places],
            null=_padded(values.null, True)[places],
        )
    return PossibleWords(values=_padded(values.values, None)[places], certain=values.certain)


def check_row_count(rows: int) -> None:
    """Refuse a table that is too large, before anything is charged."""
    if rows > LARGEST_TABLE:
        raise UnsupportedQuery(
            f"a table that is calculated from answers would have more than {LARGEST_TABLE:,} rows; join "
            "answers by their keys, or ask for fewer groups"
        )


def _padded(array: NDArray[Any], last: object) -> NDArray[Any]:
    """Return an array with one more element, which is what the place -1 means."""
    longer = np.empty(len(array) + 1, array.dtype)
    longer[:-1] = array
    longer[-1] = last
    return longer
