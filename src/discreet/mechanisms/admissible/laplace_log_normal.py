"""Laplace-log-normal noise: concentrated privacy, with all moments and tails lighter than any power."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, log, pi, sqrt

import numpy as np
from scipy.special import lambertw

from discreet.mechanisms.admissible.certificates import exponential_of, rounded_up, short_above
from discreet.mechanisms.admissible.concentrated import Concentrated, check_spread
from discreet.mechanisms.admissible.noise import check_move
from discreet.noise import elementary
from discreet.noise.elementary import enclose, exponential_minus, exponential_plus, logarithm, square_root
from discreet.noise.enclosure import Enclosure, exponential, product
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["LaplaceLogNormal"]

_SHIFT_BITS = 128
_REACH = 13.0  # what is farther than as many deviations from the peak of an integrand is below e^-84 of it
_PER_DEVIATION = 20


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class LaplaceLogNormal(Concentrated):
    """The law of X exp(sigma Y) with X of the Laplace and Y of the standard normal law.

    Parameters
    ----------
    spread : number
        sigma, from 1/100 to 4.

    Guarantee
    ---------
    rho-zCDP with rho = max((c s)^2, (c s k)^2 + (t / sigma)^2) / 2 for shift s and dilation t, where
    c = exp(3 sigma^2 / 2) and k = t / (e^t - 1). Bun & Steinke (2019) have (t / sigma + c s)^2 / 2, up to
    twice as much. A shift alone is pure: epsilon = -log P(|Z| > e^(sigma^2) s), which is exact and at most
    c s; see `shift_budget`. Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import LaplaceLogNormal
    >>> float(LaplaceLogNormal(spread=0.25).largest_shift(rho=0.5, dilation=0.1))
    0.877...
    """

    spread: Fraction

    def __init__(self, *, spread: Number) -> None:
        self._set(spread=check_spread(spread))

    @property
    def steepness(self) -> Fraction:
        """exp(3 sigma^2 / 2): the slope at zero, where it is steepest."""
        return short_above(exponential_of(3 * self.spread**2 / 2))

    @property
    def stretch(self) -> Fraction:
        """1 / sigma^2: a dilation is a shift of the normal variable."""
        return 1 / self.spread**2

    def shift_budget(self, *, shift: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> PureDP:
        """Return the pure guarantee of a shift alone: -log P(|Z| > e^(sigma^2) s), rounded up.

        The density is log-convex on either side of 0, so the loss is largest between 0 and s, where it is
        log(f(0) / f(s)); and f(s) / f(0) = E exp(-s e^(sigma^2) exp(-sigma Y)) is a tail of Z itself. Where
        that tail is below all precision, the bound c s stands for it.
        """
        s, _ = check_move(shift, 0)
        steep = rounded_up(self.steepness * s)
        reach = short_above(exponential_of(self.spread**2)) * s
        one_side = self.upper(rounded_up(reach), _SHIFT_BITS)[0]
        if not one_side:
            return PureDP(epsilon=steep, neighbors=neighbors)
        loss = -logarithm((2 * one_side, 2 * one_side), _SHIFT_BITS)[0]
        exact = rounded_up(Fraction(max(loss, 0), 1 << _SHIFT_BITS))
        return PureDP(epsilon=min(exact, steep), neighbors=neighbors)

    def log_density(self, z: float) -> float:
        """Return log E[exp(-sigma Y - |z| exp(-sigma Y))] / 2, by quadrature."""
        return _log_mean(float(self.spread), abs(z), 1) - log(2)

    def tail(self, z: float) -> float:
        """Return P(|Z| > z) = E exp(-z exp(-sigma Y)), by quadrature."""
        return 1.0 if z <= 0 else min(1.0, exp(_log_mean(float(self.spread), z, 0)))

    @property
    def variance(self) -> float:
        """2 exp(2 sigma^2)."""
        return 2 * exp(2 * float(self.spread) ** 2)

    @property
    def mean_absolute(self) -> float:
        """exp(sigma^2 / 2)."""
        return exp(float(self.spread) ** 2 / 2)

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) = E exp(-z exp(-sigma Y)) / 2, by the trapezoidal rule and a bound on its error.

        See `nodes`. What is left out there, and what the rule is off by, is below 2^-(bits + 2).
        """
        working, center, rest, rows = nodes(self.spread, bits)
        x = enclose(z, working)
        low = high = 0
        for weight, grown in ((center, (1 << working, 1 << working)), *rows):
            value = exponential_minus(product(x, grown, working), working)
            term = product(weight, value, working)
            low, high = low + term[0], high + term[1]
        shift = working - bits + 1
        return max((low - rest) >> shift, 0), min(-(-(high + rest) >> shift), 1 << (bits - 1))


