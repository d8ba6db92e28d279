"""Rows of a regression on a public grid: each is brought within its bounds by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.learning.regression.linear_fit import Units
from discreet.privacy.rational import Number, rational
from discreet.stability.entries import reals
from discreet.stability.prediction_variance import scaled_rows

__all__ = ["checked_bound", "rows_on_grid"]

_MOST = Fraction(2**800)
_FINE = 2.0**28  # squares of 64 integers of this size add up below 2^63


def checked_bound(value: Number, name: str) -> Fraction:
    """Return a public bound on rows or responses, or refuse it."""
    bound = rational(value, name, positive=True)
    if not 1 / _MOST <= bound <= _MOST:
        raise ParameterError(name, "is out of range", "from 2^-800 to 2^800")
    return bound


def rows_on_grid(
    design: ArrayLike, response: ArrayLike, *, columns: int, units: Units
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and responses in steps, none of them beyond its bound.

    Every row by a rule that looks at this row alone, the rounding of floats included (proof:
    docs/proofs/linear_regression.md).
    """
    rows, target = reals(design, "design"), reals(response, "response")
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise ParameterError("design", "has another number of columns", f"rows of {columns} numbers")
    if target.shape != rows.shape[:1]:
        raise ParameterError("response", "has another length than the design", "one number for each row")
    long, high = float(units.largest), float(units.response)
    rows = np.nan_to_num(rows, nan=0.0)
    parts = rows / np.maximum(np.abs(rows).max(axis=1), long)[:, None]  # of `largest`, none beyond 1
    # Lengths are those of integers, whose sums do not depend on the order: no row on another row.
    lengths = np.sqrt((np.rint(parts * _FINE).astype(np.int64) ** 2).sum(axis=1).astype(np.float64))
    parts = parts / np.maximum(lengths / _FINE, 1.0)[:, None]
    steps = scaled_rows(np.rint(parts * units.row_steps).astype(np.int64), units.steps)
    target = np.nan_to_num(target, nan=0.0).clip(-high, high)
    return steps, np.rint(target / high * units.response_steps).astype(np.int64)
