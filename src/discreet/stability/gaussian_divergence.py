"""The epsilon, at a delta, between normal noise and itself moved by a known shift: exact, for many shifts.

Between laws whose ratio increases, the worst sets are {y > m}, so that for a law with tails A
epsilon = the largest over m of log((A(m) - delta) / A(m + shift)). The m that is best at one epsilon gives
the next epsilon; this climbs to the answer in a few rounds (docs/proofs/per_instance.md, proposition 2).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import pi, sqrt

import numpy as np

from discreet.array_types import Floats

__all__ = ["ideal_epsilons", "lattice_epsilons"]

_LARGEST_TABULATED = 4096.0
_ROUNDS = 200
_BEGINNINGS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5, 3.0)
"""In deviations, from where the tail is delta."""
_ROUNDING = 2.0**-46
"""More than what a logarithm of a tail is off, with its exponent of up to 700."""
_LEAST_DELTA, _MOST_DEVIATIONS = 1e-60, 20.0
"""Beyond these, tails leave the range of floats."""

LogTail = Callable[[Floats], Floats]


def lattice_epsilons(shifts: Floats, variance: Fraction, delta: float) -> Floats:
    """Return epsilon for discrete Gaussian noise on the integers, moved by whole numbers of steps.

    Parameters
    ----------
    shifts : array of floats
        Whole numbers above 0.
    variance : Fraction
        The noise's parameter sigma^2, in squared steps.
    delta : float
        Above 0.

    Returns
    -------
    array of floats
        Rounded up; infinite where a tail leaves the range of floats.
    """
    sigma = sqrt(variance)
    tail = _tabulated(sigma) if sigma <= _LARGEST_TABULATED else _expanded(sigma)

    def places(shift: Floats, epsilon: Floats) -> Floats:
        return np.floor(epsilon * float(variance) / shift - shift / 2)

    return _climbed(shifts, tail, places, delta, sigma=sigma, whole=True)


def ideal_epsilons(ratios: Floats, delta: float) -> Floats:
    """Return epsilon for normal noise moved by some of its deviations, in any direction and dimension."""
    from scipy.special import log_ndtr

    def places(shift: Floats, epsilon: Floats) -> Floats:
        return epsilon / shift - shift / 2

    return _climbed(ratios, lambda z: np.asarray(log_ndtr(-z)), places, delta, sigma=1.0, whole=False)


def _climbed(
    shifts: Floats,
    tail: LogTail,
    best_place: Callable[[Floats, Floats], Floats],
    delta: float,
    *,
    sigma: float,
    whole: bool,
) -> Floats:
    """Return the largest log((A(m) - delta) / A(m + shift)), or 0 if it is negative, for each shift.

    Every m bounds it from below. The climb begins with the best of some m at which A(m) is a little above
    delta: from far below it would take a step for each unit of epsilon.
    """
    found = np.full(len(shifts), np.inf)
    if delta < _LEAST_DELTA:
        return found
    within = shifts <= _MOST_DEVIATIONS * sigma
    moved = shifts[within]
    state = np.zeros(len(moved)), np.zeros(len(moved))
    edge = _quantile(delta)
    for below in _BEGINNINGS:
        place = (edge - below) * sigma
        state = _better(state, np.full(len(moved), np.floor(place) if whole else place), moved, tail, delta)
    for _ in range(_ROUNDS):
        before = state[0]
        for beside in (-1.0, 0.0, 1.0) if whole else (0.0,):
            state = _better(state, best_place(moved, before) + beside, moved, tail, delta)
        if np.all(state[0] <= before * (1 + 1e-15)):
            break
    else:
        return found
    epsilon, padding = state
    found[within] = np.where(np.isfinite(epsilon), epsilon + padding, np.inf)
    return found


def _better(
    state: tuple[Floats, Floats], near: Floats, moved: Floats, tail: LogTail, delta: float
) -> tuple[Floats, Floats]:
    """Return the larger of an epsilon so far and that of other places, each with what floats may be off."""
    high, far = tail(near), tail(near + moved)
    left = -np.expm1(np.log(delta) - high)  # 1 - delta / A(m)
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = np.where(left > 0, high + np.log(np.maximum(left, 0.0)) - far, -np.inf)
        lost = _ROUNDING * (1 + np.abs(high) + np.abs(far)) / np.maximum(left, 1e-300)
    better = reached > state[0]
    return np.where(better, reached, state[0]), np.where(better, lost, state[1])


def _quantile(delta: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(delta))


def _tabulated(sigma: float) -> LogTail:
    """Return log P(N > m) from a table of the law."""
    magnitudes = np.arange(int(39 * sigma) + 3, dtype=np.float64)
    weights = np.exp(-(magnitudes**2) / (2 * sigma**2))
    beyond = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0)
    beyond /= 1 + 2 * beyond[0]
    with np.errstate(divide="ignore"):
        above, below = np.log(beyond), np.log1p(-beyond)

    def tail(m: Floats) -> Floats:
        places = np.minimum(np.where(m >= 0, m, -m - 1), len(beyond) - 1).astype(np.intp)
        return np.asarray(np.where(m >= 0, above[places], below[places]), dtype=np.float64)

    return tail


def _expanded(sigma: float) -> LogTail:
    """Return log P(N > m) by Euler and Maclaurin: a normal tail at m + 1/2, and one term of the density."""
    from scipy.special import erfcx, log_ndtr

    def tail(m: Floats) -> Floats:
        z = (m + 0.5) / sigma
        share = z / (12 * sigma**2 * sqrt(2 * pi)) / erfcx(z / sqrt(2))
        return np.asarray(log_ndtr(-z) + np.log1p(-share))

    return tail
