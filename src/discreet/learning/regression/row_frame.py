"""Rows in public coordinates, each weighted as a whole so that none is longer than a public length."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_grid import RowGrid
from discreet.stability.prediction_variance import scaled_rows

__all__ = ["COORDINATE_STEPS", "RowFrame"]

COORDINATE_STEPS = 1 << 12
"""How many steps a coordinate of 1 has, before rows are turned."""
_MATRIX_BITS = 29  # sums of 1,000 products with coordinates below 2^14 stay below 2^53


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowFrame:
    """New coordinates of rows: x becomes x A, and rows beyond a length count less. All of it is public.

    Attributes
    ----------
    matrix : array of integers, or None
        A, in steps of 2^-`bits`; None leaves rows as they are.
    bits : int
    largest : float
        The length |x A| up to which a row counts fully. A longer one is multiplied, its response included, by
        `largest` / |x A|: to a fit this is a weight, which no more biases it than a row left out.
    """

    matrix: Integers | None
    bits: int
    largest: float

    @classmethod
    def turned(cls, matrix: Floats, largest: float) -> RowFrame:
        """Return the frame of a matrix, rounded to integers of 29 bits."""
        bits = _MATRIX_BITS - frexp(float(np.abs(matrix).max()))[1]
        return cls(matrix=np.rint(np.ldexp(matrix, bits)).astype(np.int64), bits=bits, largest=largest)

    def floats(self, width: int) -> Floats:
        """Return A."""
        if self.matrix is None:
            return np.eye(width)
        return np.ldexp(self.matrix.astype(np.float64), -self.bits)

    def rows(
        self, coordinates: NDArray[np.int16], others: NDArray[np.int16], grid: RowGrid
    ) -> tuple[Floats, Floats]:
        """Return rows on a grid, no longer than its steps, and other numbers of each row with its weight.

        Doubles that hold integers. Every row by itself: sums are of integers below 2^53, exact in any order,
        and all else is of one number at a time.
        """
        moved: Floats = coordinates.astype(np.float64)
        most = self.largest * COORDINATE_STEPS
        if self.matrix is not None:
            moved = moved @ self.matrix.astype(np.float64)
            most = float(np.ldexp(most, self.bits))
        fine = 2.0 ** ((52 - grid.columns.bit_length()) // 2)  # squares add up to 2^52 at most
        peaks = np.maximum(np.maximum(moved.max(axis=1), -moved.min(axis=1)), most)
        parts = moved * (fine / peaks)[:, None]
        lengths = np.sqrt(_squares(np.rint(parts, out=parts))) * (peaks / fine)
        weights = most / np.maximum(lengths, most)
        np.multiply(moved, (weights * (grid.row_steps / most))[:, None], out=parts)
        steps: Floats = np.rint(parts, out=parts)
        long = _squares(steps) > grid.steps**2
        steps[long] = scaled_rows(steps[long].astype(np.int64), grid.steps)
        return steps, np.rint(others * weights[:, None])


def _squares(rows: Floats) -> Floats:
    """Return the sum of squares of each row: of integers, exact in any order."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows), dtype=np.float64)
