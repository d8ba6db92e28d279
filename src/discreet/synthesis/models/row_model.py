"""What a model of rows is, whatever it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet.array_types import Floats, Integers

__all__ = ["RowModel"]


class RowModel(Protocol):
    """A distribution of rows of codes. It is public."""

    @property
    def total(self) -> float:
        """The number of rows."""
        ...

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the expected counts of some columns, in their order."""
        ...

    def sample(self, rows: int, random: np.random.Generator) -> Integers:
        """Return rows of codes."""
        ...
