"""The largest mu whose Gaussian privacy implies (epsilon, delta): the analytic calibration, certified.

mu-Gaussian privacy implies (epsilon, delta)-DP exactly where
delta >= Q(epsilon / mu - mu / 2) - e^epsilon Q(epsilon / mu + mu / 2), Q the upper tail of the normal law
(Balle & Wang 2018; Dong, Roth & Su 2022). Floats find a mu, integers prove it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, floor, log10, sqrt

from discreet.errors import ParameterError
from discreet.noise.elementary import enclose
from discreet.noise.enclosure import Enclosure, exponential, quotient
from discreet.noise.normal import upper_tail

__all__ = ["delta_of", "largest_mu"]

_BITS = 640
"""The smallest delta, 1e-120, has 399 bits, and e^-100, by which a tail is divided, 145."""

_SPARE = 1e-8
"""By which part mu is lowered, so that accountants who round in floats agree."""

_LEAST, _LARGEST = 1e-14, 1e3
_LARGEST_EPSILON, _LEAST_DELTA = 100, Fraction(1, 10**120)


@lru_cache(maxsize=256)
def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest mu, rounded down, whose Gaussian privacy implies (epsilon, delta).

    Parameters
    ----------
    epsilon : Fraction
        Above 0; what is above 100 counts as 100.
    delta : Fraction
        From 1e-120 to below 1.
    """
    if not _LEAST_DELTA <= delta < 1:
        raise ParameterError("delta", "is out of range", "from 1e-120 to below 1")
    epsilon = min(epsilon, Fraction(_LARGEST_EPSILON))
    loss, target = float(epsilon), float(delta)
    if _roughly(_LEAST, loss) > target:
        raise ParameterError("epsilon", "and delta need more noise than can be drawn", "larger")
    low, high = _LEAST, _LARGEST
    while high > low * (1 + 1e-13):
        middle = sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if _roughly(middle, loss) > target else (middle, high)
    # Where mu is small, floats lose as many digits to cancellation as it has zeros; accountants do too.
    spare = _SPARE + 1e-14 / low
    while True:
        mu = _rounded_down(low * (1 - min(spare, 0.5)))
        if delta_of(mu, epsilon)[1] <= delta * (1 << _BITS):
            return mu
        spare *= 2
        low = low if spare < 0.5 else low / 2


def delta_of(mu: Fraction, epsilon: Fraction) -> Enclosure:
    """Enclose the delta of mu-Gaussian privacy at an epsilon of at most 100, at 640 bits."""
    near = upper_tail(enclose(epsilon / mu - mu / 2, _BITS), _BITS)
    far = quotient(
        upper_tail(enclose(epsilon / mu + mu / 2, _BITS), _BITS), exponential(epsilon, _BITS), _BITS
    )
    return max(near[0] - far[1], 0), near[1] - far[0]


def _roughly(mu: float, epsilon: float) -> float:
    """Return the same in floats, with a common factor taken out where that is needed."""
    from scipy.special import erfcx, log_ndtr, ndtr

    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near < 0:
        return float(ndtr(-near)) - exp(min(epsilon + float(log_ndtr(-far)), 0.0))
    return exp(-near * near / 2) / 2 * float(erfcx(near / sqrt(2)) - erfcx(far / sqrt(2)))


def _rounded_down(x: float) -> Fraction:
    """Return the largest number of twelve significant digits that is at most x."""
    exponent = floor(log10(x)) - 11
    return floor(Fraction(x) / Fraction(10) ** exponent) * Fraction(10) ** exponent
