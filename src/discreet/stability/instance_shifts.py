"""By how much a statistic moves when each person goes: the raw material of per-instance losses.

Shifts are never understated. Sums and means are exact and rounded up; the regression's are raised by a bound
on what floats can be off. Where nothing is known, a shift is infinite.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, float_above, rational, whole
from discreet.stability.entries import exact_integers, reals

__all__ = [
    "count_shift_bound",
    "count_shifts",
    "mean_shift_bound",
    "mean_shifts",
    "regression_shifts",
    "sum_shift_bound",
    "sum_shifts",
]


_MOST_RIDGE = Fraction(2**800)
_LEAST = 2.0**-450  # the square is still a float
_ROUNDING = 2.0**-46
"""What the factorization of a matrix is off, for each column and relative to its norm: 128 roundings."""


def count_shifts(persons: ArrayLike) -> Floats:
    """Return the number of rows of each distinct person, in the order of their identifiers."""
    return _places(persons)[1].astype(np.float64)


def count_shift_bound(*, rows: int = 1) -> Fraction:
    """Return the most by which a person of up to so many rows moves a count, in any data: the rows."""
    return Fraction(whole(rows, "rows", least=1))


def sum_shift_bound(lower: Number, upper: Number, *, rows: int = 1) -> Fraction:
    """Return the most by which a person moves a sum of values within bounds, in any data.

    rows times max(abs(lower), abs(upper)), attained by a person all of whose rows have that value.
    """
    low, high = _ordered(lower, upper)
    return whole(rows, "rows", least=1) * max(abs(low), abs(high))


def mean_shift_bound(
    lower: Number, upper: Number, *, rows: int = 1, others: int = 0, empty: Number = 0
) -> Fraction:
    """Return the most by which a person moves a mean of values within bounds, in any data.

    A person of k rows moves the mean of n by k / n of the distance of their own mean from that of the others:
    at most rows / (rows + others) (upper - lower), or with a single other row if none is certain; and a
    person who is alone moves it to `empty`.

    Parameters
    ----------
    lower, upper : number
        The bounds of the values.
    rows : int
        How many rows a person has at most.
    others : int
        How many rows of others there are at least: public, 0 if nothing is known.
    empty : number
        The public answer of an empty table.
    """
    low, high = _ordered(lower, upper)
    most, least = whole(rows, "rows", least=1), whole(others, "others", least=0)
    among = Fraction(most, most + max(least, 1)) * (high - low)
    if least:
        return among
    nothing = rational(empty, "empty")
    return max(among, abs(high - nothing), abs(low - nothing))


def _ordered(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low > high:
        raise ParameterError("lower", "is above the upper bound", "at most the upper bound")
    return low, high


def sum_shifts(values: ArrayLike, persons: ArrayLike) -> Floats:
    """Return the size of each person's own sum."""
    totals, _, unknown, unit = _totals(values, persons)
    shifts = [
        inf if lost else float_above(abs(total) * unit) for total, lost in zip(totals, unknown, strict=True)
    ]
    return np.array(shifts, dtype=np.float64)


def mean_shifts(values: ArrayLike, persons: ArrayLike, *, empty: Number = 0) -> Floats:
    """Return by how much the mean of all rows moves when each person goes.

    Parameters
    ----------
    values, persons : arrays of equal length
        One row each. Where a value is not finite, no shift is known.
    empty : number
        The public answer of an empty table.
    """
    nothing = rational(empty, "empty")
    totals, counts, unknown, unit = _totals(values, persons)
    if unknown.any():
        return np.full(len(totals), inf)
    total, count = sum(totals), int(counts.sum())

    def shift(own: int, rows: int) -> float:
        after = Fraction(total - own, count - rows) * unit if rows < count else nothing
        return float_above(abs(Fraction(total, count) * unit - after))

    return np.array(
        [shift(own, int(rows)) for own, rows in zip(totals, counts, strict=True)], dtype=np.float64
    )


def regression_shifts(design: ArrayLike, response: ArrayLike, *, ridge: Number) -> Floats:
    """Return by how far, in the L2 norm, the ridge estimate moves when each row goes, or a little more.

    With G = X^T X + ridge, e = y - X theta and leverages h_i = x_i^T G^-1 x_i,
    theta - theta_(-i) = G^-1 x_i e_i / (1 - h_i). Every h_i is below 1, since the ridge is positive. Rows
    with h_i > 1/2, of which there are fewer than twice the columns, are fitted without the row instead: with
    H = G - x_i x_i^T it is H^-1 x_i (y_i - x_i^T theta_(-i)) / (1 + x_i^T H^-1 x_i), where nothing cancels.

    Parameters
    ----------
    design : array of shape (n, d)
        One row for each person.
    response : array of n numbers
        What is predicted.
    ridge : number
        Positive and public, from 2^-800 to 2^800.

    Notes
    -----
    Columns are brought to one size first, by powers of two. Where the rest is so near to singular that floats
    say nothing about it, and where an entry is not finite, shifts are infinite.
    """
    rows, target = reals(design, "design"), reals(response, "response")
    if rows.ndim != 2 or target.shape != rows.shape[:1]:
        raise ParameterError("response", "has another length than the design", "one number for each row")
    extra = rational(ridge, "ridge", positive=True)
    if not 1 / _MOST_RIDGE <= extra <= _MOST_RIDGE:
        raise ParameterError("ridge", "is out of range", "from 2^-800 to 2^800")
    if not (np.isfinite(rows).all() and np.isfinite(target).all()):
        return np.full(len(rows), inf)
    if not rows.size:
        return np.zeros(len(rows))
    root = float(extra) ** 0.5
    sizes = np.frexp(np.maximum(np.abs(rows).max(axis=0), root))[1]
    height = int(np.frexp(np.abs(target).max())[1])
    scaled, heights = np.ldexp(rows, -sizes), np.ldexp(target, -height)
    below = np.diag(np.ldexp(np.full(len(sizes), root), -sizes))
    # Coefficients are in units of 2^(height - size); what is off in one may be off in the unit of another.
    units = np.ldexp(1.0, sizes.min() - sizes)
    with np.errstate(all="ignore"):
        moved = _scaled_shifts(scaled, heights, below, units)
        # If other columns are so much larger, floats say nothing about a row; nor if products vanish.
        lost = (np.abs(scaled).max(axis=1) < _LEAST) | (moved < _LEAST) | np.isnan(moved)
        moved[lost] = inf
        moved[~rows.any(axis=1) | ~target.any()] = 0.0
        found = np.ldexp(moved, height - int(sizes.min()))
    return np.where(moved > 0, np.maximum(found, sys.float_info.min), 0.0)


