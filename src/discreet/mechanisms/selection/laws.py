"""The laws of selections, as logarithms of probabilities: for figures, in double precision.

Ratios are differences of the logarithms, so that they are right where probabilities underflow. Every law is
checked against an enumeration of the code that draws.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, exp, expm1, log, log1p, perm

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError

__all__ = ["above_threshold_law", "choice_law", "noisy_max_law", "permute_and_flip_law", "top_k_law"]

Law = tuple[list[str], NDArray[np.float64]]
"""The outcomes by name, and the logarithms of their probabilities."""

MOST_OUTCOMES = 1000
_NODES = 256
_LEAST_POINTS, _MOST_POINTS = 1 << 13, 1 << 17
_MOST_NUMBERS = 1 << 22
_FAR = 60.0
"""Laplace noise exceeds so many scales with a probability of e^-60."""
_WIDEST = 1 / 16
"""In scales: points this far apart sum up to the law to about three digits, which is what a figure shows."""


def choice_law(steps: NDArray[np.int64], rate: float) -> Law:
    """Return the law of the exponential mechanism: weights exp(rate steps)."""
    exponents = rate * (steps - steps.max())
    return _numbered(len(steps)), np.asarray(exponents - np.log(np.exp(exponents).sum()))


def permute_and_flip_law(steps: NDArray[np.int64], rate: float) -> Law:
    """Return the law of a uniform choice among the successes of independent coins.

    With q_j = exp(-rate (best - steps_j)) candidate i has probability q_i E[1 / (1 + B)], B the other
    successes: q_i times the integral over t from 0 to 1 of prod_{j != i} (1 - q_j + q_j t). Gauss' rule with
    m nodes is exact for up to 2 m candidates; beyond, the product is near 0 except close to 1, where nodes
    are dense.
    """
    logs = rate * (steps - steps.max())
    nodes, weights = np.polynomial.legendre.leggauss(min(len(steps) // 2 + 1, _NODES))
    nodes, weights = (nodes + 1) / 2, weights / 2
    factors = np.log1p(np.exp(logs)[:, None] * (nodes - 1))
    others = factors.sum(axis=0) - factors + np.log(weights)
    return _numbered(len(steps)), np.asarray(logs + np.logaddexp.reduce(others, axis=1))


def noisy_max_law(steps: NDArray[np.int64], rate: float) -> Law:
    """Return the law of the index of the largest noisy score, the smallest such index among equals.

    It is the sum over v of P(X_i = v) prod_{j < i} P(X_j < v) prod_{j > i} P(X_j <= v), where X_j is steps_j
    plus discrete Laplace noise of scale 1 / rate: over all integers, or over some of them where the scale is
    many steps.
    """
    points, apart = _points(steps, rate, rate, len(steps))
    offsets = [points - float(step - steps.max()) for step in steps]
    at_most = [_log_cumulative(offset, rate) for offset in offsets]
    below = [_log_cumulative(offset - 1, rate) for offset in offsets]
    after = sum(at_most)
    before = np.zeros_like(points)
    laws = []
    for offset, own, smaller in zip(offsets, at_most, below, strict=True):
        after = after - own
        laws.append(np.logaddexp.reduce(_log_mass(offset, rate) + before + after))
        before = before + smaller
    return _numbered(len(steps)), np.array(laws) + log(apart)


def top_k_law(steps: NDArray[np.int64], rate: float, k: int) -> Law:
    """Return the law of the k candidates in the order in which they are chosen, without replacement."""
    _check_outcomes(perm(len(steps), k))
    logs = rate * (steps - steps.max())
    names, laws = [], []
    for chosen in permutations(range(len(steps)), k):
        left = np.ones(len(steps), bool)
        total = 0.0
        for one in chosen:
            total += logs[one] - np.logaddexp.reduce(logs[left])
            left[one] = False
        names.append(", ".join(map(str, chosen)))
        laws.append(total)
    return names, np.array(laws)


def above_threshold_law(steps: NDArray[np.int64], rates: tuple[float, float], positives: int) -> Law:
    """Return the law of the first `positives` values that are found at or above a noisy threshold of 0.

    `steps` are the values less the threshold, `rates` those of the noise on the threshold and on the values.
    Given the noisy threshold the answers are independent; the sum is over all integers that it may be, or
    over some of them where its scale is many steps.
    """
    count = len(steps)
    most = min(positives, count)
    _check_outcomes(sum(comb(count, size) for size in range(most + 1)))
    places = np.append(steps, 0)
    points, apart = _points(places, min(rates), max(rates), count)
    points += float(places.max())
    threshold = _log_mass(points, rates[0]) + log(apart)
    # A value is found where step + noise >= threshold: by symmetry where noise <= step - threshold.
    found = [_log_cumulative(float(step) - points, rates[1]) for step in steps]
    missed = [_log_cumulative(points - 1 - float(step), rates[1]) for step in steps]
    names, laws = [], []
    for size in range(most, -1, -1):
        for chosen in combinations(range(count), size):
            tested = chosen[-1] + 1 if size == positives else count
            total = threshold + sum(found[one] if one in chosen else missed[one] for one in range(tested))
            names.append(", ".join(map(str, chosen)) or "none")
            laws.append(np.logaddexp.reduce(total))
    return names, np.array(laws)


def _numbered(count: int) -> list[str]:
    return [str(candidate) for candidate in range(count)]


def _check_outcomes(count: int) -> None:
    if count > MOST_OUTCOMES:
        raise ParameterError(
            "scores",
            f"have {count} outcomes, too many for a figure",
            f"fewer: at most {MOST_OUTCOMES} outcomes",
        )


def _points(
    places: NDArray[np.int64], slowest: float, fastest: float, count: int
) -> tuple[NDArray[np.float64], int]:
    """Return where to sum, less the last place, and how many steps the points are apart.

    They reach `_FAR` scales beyond the places on either side, and lie close compared with the smallest scale.
    """
    spread, tail = int(places.max()) - int(places.min()), int(_FAR / slowest) + 1
    most = min(max(_MOST_NUMBERS // count, _LEAST_POINTS), _MOST_POINTS)
    apart = -(-(spread + 2 * tail) // most)
    if apart > 1 and apart * fastest > _WIDEST:
        raise ParameterError("scores", "are too far apart for a figure of their law", "closer together")
    return np.arange(-spread - tail, tail + 1, apart).astype(np.float64), apart


def _log_mass(noise: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Return log P(N = k) of the discrete Laplace law of scale 1 / rate."""
    return np.asarray(log(-expm1(-rate)) - log1p(exp(-rate)) - rate * np.abs(noise))


def _log_cumulative(noise: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Return log P(N <= k): e^(rate k) / c below 0, else 1 - e^(-rate (k + 1)) / c, with c = 1 + e^-rate."""
    scale = log1p(exp(-rate))
    low = rate * np.minimum(noise, 0.0) - scale
    high = np.log1p(-np.exp(-rate * (np.maximum(noise, 0.0) + 1) - scale))
    return np.where(noise < 0, low, high)
