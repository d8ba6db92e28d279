"""How many of many independent coins fall on one side, from above: for caps and for places in a batch."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p

import numpy as np

from discreet.privacy.rational import float_above

__all__ = ["binomial_tail", "least_count"]

_TERMS = 4000
_LEAST = 1e-300  # below it a product of floats may be rounded to less than what it bounds


def binomial_tail(trials: int, least: int, rate: Fraction) -> float:
    """Bound P(Bin(trials, rate) >= least) from above.

    From the largest term on, each is at most this many times the one before: where there are more than 4000,
    the last of those summed bounds the rest by a geometric series. At or below the mean it is 1, and 0 where
    nothing reaches it.
    """
    chance = float_above(rate)
    if least > trials:
        return 0.0
    if least == 0:
        return 1.0
    if chance == 0:
        return 0.0
    if chance >= 1 or (trials - least) * chance >= (least + 1) * (1 - chance):
        return 1.0
    from scipy.special import gammaln

    logs = gammaln([trials + 1.0, least + 1.0, trials - least + 1.0])
    exponent = logs[0] - logs[1] - logs[2] + least * log(chance) + (trials - least) * log1p(-chance)
    rounding = 1e-11 + 4e-15 * float(np.abs(logs).sum() - trials * log1p(-chance) - least * log(chance))
    steps = np.arange(1.0, min(trials - least, _TERMS) + 1)
    ratios = (trials - least - steps + 1) / (least + steps) * (chance / (1 - chance))
    terms = np.cumprod(ratios)
    rest = terms[-1] * ratios[-1] / (1 - ratios[-1]) if trials - least > _TERMS else 0.0
    return min(1.0, max(_LEAST, exp(exponent + rounding) * (1 + float(terms.sum()) + float(rest))))


@lru_cache(maxsize=64)
def least_count(trials: int, rate: Fraction, chance: Fraction) -> int:
    """Return the least count that as many trials reach with a probability of at most `chance`.

    It is the least by the bound above, and never more than trials + 1, which none reach.
    """
    low, high = -1, trials + 1  # the bound is above the chance at the first, and is not at the second
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_tail(trials, middle, rate) <= chance else (middle, high)
    return high