def _scaled_shifts(rows: Floats, target: Floats, below: Floats, units: Floats) -> Floats:
    """Return the shifts in the unit of the smallest column."""
    moved = np.zeros(len(rows))
    fit = _Ridge(rows, target, below)
    leverages = fit.leverages(rows)
    for index in np.flatnonzero(leverages > 0.5):
        others = np.arange(len(rows)) != index
        rest = _Ridge(rows[others], target[others], below)
        moved[index] = rest.shifts(rows[[index]], target[[index]], units, joins=True)[0]
    kept = ~(leverages > 0.5)
    moved[kept] = fit.shifts(rows[kept], target[kept], units, joins=False)
    return moved


class _Ridge:
    """A ridge regression by the singular values of [X; root of the ridge], with bounds on what it is off."""

    def __init__(self, rows: Floats, target: Floats, below: Floats) -> None:
        left, values, self.vectors = np.linalg.svd(np.vstack([rows, below]), full_matrices=False)
        self.inverse = np.divide(1.0, values, out=np.full_like(values, inf), where=values > 0)
        condition = float(values[0] * self.inverse[-1])
        self.off = _ROUNDING * len(values) * condition * condition
        self.known = self.off < 2.0**-4
        if self.known:
            solution = self.vectors.T @ (self.inverse * (left[: len(rows)].T @ target))
            self.solution = solution
            residual = float(np.linalg.norm(target - rows @ solution) + np.linalg.norm(below @ solution))
            self.length = float(np.linalg.norm(solution))
            self.residual_off = self.off * (residual + float(values[0]) * self.length)

    def leverages(self, rows: Floats) -> Floats:
        """Return x^T G^-1 x of each row."""
        if not self.known:
            return np.zeros(len(rows))
        return np.asarray(((rows @ self.vectors.T * self.inverse) ** 2).sum(axis=1), dtype=np.float64)

    def shifts(self, rows: Floats, target: Floats, units: Floats, *, joins: bool) -> Floats:
        """Bound by how far the estimate moves when each row joins those of the fit, or leaves them."""
        if not self.known:
            return np.full(len(rows), inf)
        directions = (rows @ self.vectors.T * self.inverse**2) @ self.vectors
        leverages = self.leverages(rows)
        lengths = np.hypot.reduce(directions * units, axis=1)
        lengths += self.off * np.hypot.reduce(directions, axis=1)
        residuals = np.abs(target - rows @ self.solution)
        residuals += self.residual_off + _ROUNDING * len(units) * np.abs(target)
        share = 1 + leverages * (1 - self.off) if joins else 1 - leverages * (1 + self.off)
        return np.asarray(lengths * residuals / share * (1 + 4 * self.off), dtype=np.float64)


def _places(persons: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the place of each row's person among the distinct ones, and their numbers of rows."""
    try:
        _, places, counts = np.unique(np.asarray(persons).ravel(), return_inverse=True, return_counts=True)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("persons", "cannot be put in order", "identifiers of one type") from None
    return places, counts


def _totals(
    values: ArrayLike, persons: ArrayLike
) -> tuple[list[int], NDArray[np.intp], NDArray[np.bool_], Fraction]:
    """Return each person's exact sum, in units, and number of rows; whose sum is not finite; and the unit."""
    entries, finite, unit = _exact(values)
    places, counts = _places(persons)
    if entries.shape != places.shape:
        raise ParameterError("persons", "has another length than the values", "one person for each value")
    totals = np.zeros(len(counts), dtype=object)
    np.add.at(totals, places, entries)
    unknown = np.zeros(len(counts), dtype=bool)
    unknown[places[~finite]] = True
    return [int(total) for total in totals], counts, unknown, unit


def _exact(values: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_], Fraction]:
    """Return values as Python's integers in a unit, a power of two; which ones are finite; and the unit."""
    try:
        whole = exact_integers(values, "values").ravel()
        return whole.astype(object), np.ones(len(whole), dtype=bool), Fraction(1)
    except ParameterError:
        held = reals(values, "values").ravel()
    finite = np.isfinite(held)
    mantissas, exponents = np.frexp(np.where(finite, held, 0.0))
    least = int(exponents.min(initial=0)) - 53
    digits = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    return digits << (exponents - 53 - least).astype(object), finite, Fraction(2) ** least
