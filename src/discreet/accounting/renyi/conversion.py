"""From Rényi divergences at single orders to (epsilon, delta): the best that one order can say.

Proof: docs/proofs/renyi.md, the theorem on conversion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats
from discreet.errors import ParameterError

__all__ = ["checked_orders", "delta_from_renyi", "epsilon_from_renyi"]


_ABOVE = 1 + 1e-12  # more than the rounding of the formula it multiplies


def delta_from_renyi(divergences: ArrayLike, orders: ArrayLike, epsilon: float) -> float:
    """Return the smallest delta that follows from bounds at single orders.

    With gamma = e^epsilon and any 0 <= s < 1, v = s^(alpha - 1), the curve a + b r + c r^alpha that touches
    0 at r = s x and r - gamma at r = x lies above (r - gamma)+ at every r = P/Q. Its mean under Q is

        delta = ((alpha - 1) v s x - alpha v + M x^(1 - alpha)) / (alpha (1 - v)),
        x = gamma alpha (1 - v) / ((alpha - 1)(1 - v s)),   M = e^((alpha - 1) D_alpha).

    v = 0 is the bound of Canonne, Kamath & Steinke (2020); the best v is the exact optimum at one order
    (Asoodeh et al. 2021), since two ratios attain it.
    """
    alpha, bounds = _curve(divergences, orders)
    if epsilon < 0:
        raise ParameterError("epsilon", "is negative", "0 or greater")
    # A delta may underflow, but is not 0 unless the laws are equal.
    return float(np.clip(_deltas(alpha, bounds, epsilon).min(), 5e-324, 1.0)) if bounds.min() > 0 else 0.0


def _deltas(alpha: Floats, bounds: Floats, epsilon: float) -> Floats:
    alpha, bounds = alpha[:, None], bounds[:, None]
    lower = np.append(0.0, 1 - np.geomspace(1, 1e-12, 120)[1:])  # where the curve touches 0: s x, at most 1
    v, s = np.zeros_like(alpha), np.zeros_like(alpha)
    for _ in range(12):  # any v is sound, so that it need not converge
        log_x = epsilon + np.log(alpha * (1 - v)) - np.log((alpha - 1) * (1 - v * s))
        s = np.minimum(lower * np.exp(-log_x), 1 - 1e-12)
        v = s ** (alpha - 1)
    log_x = epsilon + np.log(alpha * (1 - v)) - np.log((alpha - 1) * (1 - v * s))
    with np.errstate(over="ignore", invalid="ignore"):
        first = np.where(v * s > 0, (alpha - 1) * v * s * np.exp(log_x), 0.0)
        second = np.exp((alpha - 1) * (bounds - log_x))
        rounding = 1e-13 * (first + alpha * v + second * (1 + (alpha - 1) * np.abs(log_x)))
        found = (first - alpha * v + second + rounding) / (alpha * (1 - v))
    return np.asarray(np.where(np.isnan(found), np.inf, found).min(axis=1))


def epsilon_from_renyi(divergences: ArrayLike, orders: ArrayLike, delta: float) -> float:
    """Return the smallest epsilon that follows from bounds at single orders; see `delta_from_renyi`."""
    alpha, bounds = _curve(divergences, orders)
    if not 0 <= delta < 1:
        raise ParameterError("delta", "is out of range", "at least 0 and below 1")
    if delta == 0:
        return float("inf") if bounds.min() > 0 else 0.0
    simple = bounds + np.log1p(-1 / alpha) - (np.log(delta) + np.log(alpha)) / (alpha - 1)
    high = max(0.0, float(simple.min()) * _ABOVE + 1e-300)
    if not np.isfinite(high):
        return high
    if _deltas(alpha, bounds, 0.0).min() <= delta:
        return 0.0
    for _ in range(3):  # by the few orders that are best at the epsilon found so far
        few = np.argsort(_deltas(alpha, bounds, high))[:12]
        low = 0.0
        while high - low > 1e-10 * high:
            middle = (low + high) / 2
            fits = _deltas(alpha[few], bounds[few], middle).min() <= delta
            low, high = (low, middle) if fits else (middle, high)
    return high


def checked_orders(orders: ArrayLike) -> Floats:
    """Return orders as an array; refuse what is not finite and above 1."""
    array = np.array(orders, dtype=float, ndmin=1)
    if array.ndim != 1 or not array.size or not np.all((array > 1) & np.isfinite(array)):
        raise ParameterError("orders", "are not all finite and above 1", "a list of numbers above 1")
    return array


def _curve(divergences: ArrayLike, orders: ArrayLike) -> tuple[Floats, Floats]:
    alpha, bounds = checked_orders(orders), np.atleast_1d(np.asarray(divergences, dtype=float))
    if bounds.shape != alpha.shape or not np.all(bounds >= 0):
        raise ParameterError(
            "divergences", "do not fit the orders", "one number for each order, 0 or greater"
        )
    return alpha, bounds
