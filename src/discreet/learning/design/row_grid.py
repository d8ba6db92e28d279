"""Rows of a design as integers, none longer than a public bound, by a rule that looks at each row alone."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.learning.design.row_blocks import row_parts
from discreet.privacy.rational import Number, rational
from discreet.records import dataclass
from discreet.stability.entries import reals
from discreet.stability.prediction_variance import scaled_rows

__all__ = ["ROW_BITS", "GridRows", "RowGrid", "public_bound", "rounded_rows"]

_MOST = Fraction(2**800)
_MOST_COLUMNS = 1000

ROW_BITS = 12
"""The longest row has 2^12 steps: a coordinate of one in a hundred has 400."""
GridRows = NDArray[np.int16]
"""Rows in steps. Few bits, since there may be a hundred million entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGrid:
    """The public grid of the rows of a design: x becomes integers of Euclidean length `steps` at most.

    `largest`, the length of the longest row in the units of the data, is `row_steps` on the grid: less than
    `steps` by half the root of the number of columns, so that rounding makes no row too long.
    """

    columns: int
    largest: Fraction
    entries: int | None = None
    """How many coordinates of a row are not 0, at most, if it is known."""

    @property
    def steps(self) -> int:
        """How long a row is at most, after rounding."""
        return 1 << ROW_BITS

    @property
    def checked_width(self) -> int:
        """How many coordinates there are, or a refusal: exact sums, and matrices that fit into memory."""
        if not 1 <= self.columns <= _MOST_COLUMNS:
            raise ParameterError(
                "columns",
                f"make {self.columns:,} coordinates: one for each number, key and bin, and the intercept",
                f"at most {_MOST_COLUMNS:,}: fewer columns, keys or bins",
            )
        return self.columns

    @property
    def total(self) -> int:
        """How large the absolute coordinates of a row are together, at most: A <= N sqrt(entries)."""
        return isqrt(self.steps**2 * (self.columns if self.entries is None else self.entries))

    @property
    def row_steps(self) -> int:
        """How many steps the longest row has, before rounding."""
        return self.steps - (isqrt(self.columns - 1) // 2 + 1)

    def rounded(self, design: ArrayLike) -> GridRows:
        """Return each row in steps; not a number counts as 0, and longer rows are shortened."""
        rows = reals(design, "design")
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            raise ParameterError("design", "has another number of columns", f"rows of {self.columns} numbers")
        found = np.empty(rows.shape, dtype=np.int16)
        for part in row_parts(*rows.shape):
            found[part] = rounded_rows(
                rows[part],
                largest=float(self.largest),
                row_steps=self.row_steps,
                steps=self.steps,
            )
        return found


def rounded_rows(rows: Floats, *, largest: float, row_steps: int, steps: int) -> NDArray[np.int64]:
    """Return rows in steps, `row_steps` of them to `largest`; none is longer than `steps`.

    Not a number counts as 0, and longer rows are shortened: each row by itself, rounding included.
    """
    bits = min(28, (62 - (rows.shape[1] - 1).bit_length()) // 2)  # squares of a row add up to 2^62 at most
    fine = 2.0**bits
    held = np.nan_to_num(rows, nan=0.0)
    parts = held / np.maximum(np.abs(held).max(axis=1), largest)[:, None]  # of `largest`, none beyond 1
    # Lengths are those of integers, whose sums do not depend on the order: no row on another row.
    lengths = np.sqrt((np.rint(parts * fine).astype(np.int64) ** 2).sum(axis=1).astype(np.float64))
    parts = parts / np.maximum(lengths / fine, 1.0)[:, None]
    return scaled_rows(np.rint(parts * row_steps).astype(np.int64), steps)


def public_bound(value: Number, name: str) -> Fraction:
    """Return a positive bound whose square doubles can hold."""
    bound = rational(value, name, positive=True)
    if not 1 / _MOST <= bound <= _MOST:
        raise ParameterError(name, "is out of range", "from 2^-800 to 2^800")
    return bound
