"""How much discrete Gaussian noise (epsilon, delta) takes: three calibrations, from loosest to smallest.

`classical_variance` is the textbook formula; `largest_rho` goes through zero-concentrated DP;
`analytic_variance` is the smallest possible for one value. Every answer is rounded toward more noise.
Vectors are calibrated by `gaussian_privacy`, for the rounded law.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, log, log10, sqrt

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.error.gaussian import probability_above, tail_error

__all__ = ["analytic_variance", "classical_variance", "delta_at_shift", "largest_rho", "rho_delta"]

_SAFETY = 1 + 1e-7
"""Covers every rounding in `delta_at_shift` and `rho_delta`."""

_LARGEST_SUMMED = 4096
_ORDERS = 1 + np.exp(np.linspace(-12, 16, 5601))


def _rounded_up(x: float) -> Fraction:
    """Return the smallest number of twelve significant digits that is at least x."""
    exponent = floor(log10(x)) - 11
    return ceil(Fraction(x) / Fraction(10) ** exponent) * Fraction(10) ** exponent


def delta_at_shift(variance: Fraction, shift: int, epsilon: float) -> float:
    """Return delta(epsilon) between discrete Gaussian noise and itself moved by `shift` steps.

    The loss at y is (shift^2 + 2 shift y) / (2 variance), increasing in y, so the worst set is
    y > m = floor(epsilon variance / shift - shift / 2) and
    delta = P(N > m) - e^epsilon P(N > m + shift)  (Canonne, Kamath & Steinke 2020).
    Larger shifts of a log-concave law are worse, so the largest shift is the one to charge. Above
    4096 steps the answer is an upper bound, close unless epsilon is tiny.
    """
    edge = floor(Fraction(epsilon) * variance / shift - Fraction(shift, 2))
    if variance > _LARGEST_SUMMED**2:
        near, far = (
            probability_above(variance, edge),
            exp(epsilon) * probability_above(variance, edge + shift),
        )
        # The difference may cancel; what the two tails are off by is added.
        off = tail_error(variance, edge) * near + tail_error(variance, edge + shift) * far
        return max(0.0, near - far) + off
    spread = float(variance)
    values = np.arange(edge + 1, max(edge + 1, 0) + int(39 * sqrt(spread)) + 3, dtype=np.float64)
    losses = (shift * shift + 2 * shift * values) / (2 * spread)
    weights = np.exp(-(values**2) / (2 * spread))
    total = 1 + 2 * np.exp(-(np.arange(1, int(39 * sqrt(spread)) + 3) ** 2) / (2 * spread)).sum()
    return float((weights * -np.expm1(np.minimum(epsilon - losses, 0))).sum() / total)


@lru_cache(maxsize=256)
def analytic_variance(shift: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least variance, in squared steps, with profile(variance, shift, epsilon) <= delta.

    The analytic calibration of Balle & Wang (2018), for the discrete law. Bisection finds the least
    wherever delta falls as the variance grows. That may fail for noise of less than a step, which is
    mostly zero: there some smaller variance may suffice as well.
    """
    target = float(delta) / _SAFETY
    loss = float(epsilon)

    def suffices(sigma: float) -> bool:
        return delta_at_shift(Fraction(sigma) ** 2, shift, loss) <= target

    sigma = _bisect(suffices, 1e-2, shift * 2.0**40)
    variance = _rounded_up(sigma * sigma)
    while delta_at_shift(variance, shift, loss) > target * (1 + 1e-9):  # rounding must not undo it
        variance *= 1 + Fraction(1, 10**9)
    return variance


def rho_delta(rho: float, epsilon: float) -> float:
    """Return a delta for which rho-zCDP implies (epsilon, delta)-DP.

    The least over orders a of exp((a - 1)(a rho - epsilon)) (1 - 1 / a)^a / (a - 1)
    (Canonne, Kamath & Steinke 2020). Each order gives a valid bound, so a
    finite set of orders does too.
    """
    exponents = (_ORDERS - 1) * (_ORDERS * rho - epsilon)
    exponents += _ORDERS * np.log1p(-1 / _ORDERS) - np.log(_ORDERS - 1)
    return min(1.0, float(np.exp(np.minimum(exponents, 0).min())))


@lru_cache(maxsize=256)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho, rounded down, whose zCDP implies (epsilon, delta)-DP."""
    target, loss = float(delta) / _SAFETY, float(epsilon)

    def suffices(inverse: float) -> bool:
        return rho_delta(1 / inverse, loss) <= target

    return 1 / _rounded_up(_bisect(suffices, 1e-6, 1e18))


def classical_variance(squared_sensitivity: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return 2 sensitivity^2 log(2 / delta) / epsilon^2, rounded up, for epsilon <= 1.

    It implies rho = epsilon^2 / (4 log(2 / delta)), and rho-zCDP implies
    (rho + 2 sqrt(rho log(1 / delta)), delta)-DP, which is at most epsilon for epsilon <= 2 log 2.
    """
    if epsilon > 1:
        raise ParameterError("epsilon", "is too large for the classical formula", "at most 1")
    logarithm = _rounded_up(log(2) - log(delta.numerator) + log(delta.denominator))
    return 2 * squared_sensitivity * logarithm / epsilon**2


def _bisect(suffices: Callable[[float], bool], lower: float, upper: float) -> float:
    """Return the least number, to a relative 1e-13, for which a monotone test holds."""
    if not suffices(upper):
        raise ParameterError("epsilon", "and delta need more noise than can be drawn", "larger")
    while upper > lower * (1 + 1e-13):
        middle = sqrt(lower * upper)
        if not lower < middle < upper:
            break
        if suffices(middle):
            upper = middle
        else:
            lower = middle
    return upper
