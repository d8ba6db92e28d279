"""Rows of a regression on a public grid: each is brought within its bounds by itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.learning.design.row_grid import rounded_rows
from discreet.learning.regression.linear_fit import Units
from discreet.stability.entries import reals

__all__ = ["rows_on_grid"]


def rows_on_grid(
    design: ArrayLike, response: ArrayLike, *, columns: int, units: Units
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and responses in steps, none of them beyond its bound.

    Every row by a rule that looks at this row alone, the rounding of floats included (proof:
    docs/proofs/adaptive_ridge.md).
    """
    rows, target = reals(design, "design"), reals(response, "response")
    if rows.ndim != 2 or rows.shape[1] != columns:
        raise ParameterError("design", "has another number of columns", f"rows of {columns} numbers")
    if target.shape != rows.shape[:1]:
        raise ParameterError("response", "has another length than the design", "one number for each row")
    steps = rounded_rows(rows, largest=float(units.largest), row_steps=units.row_steps, steps=units.steps)
    high = float(units.response)
    target = np.nan_to_num(target, nan=0.0).clip(-high, high)
    return steps, np.rint(target / high * units.response_steps).astype(np.int64)
