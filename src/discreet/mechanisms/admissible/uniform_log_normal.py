"""Uniform-log-normal noise: concentrated privacy from a bounded law with a random scale."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, log

from scipy.special import log_ndtr, ndtr

from discreet.mechanisms.admissible.certificates import BITS, exponential_of, short_above
from discreet.mechanisms.admissible.concentrated import Concentrated, check_spread
from discreet.noise import elementary
from discreet.noise.elementary import enclose, exponential_minus, exponential_plus, logarithm, square_root
from discreet.noise.enclosure import Enclosure
from discreet.noise.normal import upper_tail
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["UniformLogNormal"]

LEAST_SPREAD = Fraction(1, 10)

_ONE = 1 << BITS


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class UniformLogNormal(Concentrated):
    """The law of X exp(sigma Y) with X uniform on [-1, 1] and Y of the standard normal law.

    Parameters
    ----------
    spread : number
        sigma, from 1/10 to 4.

    Guarantee
    ---------
    rho-zCDP with rho = max((c s)^2, (c s k)^2 + (t / sigma)^2) / 2 for shift s and dilation t, where
    k = t / (e^t - 1) and c = exp(3 sigma^2 / 2) / (sigma sqrt(2 pi)) max_b exp(-(sigma - b)^2 / 2) / Phi(b)
    is the largest slope of the log-density. Bun & Steinke (2019) have 2 in place of the maximum, for
    sigma >= sqrt 2 only, and add the moves as t / sigma + c s; here every sigma is allowed, and the best ones
    lie near 0.6. Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import UniformLogNormal
    >>> float(UniformLogNormal(spread=0.6).largest_shift(rho=0.5, dilation=0.1))
    0.4935...
    """

    spread: Fraction

    def __init__(self, *, spread: Number) -> None:
        self._set(spread=check_spread(spread, least=LEAST_SPREAD))

    @property
    def steepness(self) -> Fraction:
        """The largest slope of the log-density."""
        return _steepness(self.spread)

    @property
    def stretch(self) -> Fraction:
        """1 / sigma^2: a dilation is a shift of the normal variable."""
        return 1 / self.spread**2

    def log_density(self, z: float) -> float:
        """Return log of exp(sigma^2 / 2) Phi(-(log|z| / sigma + sigma)) / 2."""
        sigma = float(self.spread)
        if z == 0:
            return sigma**2 / 2 - log(2)
        return sigma**2 / 2 + float(log_ndtr(-(log(abs(z)) / sigma + sigma))) - log(2)

    def tail(self, z: float) -> float:
        """Return P(|Z| > z) = Phi(-a) - z exp(sigma^2 / 2) Phi(-a - sigma), a = log z / sigma."""
        if z <= 0:
            return 1.0
        sigma = float(self.spread)
        a = log(z) / sigma
        return max(float(ndtr(-a)) - exp(sigma**2 / 2 + log(z) + float(log_ndtr(-a - sigma))), 0.0)

    @property
    def variance(self) -> float:
        """exp(2 sigma^2) / 3."""
        return exp(2 * float(self.spread) ** 2) / 3

    @property
    def mean_absolute(self) -> float:
        """exp(sigma^2 / 2) / 2."""
        return exp(float(self.spread) ** 2 / 2) / 2

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) = (Q(a) - z exp(sigma^2 / 2) Q(a + sigma)) / 2, a = log z / sigma.

        Q is the normal tail. Next to zero P(Z > z) falls from 1/2 with a slope of at most
        f(0) = exp(sigma^2 / 2) / 2.
        """
        sigma, half = self.spread, 1 << (bits - 1)
        if z * (1 << (bits + 16)) < 1:
            # exp(sigma^2 / 2) <= e^8 < 2^12, and z 2^bits < 2^-16
            return half - 1, half
        working = bits + 32 + 2 * (z.__floor__()).bit_length() + 16
        x = enclose(z, working)
        level = logarithm(x, working)
        a = _over(level[0], sigma, up=False), _over(level[1], sigma, up=True)
        if a[0] > 0 and a[0] ** 2 >> (2 * working) >= 2 * bits:
            return 0, 1
        step = enclose(sigma, working)
        near, far = upper_tail(a, working), upper_tail((a[0] + step[0], a[1] + step[1]), working)
        growth = exponential_plus(enclose(sigma**2 / 2, working), working)
        factor = x[0] * growth[0] >> working, -(-x[1] * growth[1] >> working)
        low = near[0] + (-factor[1] * far[1] >> working)
        high = near[1] - (factor[0] * far[0] >> working)
        shift = working - bits + 1
        return max(low >> shift, 0), min(-(-high >> shift), half)


def _over(n: int, x: Fraction, *, up: bool) -> int:
    """Return n / x, rounded up or down, for a positive rational x and an integer n of either sign."""
    top = n * x.denominator
    return -(-top // x.numerator) if up else top // x.numerator


@lru_cache(maxsize=256)
def _steepness(sigma: Fraction) -> Fraction:
    """Return c, rounded up.

    w(b) = -(sigma - b)^2 / 2 - log Phi(b) is concave with slope sigma - m(b), m(b) = b + phi(b) / Phi(b).
    With b0 where the slope is positive and b1 > b0 where it is negative, the maximum is at most w(b0) plus
    (b1 - b0) times the slope at b0.
    """
    low, high = -2.0 / float(sigma), float(sigma)
    for _ in range(80):
        middle = (low + high) / 2
        mean = middle + exp(-(middle**2) / 2 - 0.9189385332046727 - float(log_ndtr(middle)))
        low, high = (middle, high) if mean < float(sigma) else (low, middle)
    width = Fraction(1, 2**16)
    while True:
        first, last = _snapped(low) - width, _snapped(high) + width
        slope_first, slope_last = _slope(sigma, first), _slope(sigma, last)
        if slope_first[0] >= 0 and slope_last[1] <= 0:
            break
        width *= 2
    rise = -(-slope_first[1] * (last - first).numerator // (last - first).denominator)
    tail = upper_tail(enclose(-first, BITS), BITS)
    # exp(3 sigma^2 / 2 - (sigma - b)^2 / 2 + rise) / (Phi(b) sigma sqrt(2 pi))
    exponent = 3 * sigma**2 / 2 - (sigma - first) ** 2 / 2 + Fraction(rise, _ONE)
    top = exponential_of(exponent)[1]
    circle = elementary.pi(BITS)
    root = square_root((2 * circle[0], 2 * circle[1]), BITS)[0]
    bottom = tail[0] * root >> BITS
    value = -(-(top << BITS) * sigma.denominator // (bottom * sigma.numerator))
    return short_above((0, value))


def _snapped(x: float) -> Fraction:
    return Fraction(round(x * 2**40), 2**40)


def _slope(sigma: Fraction, b: Fraction) -> Enclosure:
    """Enclose sigma - b - phi(b) / Phi(b)."""
    peak = exponential_minus(enclose(b * b / 2, BITS), BITS)
    circle = elementary.pi(BITS)
    root = square_root((2 * circle[0], 2 * circle[1]), BITS)
    mass = upper_tail(enclose(-b, BITS), BITS)
    bottom = mass[0] * root[0] >> BITS, -(-mass[1] * root[1] >> BITS)
    ratio = (peak[0] << BITS) // bottom[1], -((-peak[1] << BITS) // bottom[0])
    rest = enclose(sigma - b, BITS)
    return rest[0] - ratio[1], rest[1] - ratio[0]
