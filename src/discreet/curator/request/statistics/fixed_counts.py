"""Counts and means of a public number of rows, of which one is replaced."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np

from discreet.array_types import Integers
from discreet.curator.request.statistics.base import AnswerKeys, offer_object
from discreet.curator.request.statistics.noisy_integers import NoisyIntegers
from discreet.data.bounding.coded_rows import row_codes
from discreet.data.language.declarations import Bounds, Keys, KeyValue
from discreet.data.language.serialization import to_object
from discreet.data.tables.fixed_table import FixedTable
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

__all__ = ["CellCounts", "ColumnMean", "KeyAxes", "RowCount"]

_LARGEST_SUM = 2**60
_MOST_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class KeyAxes:
    """The cells of a table: every combination of declared keys of some columns, in declared order."""

    columns: tuple[tuple[str, Keys], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.columns]
        if not names or len(set(names)) != len(names):
            raise ParameterError("columns", "are missing or named twice", "columns of keys, each once")
        if self.cells > _MOST_CELLS:
            raise ParameterError("columns", f"have {self.cells} cells", f"at most {_MOST_CELLS} cells")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many keys each column has."""
        return tuple(len(keys) for _, keys in self.columns)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(len(keys) for _, keys in self.columns)

    @property
    def keys(self) -> dict[str, list[KeyValue]]:
        """The keys of every cell, by column."""
        listed = list(product(*(keys.values for _, keys in self.columns)))
        return {name: [one[place] for one in listed] for place, name in enumerate(self.names)}

    def fit(self, table: RelatedTable, rows: int) -> bool:
        """Return whether a table declares these keys, and as many rows."""
        return (
            isinstance(table, FixedTable)
            and table.rows == rows
            and all(table.columns.get(name) == keys for name, keys in self.columns)
        )

    def counts(self, table: RelatedTable) -> Integers:
        """Return how many rows lie in each cell; private. Rows with other keys lie in none."""
        assert isinstance(table, FixedTable)  # noqa: S101
        codes = row_codes(table, self.names)
        inside = codes[(codes >= 0).all(axis=1)]
        places = np.ravel_multi_index(tuple(inside.T), self.lengths)
        return np.bincount(places, minlength=self.cells).astype(np.int64)

    def to_object(self) -> list[object]:
        """Return the columns and keys as plain JSON values."""
        return [[name, to_object(keys)] for name, keys in self.columns]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCounts(NoisyIntegers):
    """How many rows have each combination of keys. A row that is replaced leaves one and enters another."""

    kind: ClassVar[str] = "cells"

    rows: int
    axes: KeyAxes
    offer: Offer

    @property
    def name(self) -> str:
        """The name of the output."""
        return "rows"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"rows by {', '.join(self.axes.names)}, with noise for one row replaced"

    @property
    def sensitivity(self) -> Sensitivity:
        """One count less, one more."""
        return Sensitivity(l0=2, l1=2, squared_l2=2, linf=1, neighbors=REPLACE_ROW)

    @property
    def keys(self) -> AnswerKeys:
        """The keys of the cells."""
        return self.axes.keys

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """No row, and all."""
        return Fraction(0), Fraction(self.rows)

    @property
    def parameters(self) -> dict[str, object]:
        """The columns with their keys, the number of rows, and the offer."""
        return {"axes": self.axes.to_object(), "rows": self.rows, "offer": offer_object(self.offer)}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return self.axes.fit(table, self.rows)

    def exact(self, table: RelatedTable) -> Integers:
        """Return the counts."""
        return self.axes.counts(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount(NoisyIntegers):
    """How many rows have given keys in some columns, which a row that is replaced moves by 1."""

    kind: ClassVar[str] = "rows"

    rows: int
    axes: KeyAxes
    chosen: tuple[KeyValue, ...]
    offer: Offer

    def __post_init__(self) -> None:
        self.cell  # noqa: B018

    @property
    def name(self) -> str:
        """The name of the output."""
        return "rows"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"rows with given {', '.join(self.axes.names)}, with noise for one row"

    @property
    def cell(self) -> tuple[int, ...]:
        """The places of the chosen keys, or a refusal of keys that were not declared."""
        places = []
        for (name, keys), key in zip(self.axes.columns, self.chosen, strict=True):
            if not any(type(key) is type(one) and key == one for one in keys.values):
                raise ParameterError(name, "is not one of the declared keys", repr(keys))
            places.append(keys.values.index(key))
        return tuple(places)

    @property
    def sensitivity(self) -> Sensitivity:
        """One row."""
        return Sensitivity(l0=1, l1=1, squared_l2=1, linf=1, neighbors=REPLACE_ROW)

    @property
    def keys(self) -> AnswerKeys:
        """One number."""
        return {}

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """No row, and all."""
        return Fraction(0), Fraction(self.rows)

    @property
    def parameters(self) -> dict[str, object]:
        """The columns, the places of the chosen keys, the number of rows, and the offer."""
        return {
            "axes": self.axes.to_object(),
            "cell": list(self.cell),
            "rows": self.rows,
            "offer": offer_object(self.offer),
        }

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return self.axes.fit(table, self.rows)

    def exact(self, table: RelatedTable) -> Integers:
        """Return the count."""
        assert isinstance(table, FixedTable)  # noqa: S101
        codes = row_codes(table, self.axes.names)
        return np.array([int((codes == np.array(self.cell)).all(axis=1).sum())], np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMean(NoisyIntegers):
    """The mean of a column: the sum of grid steps, which a row that is replaced moves by the whole range."""

    kind: ClassVar[str] = "mean"

    rows: int
    column: str
    bounds: Bounds
    offer: Offer

    def __post_init__(self) -> None:
        if max(abs(self.bounds.lower_steps), abs(self.bounds.upper_steps)) * self.rows > _LARGEST_SUM:
            raise ParameterError("column", "has a sum beyond 2^60 steps", "bounds with a larger step")

    @property
    def name(self) -> str:
        """The name of the output."""
        return f"mean_{self.column}"

    @property
    def words(self) -> str:
        """What is computed and how it is released, in words."""
        return f"the mean of {self.column}, with noise for one row replaced"

    @property
    def sensitivity(self) -> Sensitivity:
        """From one bound to the other."""
        width = self.bounds.upper_steps - self.bounds.lower_steps
        return Sensitivity(l0=1, l1=width, squared_l2=width**2, linf=width, neighbors=REPLACE_ROW)

    @property
    def keys(self) -> AnswerKeys:
        """One number."""
        return {}

    @property
    def unit(self) -> Fraction:
        """A step of the grid, by the public number of rows."""
        return self.bounds.step / self.rows

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds."""
        return self.bounds.lower, self.bounds.upper

    @property
    def parameters(self) -> dict[str, object]:
        """The column with its bounds, the number of rows, and the offer."""
        return {
            "column": self.column,
            "bounds": to_object(self.bounds),
            "rows": self.rows,
            "offer": offer_object(self.offer),
        }

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return (
            isinstance(table, FixedTable)
            and table.rows == self.rows
            and table.columns.get(self.column) == self.bounds
        )

    def exact(self, table: RelatedTable) -> Integers:
        """Return the sum, in steps."""
        assert isinstance(table, FixedTable)  # noqa: S101
        return np.array([int(row_codes(table, [self.column]).sum())], np.int64)
