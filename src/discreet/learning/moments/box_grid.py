"""Rows of numbers as integers, each coordinate within its own declared bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.learning.design.coordinates import Coordinates
from discreet.learning.design.features import Features, NumberColumn
from discreet.learning.design.row_grid import GridRows

__all__ = ["STEPS", "BoxGrid"]

STEPS = 2**12
"""How many steps there are from the middle of a column to a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxGrid:
    """The public grid of rows in a box: a value becomes an integer between -steps and steps.

    The middle of the declared bounds is 0, and so is what is not a number; a bound, and what is beyond it, is
    `steps`. Every value is read by itself.
    """

    columns: tuple[NumberColumn, ...]
    steps: int = STEPS

    @classmethod
    def of(cls, features: Features) -> BoxGrid:
        """Return the grid of columns that are all numbers."""
        numbers = tuple(one for one in features.columns if isinstance(one, NumberColumn))
        if len(numbers) < len(features.columns):
            raise ParameterError("columns", "declares keys", "bounds of numbers, such as (0, 1)")
        return cls(columns=numbers)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.columns)

    @property
    def middles(self) -> Floats:
        """What becomes 0, of each column."""
        return np.array([one.middle for one in self.columns])

    @property
    def half_widths(self) -> Floats:
        """How far it is from the middle of each column to a bound."""
        return np.array([one.half_width for one in self.columns])

    def rounded(self, values: Sequence[NDArray[Any]]) -> GridRows:
        """Return rows in steps, given column by column."""
        count = len(values[0]) if values else 0
        found = np.empty((count, self.width), dtype=np.int16)
        for part, steps in Coordinates.of(self.columns).blocks(values):
            np.rint(np.multiply(steps, self.steps, out=steps), out=steps)
            found[part] = steps[:, :-1]
        return found

    def clipped(self, values: Sequence[NDArray[Any]]) -> Floats:
        """Return rows in the units of the data, clipped; what is not a number is the middle of its column."""
        count = len(values[0]) if values else 0
        found = np.empty((count, self.width))
        for place, (column, held) in enumerate(zip(self.columns, values, strict=True)):
            numbers = column.numbers(held)
            known = np.where(np.isnan(numbers), column.middle, numbers)
            found[:, place] = known.clip(float(column.lower), float(column.upper))
        return found
