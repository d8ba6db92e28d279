"""Aggregates of released numbers, and what they can be of the exact ones.

Of each row it is known whether it is in the released table, whether it is in the exact one for sure, and
within which ends its number lies. An aggregate's ends hold what it gives for every choice of such rows and
numbers (proof: statements, lemma 3).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, inf, nan

import numpy as np
from numpy.typing import NDArray

from discreet.data import AggregateFunction
from discreet.queries.answers.table import Flags
from discreet.queries.outputs.possible_numbers import PossibleNumbers

__all__ = ["NUMERIC", "Ends", "aggregate_of_numbers", "count_of"]

_Floats = NDArray[np.float64]
_ROUNDING = 2.0**-52
"""Twice what one addition in doubles may lose, relative to the sum of magnitudes."""
_EXACT = 2.0**49

Ends = tuple[float, float, float, bool]
"""Low, released value, high, and whether the exact one may be NULL."""
NOTHING: Ends = (inf, nan, -inf, True)


def count_of(released: Flags, certain: Flags) -> Ends:
    """Return the number of rows."""
    return float(certain.sum()), float(released.sum()), float(len(certain)), False


def aggregate_of_numbers(
    function: AggregateFunction,
    numbers: PossibleNumbers,
    released: Flags,
    certain: Flags,
    parameter: Fraction | None,
) -> Ends:
    """Return an aggregate of the numbers of some rows.

    Parameters
    ----------
    function : AggregateFunction
        One of `NUMERIC`.
    numbers : PossibleNumbers
        Of every row that may be in the table.
    released, certain : arrays of booleans
        Which rows are in the released table, and which are in the exact one for sure.
    parameter : Fraction or None
        The share of a quantile.
    """
    possible = numbers.low <= numbers.high
    sure = (certain & possible & ~numbers.null)[possible]
    low, high = (end[possible] for end in numbers.outward())
    values = numbers.value[released & ~np.isnan(numbers.value)]
    if function is AggregateFunction.COUNT:
        return float(sure.sum()), float(len(values)), float(len(low)), False
    if not len(low):
        return NOTHING
    if function is AggregateFunction.QUANTILE:
        least, value, most = _quantile(low, values, high, sure, parameter or Fraction(1, 2))
    else:
        least, value, most = NUMERIC[function](low, values, high, sure)
    fewest = 2 if function in _SAMPLED else 1
    return least, value, most, bool(sure.sum() < fewest)


Three = tuple[float, float, float]


def _sum(low: _Floats, values: _Floats, high: _Floats, sure: Flags) -> Three:
    """Rows that may be missing count for 0, if that is further out."""
    least, most = np.where(sure, low, np.minimum(low, 0)), np.where(sure, high, np.maximum(high, 0))
    return (
        _added(least, -1),
        float(values.sum()) if len(values) else nan,
        _added(most, 1),
    )


def _added(ends: _Floats, side: int) -> float:
    """Return a sum, moved to a side by what adding in any order may lose; sums of integers lose nothing."""
    with np.errstate(invalid="ignore", over="ignore"):
        total, size = float(ends.sum()), float(np.abs(ends).sum())
    if np.isnan(total) or np.isinf(size):
        return side * inf if np.isnan(total) or total == side * inf else total
    if size < _EXACT and bool((ends == np.rint(ends)).all()):
        return total
    return total + side * len(ends) * _ROUNDING * size


def _mean(low: _Floats, values: _Floats, high: _Floats, sure: Flags) -> Three:
    least = _least_mean(low, sure)
    most = -_least_mean(-high, sure)
    return least, float(values.mean()) if len(values) else nan, most


def _least_mean(ends: _Floats, sure: Flags) -> float:
    """Return the least mean of all sets that contain the sure ones.

    It is reached by adding others in ascending order for as long as they are below the mean so far.
    """
    others = np.sort(ends[~sure])
    if not sure.any():
        return float(others[0])
    with np.errstate(invalid="ignore", over="ignore"):
        totals = ends[sure].sum() + np.concatenate([np.zeros(1), others.cumsum()])
        sizes = np.abs(ends[sure]).sum() + np.concatenate([np.zeros(1), np.abs(others).cumsum()])
        counts = sure.sum() + np.arange(len(totals))
        means = (totals - (counts + 2) * _ROUNDING * sizes) / counts
    return -inf if np.isnan(means).any() else float(means.min())


def _minimum(low: _Floats, values: _Floats, high: _Floats, sure: Flags) -> Three:
    most = high[sure].min() if sure.any() else high.max()
    return float(low.min()), float(values.min()) if len(values) else nan, float(most)


def _maximum(low: _Floats, values: _Floats, high: _Floats, sure: Flags) -> Three:
    least, value, most = _minimum(-high, -values, -low, sure)
    return -most, -value, -least


def _quantile(low: _Floats, values: _Floats, high: _Floats, sure: Flags, share: Fraction) -> Three:
    """The least number that at least a share of the numbers do not exceed: it grows with each of them."""

    def ranked(numbers: _Floats) -> float:
        return float(np.sort(numbers)[max(ceil(share * len(numbers)), 1) - 1]) if len(numbers) else nan

    if sure.all():
        return ranked(low), ranked(values), ranked(high)
    return float(low.min()), ranked(values), float(high.max())


def _deviation(low: _Floats, values: _Floats, high: _Floats, sure: Flags, *, sampled: bool) -> Three:
    """A norm of a projection over the root of n, which moves by at most the norm of the change."""
    count = len(values)
    correction = count / (count - 1) if sampled and count > 1 else nan if sampled else 1.0
    value = float(np.sqrt(values.var() * correction)) if count else nan
    if not (sure.all() and np.isfinite(low).all() and np.isfinite(high).all()):
        return 0.0, value, inf
    middle, reach = (low + high) / 2, (high - low) / 2
    size = len(low)
    scale = size / (size - 1) if sampled and size > 1 else 1.0
    spread, moved = float(np.sqrt(middle.var() * scale)), float(np.sqrt((reach**2).mean() * scale))
    slack = (size + 8) * _ROUNDING * (float(np.abs(middle).max()) + moved + spread)
    return max(0.0, spread - moved - slack), value, spread + moved + slack


def _variance(low: _Floats, values: _Floats, high: _Floats, sure: Flags, *, sampled: bool) -> Three:
    least, value, most = _deviation(low, values, high, sure, sampled=sampled)
    return least**2 * (1 - 4 * _ROUNDING), value**2, most**2 * (1 + 4 * _ROUNDING)


_SAMPLED = {AggregateFunction.SAMPLE_VARIANCE, AggregateFunction.SAMPLE_STANDARD_DEVIATION}
NUMERIC: dict[AggregateFunction, Callable[[_Floats, _Floats, _Floats, Flags], Three]] = {
    AggregateFunction.SUM: _sum,
    AggregateFunction.MEAN: _mean,
    AggregateFunction.MINIMUM: _minimum,
    AggregateFunction.MAXIMUM: _maximum,
    AggregateFunction.VARIANCE: lambda *numbers: _variance(*numbers, sampled=False),
    AggregateFunction.SAMPLE_VARIANCE: lambda *numbers: _variance(*numbers, sampled=True),
    AggregateFunction.STANDARD_DEVIATION: lambda *numbers: _deviation(*numbers, sampled=False),
    AggregateFunction.SAMPLE_STANDARD_DEVIATION: lambda *numbers: _deviation(*numbers, sampled=True),
}
"""Aggregates of numbers, by what they do with the ends of possible rows."""
