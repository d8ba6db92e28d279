"""Rows of which every coordinate is 0 or one public number: kept as the places of what is not 0.

A row of c binned columns and an intercept has c + 1 places among many hundreds of coordinates. Products with
it are look-ups and counts of places, not of all coordinates, and give the same integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_blocks import blocks_of, row_parts
from discreet.learning.design.row_grid import GridRows

__all__ = ["CoordinateNumbers", "DenseRows", "IndicatorRows", "RowSet"]

CoordinateNumbers = NDArray[np.int16]
"""Coordinate numbers: the number of coordinates stands for none."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseRows:
    """Rows in steps, all coordinates of them."""

    rows: GridRows

    @property
    def width(self) -> int:
        """How many coordinates a row has."""
        return int(self.rows.shape[1])

    def parts(self) -> Iterator[tuple[slice, DensePart]]:
        """Give the rows part by part."""
        return ((place, DensePart(part)) for place, part in blocks_of(self.rows))

    def products(self) -> Integers:
        """Return X^T X: sums of at most 2^14 products of 24 bits, and of those as integers of 64 bits."""
        found = np.zeros((self.width, self.width), dtype=np.int64)
        for _, part in blocks_of(self.rows):
            found += (part.T @ part).astype(np.int64)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class DensePart:
    """Some of them, as doubles."""

    rows: Floats

    def scores(self, weights: Floats) -> Floats:
        """Return the products with columns of whole weights."""
        return self.rows @ weights

    def sums(self, slopes: Floats) -> Integers:
        """Return the sums of rows times whole slopes."""
        return (self.rows.T @ slopes).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class IndicatorRows:
    """Rows by the places of coordinates that are `step`; all others are 0."""

    places: CoordinateNumbers
    """For each row, one for each entry; none twice, but for `width`, which stands for no place."""
    width: int
    step: int

    def __len__(self) -> int:
        return len(self.places)

    def parts(self) -> Iterator[tuple[slice, IndicatorPart]]:
        """Give the rows part by part."""
        for part in row_parts(*self.places.shape):
            yield part, IndicatorPart(self.places[part].astype(np.intp), self.width, self.step)

    def products(self) -> Integers:
        """Return X^T X: counts of pairs of places, at most 2^14 of them in single floats, which hold 2^24."""
        found = np.zeros((self.width + 1, self.width + 1), dtype=np.int64)
        for part in row_parts(len(self.places), self.width):
            held = np.zeros((part.stop - part.start, self.width + 1), dtype=np.float32)
            np.put_along_axis(held, self.places[part].astype(np.intp), 1.0, axis=1)
            found += (held.T @ held).astype(np.int64)
        return found[:-1, :-1] * self.step**2


@dataclass(frozen=True, slots=True, eq=False)
class IndicatorPart:
    """Some of them."""

    places: NDArray[np.intp]
    width: int
    step: int

    def scores(self, weights: Floats) -> Floats:
        """Return the products with columns of whole weights: sums of integers, as exact as dense ones."""
        known = np.concatenate([weights * self.step, np.zeros((1, weights.shape[1]))])
        found = [column.take(self.places).sum(axis=1) for column in known.T]
        return np.stack(found, axis=1)

    def sums(self, slopes: Floats) -> Integers:
        """Return the sums of rows times whole slopes: integers below 2^53, exact in any order."""
        flat, entries = self.places.ravel(), self.places.shape[1]
        found = [
            np.bincount(flat, weights=np.repeat(column, entries), minlength=self.width + 1)[:-1]
            for column in slopes.T
        ]
        return np.stack(found, axis=1).astype(np.int64) * self.step


RowSet = DenseRows | IndicatorRows
"""Rows of a design, in steps, however they are kept."""
