"""By how much a statistic moves when each person goes: the raw material of per-instance losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational

__all__ = ["count_shifts", "mean_shifts", "regression_shifts", "sum_shifts"]

Floats = NDArray[np.float64]


def count_shifts(persons: ArrayLike) -> Floats:
    """Return the number of rows of each distinct person, in the order of their identifiers."""
    return np.unique(np.asarray(persons).ravel(), return_counts=True)[1].astype(np.float64)


def sum_shifts(values: ArrayLike, persons: ArrayLike) -> Floats:
    """Return the size of each person's own sum."""
    return np.abs(_totals(values, persons)[0])


def mean_shifts(values: ArrayLike, persons: ArrayLike, *, empty: Number = 0) -> Floats:
    """Return by how much the mean of all rows moves when each person goes.

    Parameters
    ----------
    values, persons : arrays of equal length
        One row each.
    empty : number
        The public answer of an empty table.
    """
    totals, counts = _totals(values, persons)
    rest = counts.sum() - counts
    mean = totals.sum() / max(counts.sum(), 1)
    without = np.divide(totals.sum() - totals, rest, out=np.zeros_like(totals), where=rest > 0)
    after = np.where(rest > 0, without, float(rational(empty, "empty")))
    return np.asarray(np.abs(mean - after), dtype=np.float64)


def regression_shifts(design: ArrayLike, response: ArrayLike, *, ridge: Number) -> Floats:
    """Return by how far, in the L2 norm, the ridge estimate moves when each row goes.

    With G = X^T X + ridge, e = y - X theta and leverages h_i = x_i^T G^-1 x_i,
    theta - theta_(-i) = G^-1 x_i e_i / (1 - h_i). Every h_i is below 1, since the ridge is positive.

    Parameters
    ----------
    design : array of shape (n, d)
        One row for each person.
    response : array of n numbers
        What is to be predicted.
    ridge : number
        Positive and public.
    """
    rows, target = np.asarray(design, dtype=np.float64), np.asarray(response, dtype=np.float64)
    if rows.ndim != 2 or target.shape != rows.shape[:1]:
        raise ParameterError("response", "has another length than the design", "one number for each row")
    extra = float(rational(ridge, "ridge", positive=True))
    inverse = np.linalg.inv(rows.T @ rows + extra * np.eye(rows.shape[1]))
    moved = rows @ inverse
    leverages = np.einsum("ij,ij->i", moved, rows)
    residuals = target - moved @ (rows.T @ target)
    lengths = np.linalg.norm(moved, axis=1)
    return np.asarray(lengths * np.abs(residuals) / (1 - leverages), dtype=np.float64)


def _totals(values: ArrayLike, persons: ArrayLike) -> tuple[Floats, Floats]:
    """Return the sum and the number of rows of each distinct person."""
    held, owners = np.asarray(values, dtype=np.float64).ravel(), np.asarray(persons).ravel()
    if held.shape != owners.shape:
        raise ParameterError("persons", "has another length than the values", "one person for each value")
    _, places, counts = np.unique(owners, return_inverse=True, return_counts=True)
    totals = np.zeros(len(counts))
    np.add.at(totals, places, held)
    return totals, counts.astype(np.float64)
