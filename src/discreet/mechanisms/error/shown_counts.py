"""How wrong a shown count is, given that it was shown: intervals that hold for every key on the answer.

A count n is shown as v = n + N where v reaches the threshold T. Near T those are shown whose noise is large,
so that v ± t misses n more often than t says. The interval here is what a test of every n would not reject:
with u(n) the least u with P(abs(N) > u | n + N >= T) <= 1 - confidence, it is all n >= 1 with
abs(v - n) <= u(n), and what lies between them. Given that a key is shown it misses with at most the failure
probability, whatever n is (proof: counted_keys, theorem 2).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.records import dataclass

__all__ = ["ShownCounts", "shown_counts"]

_SLACK = 1 - 2.0**-26
"""What is left of the failure probability once tails in floats, each off by a billionth, are allowed for."""

_MOST_TABULATED = 1 << 21


class _Noise(Protocol):
    def tails(self, least: NDArray[np.int64]) -> NDArray[np.float64]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownCounts:
    """The intervals of all counts that one threshold shows.

    Attributes
    ----------
    threshold : int
        The least that is shown.
    margin : int
        How far above a shown count the interval ends, and how far below one that is far above the threshold
        it begins.
    span : int
        How many counts, from the threshold on, have an interval that begins elsewhere.
    lowest : array of integers
        Where the intervals of these begin: of each, or one for all.
    """

    threshold: int
    margin: int
    span: int
    lowest: NDArray[np.int64]

    def lower(self, shown: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the intervals of shown counts begin: at 1 or above."""
        near = self.lowest[np.minimum(shown - self.threshold, len(self.lowest) - 1)]
        return np.where(shown - self.threshold < self.span, near, shown - self.margin)

    def upper(self, shown: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where they end."""
        return shown + self.margin


@lru_cache(maxsize=32)
def shown_counts(noise: _Noise, threshold: int, confidence: Fraction) -> ShownCounts:
    """Return the intervals for a noise and a threshold.

    With t the margin without a threshold, u(n) is at most t for n >= T, and n + u(n) at most T + t below. So
    shown counts above T + 2 t come from n >= v - t alone, and u is searched for up to n = T + t; where that
    is far, all counts up to T + 2 t get intervals from 1 on.
    """
    failure = float(1 - confidence) * _SLACK
    margin = _margin(noise, failure)
    span = 2 * margin + 1
    if threshold + margin > _MOST_TABULATED:
        return ShownCounts(threshold=threshold, margin=margin, span=span, lowest=np.ones(1, np.int64))
    true = np.arange(1, threshold + margin + 1)
    reach = true + _margins_if_shown(noise, threshold - true, failure, margin)
    # A count v may come from every n with n + u(n) >= v: from the first one of these on.
    shown = np.arange(threshold, threshold + span)
    first = np.searchsorted(np.maximum.accumulate(reach), shown)
    found = np.where(first < len(true), true[np.minimum(first, len(true) - 1)], shown - margin)
    return ShownCounts(threshold=threshold, margin=margin, span=span, lowest=np.minimum(found, shown))


def _margin(noise: _Noise, failure: float) -> int:
    """Return the least t with P(abs(N) > t) at most the failure probability."""
    upper = 1
    while 2 * noise.tails(np.array([upper + 1]))[0] > failure:
        upper *= 2
    steps = np.arange(upper + 1)
    return int(np.argmax(2 * noise.tails(steps + 1) <= failure))


def _margins_if_shown(
    noise: _Noise, short: NDArray[np.int64], failure: float, margin: int
) -> NDArray[np.int64]:
    """Return, for counts that are short of the threshold by so much, u: found by bisection, all at once."""
    chance = noise.tails(short)
    low, high = np.full(len(short), -1), np.maximum(short, 0) + margin
    while (high - low > 1).any():
        middle = (low + high) // 2
        good = _misses(noise, short, middle, chance) <= failure * chance
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return high


def _misses(
    noise: _Noise, short: NDArray[np.int64], u: NDArray[np.int64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(abs(N) > u and N >= short)."""
    above = noise.tails(np.maximum(u + 1, short))
    below = np.where(short < -u, chance - noise.tails(-u), 0.0)
    return above + np.maximum(below, 0.0)
