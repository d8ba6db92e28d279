"""How a budget is divided over the columns: larger ones get more, so that errors add up to the least."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction

from discreet.synthesis.measuring.steps import TableNoise

__all__ = ["column_noises", "column_weight"]


def column_noises(shape: Sequence[int], rho: Fraction, rows: int) -> tuple[TableNoise, ...]:
    """Return the noise of each column's counts, for all of which together a rho is paid.

    The absolute errors of c counts with noise of deviation s add up to about c s, and s^2 is one over twice
    the rho that is paid. The sum over columns is smallest if each is paid in proportion to c^(2/3).
    """
    weights = [column_weight(cells) for cells in shape]
    every = sum(weights)
    return tuple(TableNoise.costing(rho * weight / every, rows) for weight in weights)


def column_weight(cells: int) -> int:
    """Return the two-thirds power of a number of cells, rounded up: an integer, the same on every machine."""
    return bisect_left(range(cells + 1), cells**2, key=lambda weight: weight**3)
