"""Arcsinh-normal noise: concentrated privacy, close to a Gaussian, with tails that bear a dilation."""

from __future__ import annotations

from fractions import Fraction
from math import asinh, erf, exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import rounded_down, rounded_up
from discreet.mechanisms.admissible.concentrated import check_spread, path_factor
from discreet.mechanisms.admissible.noise import Admissible, Notion, check_budget, check_move
from discreet.noise.elementary import enclose, logarithm, rational_root
from discreet.noise.enclosure import Enclosure
from discreet.noise.normal import upper_tail
from discreet.privacy.guarantees import ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["ArcsinhNormal"]

_SAFETY = 1 + 1e-9
"""Covers the rounding of the floats that the norms are computed with."""
_FAR = 1000
_BALANCES = 14
"""Shift and dilation are balanced by powers of two from 2^-14 to 2^14."""
_STEP = 2.0**-8
_X = np.arange(0.0, 24.0, _STEP)
_TANH, _SECH = np.tanh(_X), 1 / np.cosh(_X)
_LARGEST_RATIO = 0.6627434194
"""A bound on x / cosh x, rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class ArcsinhNormal(Admissible):
    """The law of sinh(sigma Y) / sigma with Y of the standard normal law.

    Parameters
    ----------
    spread : number
        sigma, from 1/100 to 4. Small values are nearly Gaussian.

    Guarantee
    ---------
    rho-zCDP with rho = V^2 / 2. As functions of Y, the scores under a shift and under a dilation have the
    derivatives A and B (see `_slopes`). V is the largest of s |A| and of s k |A| + t |B| over all y, with
    k = t / (e^t - 1), by the concentration of Lipschitz functions of a normal variable. Where it is smaller,
    V^2 is max((c s)^2, (c s k)^2 + (t max |B|)^2) with the bound c = 0.66275 / sigma + sigma / 2 on the score
    under a shift. Bun & Steinke (2019) have
    V = sqrt(t (t / sigma^2 + 1 / sigma + 2)) + s (2 / (3 sigma) + sigma / 2), several times as much. Proof:
    docs/proofs/admissible_noise.md.

    Finite precision
    ----------------
    The maxima over y are taken on a grid, with a bound on the second derivative in between, and raised by
    1e-9 for the rounding of floats.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import ArcsinhNormal
    >>> float(ArcsinhNormal(spread=0.3).largest_shift(rho=0.5, dilation=0.1))
    0.880...
    """

    spread: Fraction

    def __init__(self, *, spread: Number) -> None:
        self._set(spread=check_spread(spread))

    @property
    def notion(self) -> Notion:
        """Concentrated."""
        return "concentrated"

    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> ZeroConcentratedDP:
        """Return the zero-concentrated guarantee for a shift and a dilation."""
        s, t = check_move(shift, dilation)
        if epsilon is not None:
            raise ParameterError("epsilon", "is given for concentrated noise", "left out")
        unit = max(s, t) or Fraction(1)  # V^2 is homogeneous in s and t
        squared = _Norms(float(self.spread)).squared(float(s / unit), float(t / unit), float(path_factor(t)))
        return ZeroConcentratedDP(rho=rounded_up(Fraction(squared) * unit**2 / 2), neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift within rho, by bisection, rounded down."""
        (cost,) = check_budget("concentrated", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        unit = Fraction(2) ** ((cost.numerator.bit_length() - cost.denominator.bit_length()) // 2)
        if t > _FAR * unit:  # V is at least t / 4
            return Fraction(0)
        norms, stretch, factor = _Norms(float(self.spread)), float(t / unit), float(path_factor(t))
        target = 2 * float(cost / unit**2) / _SAFETY
        low, high = 0.0, 4 * sqrt(target) * (1 + norms.spread + 1 / norms.spread)
        if norms.squared(0.0, stretch, factor) > target:
            return Fraction(0)
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if norms.squared(middle, stretch, factor) <= target else (low, middle)
        return rounded_down(Fraction(low) * unit)

    def proxies(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return pairs (p, q) with (a A + u B)^2 <= p a^2 + q u^2 for all a, u and y, rounded up.

        For vectors, where only such sums of squares add up over coordinates: see
        docs/proofs/vector_noise.md. For every r > 0, p = max(A^2 + r B^2) with q = p / r is such a pair.
        """
        norms = _Norms(float(self.spread))
        pairs = []
        for power in range(-_BALANCES, _BALANCES + 1):
            balance = Fraction(2) ** power
            largest = rounded_up(Fraction(norms.longest(float(balance)) ** 2 * _SAFETY))
            pairs.append((largest, largest / balance))
        return tuple(pairs)

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""
        sigma = float(self.spread)
        u = asinh(sigma * z) / sigma
        steep = log(abs(sigma * z)) if abs(sigma * z) > 1e8 else log(1 + (sigma * z) ** 2) / 2
        return -u * u / 2 - log(2 * pi) / 2 - steep

    def tail(self, z: float) -> float:
        """Return P(|Z| > z)."""
        return 2 * float(ndtr(-asinh(float(self.spread) * z) / float(self.spread))) if z > 0 else 1.0

    def guess(self, probability: float) -> float:
        """Return sinh of the normal quantile."""
        sigma = float(self.spread)
        return max(0.0, float(np.sinh(-sigma * ndtri(probability)) / sigma))

    @property
    def variance(self) -> float:
        """(exp(2 sigma^2) - 1) / (2 sigma^2)."""
        squared = float(self.spread) ** 2
        return float(np.expm1(2 * squared)) / (2 * squared)

    @property
    def mean_absolute(self) -> float:
        """exp(sigma^2 / 2) erf(sigma / sqrt 2) / sigma."""
        sigma = float(self.spread)
        return exp(sigma**2 / 2) * erf(sigma / sqrt(2)) / sigma

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) = Q(log(x + sqrt(1 + x^2)) / sigma), x = sigma z, Q the normal tail."""
        working = bits + 16 + (self.spread.denominator // self.spread.numerator).bit_length()
        x = self.spread * z
        near, root = enclose(x, working), rational_root(1 + x * x, working)
        level = logarithm((near[0] + root[0], near[1] + root[1]), working)
        top, bottom = self.spread.denominator, self.spread.numerator
        a = max(level[0], 0) * top // bottom, -(-level[1] * top // bottom)
        low, high = upper_tail(a, working)
        shift = working - bits
        return low >> shift, min(-(-high >> shift), 1 << (bits - 1))


class _Norms:
    """The two bounds on the variance proxy of a s-shift and t-dilation, for one sigma."""

    def __init__(self, sigma: float) -> None:
        self.spread = sigma
        self._shift, self._dilation = _slopes(sigma)
        curve_a, curve_b = 7 * (1 + sigma**2), 5 / sigma + 7 * sigma
        self._between = _STEP**2 / 8 * curve_a, _STEP**2 / 8 * curve_b
        self._steep = _LARGEST_RATIO / sigma + sigma / 2
        self._stretch = self._largest(0.0, 1.0)

    def _largest(self, s: float, t: float) -> float:
        """Bound s |A| + t |B| over all y."""
        grid = float((s * self._shift + t * self._dilation).max())
        # Beyond the grid x > 23.9, where |A| < 1e-8 (1 + sigma^2) and |B| < (1 + 1e-8)(1 / sigma + sigma).
        far = 1e-8 * s * (1 + self.spread**2) + t * (1 / self.spread + 1e-8 * (1 + self.spread)) * (1 + 1e-8)
        return max(grid + s * self._between[0] + t * self._between[1], far) * _SAFETY

    def longest(self, balance: float) -> float:
        """Bound the length of (A, sqrt(balance) B) over all y."""
        root = sqrt(balance)
        grid = float(np.hypot(self._shift, root * self._dilation).max())
        between = float(np.hypot(self._between[0], root * self._between[1]))
        far = float(
            np.hypot(1e-8 * (1 + self.spread**2), root * (1 / self.spread + 1e-8 * (1 + self.spread)))
        )
        return max(grid + between, far) * _SAFETY

    def squared(self, s: float, t: float, factor: float) -> float:
        """Return V^2: the less of the two bounds, each at the worse end of the path."""
        lipschitz = max(self._largest(s, 0.0), self._largest(s * factor, t)) ** 2
        slid = (self._steep * s) ** 2
        summed = max(slid, slid * factor**2 + (self._stretch * t) ** 2) * _SAFETY
        return min(lipschitz, summed)


def _slopes(sigma: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return |A| and B on the grid of x = sigma y >= 0.

    With T = tanh x and C = 1 / cosh x: A = C (1 - x T + sigma^2 (1 - 2 T^2)), the derivative in y of
    (y + sigma T) C, and B = (T + x C^2) / sigma + 2 sigma T C^2, that of y T / sigma + T^2 - 1.
    """
    a = _SECH * (1 - _X * _TANH + sigma**2 * (1 - 2 * _TANH**2))
    b = (_TANH + _X * _SECH**2) / sigma + 2 * sigma * _TANH * _SECH**2
    return np.abs(a), b
