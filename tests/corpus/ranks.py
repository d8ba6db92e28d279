"""Whether a grid point is a quantile or an extreme of exact values, by its rank among them.

A value chosen by its rank cannot be compared with DuckDB's digit by digit: at the end of a long tail, one row
fewer is far away. What can be compared are ranks, with all values of the group at hand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction

RANKS = 2
"""How far from its rank a choice may be: without noise the best grid point is chosen, and extremes are one
row inside the end, or one more where the offer is small."""
GRID = Fraction(1, 1638)
"""Of the range: at most 4096 grid points, and at least 1638 where the declared ones are more, because steps
grow by 1, 2, 5, 10."""


def has_rank(found: float, share: Fraction, values: Sequence[float], step: float) -> bool:
    """Tell whether a value has a share of some sorted values below it, but for two ranks and a step.

    Parameters
    ----------
    found : float
        A grid point.
    share : Fraction
        0 for the least, 1/2 for the median.
    values : sequence of float
        All values, in ascending order.
    step : float
        Of the grid, to which the values were rounded.
    """
    if not values:
        return True
    wanted = share * len(values)
    below, up_to = bisect_left(values, found - step), bisect_right(values, found + step)
    inside = values[0] - step <= found <= values[-1] + step
    return inside and below <= wanted + RANKS and up_to >= wanted - RANKS
