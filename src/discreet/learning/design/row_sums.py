"""Products of rows and weights that round each row by itself."""

from __future__ import annotations

import numpy as np

from discreet.array_types import Floats

__all__ = ["row_sums"]


def row_sums(rows: Floats, weights: Floats) -> Floats:
    """Return the product of rows (count, width) and weights (width, sums), to the last bit row by row.

    A product of matrices adds in an order that depends on how many rows there are, so that one row may change
    the last bit of another. Here every sum is taken in the order of the columns. It matters where what is
    made of private rows is read again: counted as right or wrong, or rounded to a grid.
    """
    found = np.zeros((len(rows), weights.shape[1]))
    for column, along in zip(rows.T, weights, strict=True):
        found += column[:, None] * along
    return found
