"""Where to look for the loss of a whole run, and how to tilt it: free choices, made by rough laws.

Every window gives true bounds, since what it leaves out is bounded by the laws on the lattice themselves; a
good one is short, so that the lattice is fine.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

import numpy as np

from discreet.accounting.contour.contour import peak
from discreet.accounting.lattice_runs.step import NormalStep
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["SPARE", "LatticeWindow", "choose_window", "guess_delta", "guess_epsilon"]


SPARE = 1e-7
"""The part of delta that each of three things left out may take."""
_ORDERS = np.geomspace(1e-3, 1e8, 81)
_NEGATIVE = np.geomspace(1e-3, 1e8, 34)
_TRANSFORM = 1e-14  # about the rounding of a transform, for each step
_FOR_ROUNDING = 1e-5  # the part of delta that it may take, where delta falls as 1 / epsilon
_ROUNDED = 3.0  # how much longer a window may be, in powers, to round less
_LEAST_STEEP, _MOST_STEEP = 0.3, 20.0
_USUAL = 2.0**14
_GUESSES = 3
_SHORTEST = 1e-2
_SPREAD = 0.4  # the more steps, the fewer values of their transform matter, and round


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeWindow:
    """A window of losses and a tilt.

    Attributes
    ----------
    order : float
        Laws are tilted by e^(order L).
    larger : float
        A larger order, whose Chernoff bound limits what lies above the window.
    tail : float
        An order whose Chernoff bound limits the probability above the window.
    smaller : float
        Minus a negative order, whose Chernoff bound limits what lies below the window.
    top : float
        The upper end of the window.
    length : float
        Its length.
    most : float
        Losses of one step beyond it decide alone.
    least : tuple of float
        For each step, a loss below which the others hardly matter.
    """

    order: float
    larger: float
    tail: float
    smaller: float
    top: float
    length: float
    most: float
    least: tuple[float, ...]


def _cumulants(laws: Sequence[tuple[Floats, Floats, int]], orders: Floats) -> Floats:
    total = np.zeros(len(orders))
    for masses, losses, times in laws:
        exponents = np.log(masses) + np.multiply.outer(orders, losses)
        largest = exponents.max(axis=-1)
        total += times * (largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=-1)))
    return total


def _rough(steps: Sequence[NormalStep], most: float) -> list[tuple[Floats, Floats, int]]:
    """Return rough laws without losses beyond `most`."""
    laws = []
    for step in steps:
        masses, losses = step.rough()
        kept = (masses > 0) & np.append(True, losses[:-1] <= most)
        laws.append((masses[kept], np.minimum(losses[kept], most), step.times))
    return laws


def guess_epsilon(steps: Sequence[NormalStep], log_delta: float) -> float:
    """Return roughly Chernoff's bound on epsilon at a delta, without losses that decide alone."""
    found = inf
    largest = max(step.ends[1] for step in steps)
    for _ in range(_GUESSES):
        exponents = _cumulants(_rough(steps, deciding(steps, found)), _ORDERS) + peak(_ORDERS) - log_delta
        found = min(found, max(float(np.nanmin(exponents / _ORDERS)), 0.0))
        if deciding(steps, found) >= largest:
            break
    return found


def guess_delta(steps: Sequence[NormalStep], epsilon: float) -> float:
    """Return roughly the logarithm of Chernoff's bound on delta at an epsilon."""
    return min(
        float(np.nanmin(_cumulants(_rough(steps, inf), _ORDERS) + peak(_ORDERS) - _ORDERS * epsilon)), -1e-3
    )


def deciding(steps: Sequence[NormalStep], epsilon: float) -> float:
    """Return a loss that exceeds epsilon for anything that all other steps add to it."""
    return epsilon - sum(step.times * step.least for step in steps) if epsilon < inf else inf


def choose_window(
    steps: Sequence[NormalStep], log_delta: float, near: float, epsilon: float, most: float
) -> LatticeWindow:
    """Return a short window for a delta and epsilons from `near` on; losses beyond `most` decide alone."""
    most = min(most, max(step.ends[1] for step in steps))
    laws = _rough(steps, most)
    spared = log_delta + log(SPARE)
    high = _cumulants(laws, _ORDERS)
    low = _cumulants(laws, -_NEGATIVE)
    count = sum(step.times for step in steps)
    largest, least = count * most, sum(step.times * step.ends[0] for step in steps)
    tails = (high - spared) / _ORDERS
    tail = int(np.nanargmin(tails))
    top = min(float(tails[tail]), largest)
    best = int(np.nanargmin(high - _ORDERS * epsilon + peak(_ORDERS)))
    orders = _ORDERS[: best + 1]
    # What rounding of the transform costs at an order, next to delta.
    lost = high[: best + 1] - orders * epsilon - log_delta
    steep = min(max(float(_ORDERS[best]) * epsilon, _LEAST_STEEP), _MOST_STEEP)
    least_digits = log(_FOR_ROUNDING * steep * 30 / (_TRANSFORM * _USUAL)) - _SPREAD * log(count)
    allowed = least_digits + np.log1p(orders)
    excess = np.maximum(lost - np.maximum(allowed, lost[-1]), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = _ORDERS - orders[:, None]
        reach = np.where(
            gaps > 0.01 * orders[:, None], (high - _ORDERS * near + peak(_ORDERS) - spared) / gaps, inf
        )
        depth = (low + _NEGATIVE * top - spared) / (orders[:, None] + _NEGATIVE)
    above = np.minimum(np.nanmin(reach, axis=1), largest - near)
    below = np.minimum(np.nanmin(depth, axis=1), top - least)
    lengths = np.maximum(np.maximum(above, below), max(top - near, _SHORTEST * top))
    # Of windows that are about as short, the one with the most tilt rounds least.
    worth = np.log(lengths) + _ROUNDED * excess
    chosen = int(np.flatnonzero(worth <= 0.02 + worth.min())[-1])
    return LatticeWindow(
        order=float(orders[chosen]),
        larger=float(_ORDERS[int(np.nanargmin(reach[chosen]))]),
        tail=float(_ORDERS[tail]),
        smaller=float(_NEGATIVE[int(np.nanargmin(depth[chosen]))]),
        top=top,
        length=float(lengths[chosen]) * 1.001,
        most=most,
        least=tuple(_least(*law, float(orders[chosen]), count) for law in laws),
    )


def _least(masses: Floats, losses: Floats, times: int, order: float, count: int) -> float:
    """Return a loss to which all lesser ones may move: that adds little to the mass tilted by an order."""
    del times
    weights = np.exp(np.log(masses) + order * (losses - losses[-1]))
    moved = np.cumsum(masses) * np.exp(order * (losses - losses[-1]))
    return float(losses[int(np.searchsorted(moved, SPARE / count * weights.sum()))])
