"""From rho to (epsilon, delta) and back, with every rounding to the safe side.

If D_alpha(P || Q) <= rho alpha at one order alpha > 1, then P(S) <= e^epsilon Q(S) + delta with

    log delta = (alpha - 1)(alpha rho - epsilon) - log(alpha - 1) - alpha log(alpha / (alpha - 1))

(Canonne, Kamath & Steinke 2020, Proposition 12; the best that this order's moment alone implies).
Every order gives a valid answer: the best is looked for with floats, and the answer at that order is
computed with enclosed logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import inf

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.rational import float_above, float_below

__all__ = ["best_order", "divergence_below", "epsilon_above", "renyi_epsilon_above", "rho_below"]

_GAP = Fraction(2) ** 40  # orders are rounded to 1/2^40 above 1: any order will do
_SMALL_DELTA = Fraction(1, 10**6)  # below, the simple formula is within 1e-4 of the optimum
_MOST_EPSILON = 500.0
_TOUCHES = np.concatenate([np.geomspace(1e-9, 0.5, 800), 1 - np.geomspace(1e-6, 0.5, 400)[::-1]])


def epsilon_above(rho: Fraction, delta: Fraction) -> float:
    """Return the least epsilon for which rho implies (epsilon, delta), rounded up; infinity for delta 0."""
    if rho == 0:
        return 0.0
    if delta == 0:
        return inf
    if delta >= 1:
        return 0.0
    slope, log_delta = min(float_above(rho), 1e12), -float(log_interval(1 / delta)[1])
    order = _best(lambda a: -(a * slope + (-log_delta - _constant(a)) / (a - 1)))
    return renyi_epsilon_above(order, rho * order, delta)


def renyi_epsilon_above(order: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """Return the epsilon of (epsilon, delta) that one Rényi divergence implies, rounded up."""
    if divergence == 0 or delta >= 1:
        return 0.0
    if delta == 0:
        return inf
    exact = divergence + (log_interval(1 / delta)[1] - _constant_below(order)) / (order - 1)
    simple = float_above(max(exact, Fraction(0)))
    return simple if delta < _SMALL_DELTA else _sharpened(order, divergence, delta, simple)


def _sharpened(order: Fraction, divergence: Fraction, delta: Fraction, simple: float) -> float:
    """Use that ratios have mean 1, too: the exact optimum at one order (docs/proofs/renyi.md, on conversion).

    Floats look for an epsilon and for where the curve touches 0; that this epsilon is kept is then proven.
    """
    gap, loss, target = float(order - 1), float(divergence), float(delta)
    if not (1e-6 < gap < 1e4 and 0 < simple < _MOST_EPSILON and gap * loss < _MOST_EPSILON):
        return simple
    low, high = 0.0, simple
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        fits = _touching(gap, loss, middle).min() <= target
        low, high = (low, middle) if fits else (middle, high)
    wanted = Fraction(high * (1 + 1e-9))
    touch = Fraction(float(_TOUCHES[int(np.argmin(_touching(gap, loss, float(wanted))))]))
    kept = wanted < simple and _touching_above(order, divergence, wanted, touch) <= delta
    return float_above(wanted) if kept else simple


def _touching(gap: float, divergence: float, epsilon: float) -> NDArray[np.float64]:
    """Return about the delta of each curve that touches 0 at s x and r - e^epsilon at x."""
    top, bottom, slope, start, scale = _touched(gap)
    log_x = epsilon + top - bottom
    second = np.exp(np.minimum(gap * (divergence - log_x), 700))
    found = (slope * np.exp(log_x) - start + second) / scale
    return np.asarray(np.where(found >= 0, found, np.inf))


@lru_cache(maxsize=16)
def _touched(gap: float) -> tuple[NDArray[np.float64], ...]:
    """Return what `_touching` needs of an order alone: a search over epsilons asks some thirty times."""
    v = _TOUCHES**gap
    parts = (
        np.log((gap + 1) * (1 - v)),
        np.log(gap * (1 - v * _TOUCHES)),
        gap * v * _TOUCHES,
        (gap + 1) * v,
        (gap + 1) * (1 - v),
    )
    for part in parts:
        part.flags.writeable = False
    return parts


def _touching_above(order: Fraction, divergence: Fraction, epsilon: Fraction, s: Fraction) -> Fraction:
    """Bound that delta from above, with every exponential and logarithm enclosed."""
    gap = order - 1
    low, high = (exp_interval(gap * log_s)[side] for side, log_s in enumerate(log_interval(s)))
    least, most = exp_interval(epsilon)
    x_low = least * order * (1 - high) / (gap * (1 - low * s))
    x_high = most * order * (1 - low) / (gap * (1 - high * s))
    second = exp_interval(gap * (divergence - log_interval(x_low)[0]))[1]
    return (gap * high * s * x_high - order * low + second) / (order * (1 - high))


def rho_below(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho that implies (epsilon, delta), rounded down; 0 for delta 0."""
    if delta == 0:
        return Fraction(0)
    order = best_order(epsilon, delta)
    return Fraction(max(float_below(divergence_below(order, epsilon, delta) / order), 0.0))


def best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return an order at which the largest rho implies (epsilon, delta), nearly; delta is above 0."""
    target, log_delta = min(float_below(epsilon), 1e12), -float(log_interval(1 / delta)[1])
    return _best(lambda a: (target + (log_delta + _constant(a)) / (a - 1)) / a)


def divergence_below(order: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a bound on the divergence at an order that implies (epsilon, delta); negative if none does."""
    return epsilon + (_constant_below(order) - log_interval(1 / delta)[1]) / (order - 1)


def _constant(orders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(alpha - 1) + alpha log(alpha / (alpha - 1))."""
    return np.asarray(np.log(orders - 1) + orders * np.log1p(1 / (orders - 1)))


def _constant_below(order: Fraction) -> Fraction:
    return log_interval(order - 1)[0] + order * log_interval(order / (order - 1))[0]


def _best(objective: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Fraction:
    """Return an order at which a function with one peak is nearly largest."""
    gaps = np.geomspace(1e-8, 1e10, 181)
    for _ in range(4):
        values = objective(1 + gaps)
        best = int(np.argmax(values))
        peak = float(gaps[best])
        gaps = np.geomspace(gaps[max(best - 1, 0)], gaps[min(best + 1, len(gaps) - 1)], 65)
    return 1 + Fraction(round(Fraction(peak) * _GAP), _GAP)
