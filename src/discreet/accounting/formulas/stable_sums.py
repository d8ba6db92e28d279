"""Sums that formulas share, without cancellation and quick for few numbers."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from math import isfinite, log

import numpy as np

from discreet.array_types import Floats

__all__ = ["excess", "excess_exponential", "log_choose", "log_sum"]


# Up to which size of its argument a series needs how many terms, for the rest to be below 1e-15 of it.
_POWER_SIZES, _POWER_TERMS = (1e-3, 0.03, 0.3), (8, 14, 40)
_EXPONENTIAL_SIZES, _EXPONENTIAL_TERMS = (1e-5, 1e-2, 0.1, 1.0), (5, 9, 13, 22)


def excess(x: Floats | float, power: Floats | float) -> Floats:
    """Return (1 + x)^power - 1 - power x, without cancellation; it is not negative for power > 1 or < 0."""
    x, power = np.asarray(x, dtype=float), np.asarray(power, dtype=float)
    sizes = np.abs(x) * np.maximum(np.abs(power), 1)
    small = sizes < _POWER_SIZES[-1]
    near, series = np.where(small, x, 0.0), np.ones_like(sizes)
    # Each term is at most 4/3 of the size times the one before.
    size = float(sizes[small].max(initial=0.0))
    for k in range(_POWER_TERMS[bisect_right(_POWER_SIZES, size)], 2, -1):
        series = 1 + (power - k + 1) / k * near * series
    series = power * (power - 1) / 2 * near**2 * series
    return series if small.all() else np.where(small, series, np.expm1(power * np.log1p(x)) - power * x)


def excess_exponential(x: Floats) -> Floats:
    """Return e^x - 1 - x, without cancellation."""
    small = np.abs(x) < 1
    near, series = np.where(small, x, 0.0), np.ones_like(x)
    size = float(np.abs(near).max(initial=0.0))
    for k in range(_EXPONENTIAL_TERMS[bisect_right(_EXPONENTIAL_SIZES, size)], 2, -1):
        series = 1 + near / k * series
    series = near**2 / 2 * series
    return series if small.all() else np.where(small, series, np.expm1(x) - x)


@lru_cache(maxsize=256)
def log_choose(order: int) -> Floats:
    """Return log C(order, k) at k = 2, …, order."""
    from scipy.special import gammaln

    k = np.arange(2, order + 1)
    found: Floats = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    found.flags.writeable = False
    return found


def log_sum(logs: Floats) -> float:
    """Return the logarithm of the sum of exponentials."""
    top = float(logs.max())
    return top + log(float(np.exp(logs - top).sum())) if isfinite(top) else top
