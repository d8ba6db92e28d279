"""All columns of a synthetic table: what is public about them, and how rows become codes and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn, coded

__all__ = ["MOST_COLUMNS", "CodedColumns"]

MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedColumns:
    """Columns in order."""

    columns: tuple[CodedColumn, ...]

    def __post_init__(self) -> None:
        names = self.names
        if not 1 <= len(names) <= MOST_COLUMNS or len(set(names)) != len(names):
            raise ParameterError(
                "columns", "are none, too many, or one of them twice", f"from 1 to {MOST_COLUMNS} columns"
            )

    @classmethod
    def declared(cls, columns: Mapping[str, object], *, missing: bool = True) -> CodedColumns:
        """Return the columns that a mapping of names to `Bounds`, `Keys` or `Dates` declares.

        A column that follows from another by a declared mapping is declared as None, and has no cells.
        """
        if isinstance(columns, CodedColumns):
            return columns
        if not isinstance(columns, Mapping):
            raise ParameterError("columns", "are not declared, and are never read from data", "a mapping")
        held = [(str(name), one) for name, one in columns.items() if one is not None]
        return cls(
            columns=tuple(
                one if isinstance(one, CodedColumn) else coded(name, one, missing=missing)
                for name, one in held
            )
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(column.cells for column in self.columns)

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the places of some columns, increasing."""
        listed = self.names
        chosen = [names] if isinstance(names, str) else list(names)
        if not chosen or len(set(chosen)) != len(chosen) or not set(chosen) <= set(listed):
            raise ParameterError(
                "columns", "name an unknown column, or one twice", f"some of {', '.join(listed[:10])}"
            )
        return tuple(sorted(listed.index(name) for name in chosen))

    def codes(self, rows: object) -> Integers:
        """Return rows as codes; those with no cell in some column are left out.

        Rows are a frame or a mapping with these columns, or a two-dimensional array with as many.
        """
        found = self.codes_of_all(rows)
        return found[(found >= 0).all(axis=1)]

    def codes_of_all(self, rows: object) -> Integers:
        """Return all rows as codes, in order; -1 where a value has no cell."""
        values = [self._values(rows, place) for place in range(len(self.columns))]
        if len({len(one) for one in values}) != 1 or any(one.ndim != 1 for one in values):
            raise ParameterError("rows", "are not columns of the same length", "a frame with all columns")
        return np.stack([column.codes(one) for column, one in zip(self.columns, values, strict=True)], axis=1)

    def _values(self, rows: Any, place: int) -> NDArray[Any]:
        name = self.names[place]
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2 or rows.shape[1] != len(self.columns):
                raise ParameterError("rows", "have another number of columns", f"{len(self.columns)} columns")
            return np.asarray(rows[:, place])
        try:
            found = rows[name]
        except (KeyError, TypeError, IndexError, AttributeError, ValueError):
            found = None
        if found is None:
            raise ParameterError("rows", f"have no column {name!r}", "a frame or a mapping with all columns")
        return _one_by_one(found)

    def decoded(self, codes: Integers, random: np.random.Generator) -> dict[str, list[object]]:
        """Return columns of values, in the units of the data, for rows of codes."""
        return {
            column.name: column.decoded(codes[:, place], random) for place, column in enumerate(self.columns)
        }


def _one_by_one(found: Any) -> NDArray[Any]:
    """Return a column as an array in which every value is what it is in the column.

    NumPy and pandas would find one type for all values of a list, or of a column that has a null: a row would
    decide how others are read. Only a column that says its NumPy type, whatever its rows are, keeps it.
    """
    if isinstance(getattr(found, "dtype", None), np.dtype):
        return np.asarray(found)
    for form in ("to_pylist", "to_list"):  # Arrow; Polars, and types of pandas that are not NumPy's
        if hasattr(found, form):
            found = getattr(found, form)()
            break
    if not isinstance(found, list | tuple):
        return np.asarray(found)
    held = np.empty(len(found), object)
    for place, value in enumerate(found):  # a slice would spread values that are lists themselves
        held[place] = value
    return held
