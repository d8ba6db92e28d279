"""How a part of the rows of a design becomes coordinates: what depends on columns alone is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_blocks import one_array, row_parts

__all__ = ["Coordinates", "Encoded", "indicators", "numbers_of", "scaled"]

_WIDEST = 8  # bytes of a number that becomes a double without a warning


class Encoded(Protocol):
    """A column, as what its values become."""

    @property
    def width(self) -> int:
        """How many coordinates it has."""

    @property
    def unit(self) -> tuple[float, float] | None:
        """For numbers, what becomes 0, and how far from it 1 is; else None."""

    def coordinates(self, values: NDArray[Any]) -> Floats:
        """Return the coordinates of values."""


def scaled(numbers: NDArray[Any], middle: Floats | float, half_width: Floats | float) -> Floats:
    """Return (x - middle) / half width, within -1 and 1, and 0 for what is not a number: entry by entry."""
    found = np.empty(numbers.shape)
    with np.errstate(all="ignore"):  # a half width may be too small for a float
        np.subtract(numbers, middle, out=found, dtype=np.float64)
        np.divide(found, half_width, out=found)
        np.clip(found, -1.0, 1.0, out=found)
    np.copyto(found, 0.0, where=np.isnan(found))
    return found


def numbers_of(values: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
    """Return columns as one array, if they are columns of one, of numbers that become doubles; or None."""
    every = one_array(values)
    if every is None or every.dtype.kind not in "biuf" or every.dtype.itemsize > _WIDEST:
        return None
    return every


def indicators(places: Integers, width: int) -> Floats:
    """Return rows of zeros with a 1 at each place; none for a place that is negative."""
    found = np.zeros((len(places), width))
    known = np.flatnonzero(places >= 0)
    found[known, places[known]] = 1.0
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Columns, and what is needed to make coordinates of their values.

    Columns of one array of numbers are read all at once, others one by one; every entry becomes the same.
    """

    columns: tuple[Encoded, ...]
    width: int
    middles: Floats | None
    """Of columns that are all numbers."""
    half_widths: Floats | None

    @classmethod
    def of(cls, columns: Sequence[Encoded]) -> Coordinates:
        """Return those of columns."""
        units = [column.unit for column in columns]
        known = [unit for unit in units if unit is not None]
        middles, half_widths = np.array(known).T if known and len(known) == len(units) else (None, None)
        width = sum(column.width for column in columns)
        return cls(tuple(columns), width, middles, half_widths)

    def encoded(self, values: Sequence[NDArray[Any]]) -> Floats:
        """Return the coordinates of rows, given column by column; the last one is the intercept."""
        count = len(values[0]) if values else 0
        return self._filled(values, numbers_of(values), slice(0, count))

    def blocks(self, values: Sequence[NDArray[Any]]) -> Iterator[tuple[slice, Floats]]:
        """Give the same part by part."""
        count, every = len(values[0]) if values else 0, numbers_of(values)
        for part in row_parts(count, self.width):
            yield part, self._filled(values, every, part)

    def _filled(self, values: Sequence[NDArray[Any]], every: NDArray[Any] | None, part: slice) -> Floats:
        found = np.empty((part.stop - part.start, self.width + 1))
        found[:, -1] = 1.0
        if self.middles is not None and self.half_widths is not None and every is not None:
            found[:, :-1] = scaled(every[part], self.middles, self.half_widths)
            return found
        place = 0
        for column, one in zip(self.columns, values, strict=True):
            found[:, place : place + column.width] = column.coordinates(one[part])
            place += column.width
        return found