def _log_mean(sigma: float, z: float, power: int) -> float:
    """Return log E exp(-power sigma Y - z exp(-sigma Y)), by the trapezoidal rule around the peak.

    The exponent -y^2 / 2 - power sigma y - z exp(-sigma y) is largest where y + power sigma = sigma w, with
    w = z exp(-sigma y). Its second derivative, -1 - sigma^2 w, falls to the left of the peak and is at most
    -1: the integrand reaches 13 deviations of the peak to the left, and of the normal law to the right.
    """
    far = min(z, 1e250)
    peak = _peak(sigma, far, power)
    deviation = 1 / sqrt(1 + sigma * (peak + power * sigma))
    step = deviation / _PER_DEVIATION
    y = np.arange(peak - _REACH * deviation, peak + _REACH, step)
    exponents = -(y**2) / 2 - power * sigma * y - far * np.exp(-sigma * y)
    highest = float(exponents.max())
    return highest + log(float(np.exp(exponents - highest).sum()) * step) - log(2 * pi) / 2


def _peak(sigma: float, z: float, power: int) -> float:
    """Return the y with v = sigma^2 z exp(-sigma y), where v = sigma (y + power sigma): v e^v is known."""
    return float(lambertw(sigma**2 * z * exp(power * sigma**2)).real) / sigma - power * sigma


@lru_cache(maxsize=64)
def nodes(spread: Fraction, bits: int) -> tuple[int, Enclosure, int, list[tuple[Enclosure, Enclosure]]]:
    """Return the trapezoidal rule for E g(Y), |g| <= 1 and g analytic in |Im y| < pi / (2 sigma).

    Returns (working, center, rest, rows): the precision; the weight of the node 0; a bound on the error of
    the rule and of its truncation; and for each other node y = j h its weight and exp(-sigma y), enclosed.

    For a <= pi / (2 sigma) the integrand on the lines Im y = ±a is at most phi(x) e^(a^2 / 2) in magnitude,
    so the rule with step h is off by at most 2 e^(a^2 / 2) / (e^(2 pi a / h) - 1) (Trefethen &
    Weideman 2014, Theorem 5.1). The step makes this less than 2^-(bits + 3).
    """
    needed = (bits + 6) * log(2)
    breadth = min(1.57 / float(spread), sqrt(2 * needed))
    step = Fraction(int(2 * 3.14 * breadth / (breadth**2 / 2 + needed) * 2**12), 2**12)
    curvature = step**2 / 2
    count = int(sqrt(2 * (needed + 4)) / float(step)) + 2
    working = bits + 24
    circle = elementary.pi(working)
    root = square_root((2 * circle[0], 2 * circle[1]), working)
    height = enclose(step, working)
    scale = (height[0] << working) // root[1], -((-height[1] << working) // root[0])
    shrink = exponential(spread * step, working)
    rows: list[tuple[Enclosure, Enclosure]] = []
    down: Enclosure = (1 << working, 1 << working)
    for j in range(1, count + 1):
        weight = product(scale, exponential(curvature * j * j, working), working)
        down = product(down, shrink, working)
        rows.append((weight, down))
        up = exponential_plus(enclose(spread * step * j, working), working)
        rows.append((weight, up))
    beyond = exponential(curvature * (count + 1) ** 2, working)[1] * scale[1] >> working
    left_out = 2 * (beyond + 1) * (1 + 1 / (2 * curvature * (count + 1)))
    return working, scale, left_out.__ceil__() + (1 << (working - bits - 3)), rows
