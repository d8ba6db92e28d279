"""Gaussian noise: approximate privacy, with delta from the normal law itself."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, inf, log, pi, sqrt

from scipy.special import log_ndtr, ndtr, ndtri

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import BITS, exponential_of, rounded_down, short_above
from discreet.mechanisms.admissible.noise import (
    LARGEST_BUDGET,
    MOST_NOISE_EPSILON,
    Admissible,
    Notion,
    check_budget,
    check_move,
    stated_epsilon,
)
from discreet.noise.elementary import enclose, square_root
from discreet.noise.enclosure import Enclosure
from discreet.noise.normal import upper_tail
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["GaussianNoise"]

_ONE = 1 << BITS
_MARGIN = Fraction(1, 2**32)
_LEAST_SHIFT = Fraction(1, 2**200)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise(Admissible):
    """The standard normal law.

    Guarantee
    ---------
    (epsilon, delta)-DP for shift s and dilation t, with s^2 <= 2 epsilon and t + s e^t <= epsilon, where
    delta is the hockey-stick divergence of N(0, e^2t) from N(s, 1) at epsilon. This is exact. Nissim,
    Raskhodnikova & Smith (2007) ask for s <= epsilon / (5 sqrt(2 log(2 / delta))) and
    t <= epsilon / (4 (1 + log(2 / delta))). Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import GaussianNoise
    >>> float(GaussianNoise().largest_shift(epsilon=1, delta=1e-6, dilation=0.02))
    0.1529...
    """

    @property
    def notion(self) -> Notion:
        """Approximate."""
        return "approximate"

    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> ApproximateDP:
        """Return (epsilon, delta) for a shift and a dilation."""
        s, t = check_move(shift, dilation)
        loss = stated_epsilon(epsilon)
        s = max(s, _LEAST_SHIFT) if s else s  # a larger shift allows all the same moves
        if loss > LARGEST_BUDGET:
            raise ParameterError("epsilon", "is too large", f"at most {LARGEST_BUDGET}")
        used = min(loss, MOST_NOISE_EPSILON)
        if not _within(s, t, used):
            raise ParameterError("shift", "is too large for this epsilon and dilation", "smaller")
        delta = min(short_above((0, _delta(s, t, used))), Fraction(1)) if s or t else Fraction(0)
        return ApproximateDP(epsilon=loss, delta=delta, neighbors=neighbors)

    def shift_budget(self, *, shift: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> ZeroConcentratedDP:
        """Return the zero-concentrated guarantee of a shift alone: s^2 / 2."""
        return ZeroConcentratedDP(rho=check_move(shift, 0)[0] ** 2 / 2, neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift within (epsilon, delta), to about nine digits.

        Delta grows with the shift. Floats find the shift; what is returned has been certified.
        """
        loss, chance = check_budget("approximate", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        limit = chance.numerator * _ONE // chance.denominator
        if t >= loss:
            return Fraction(0)
        candidate, margin = _suggested(float(t), float(loss), float(chance)), _MARGIN
        while candidate > _LEAST_SHIFT and margin < 1:
            s = rounded_down(Fraction(candidate) * (1 - margin))
            if _within(s, t, loss) and _delta(s, t, loss) <= limit:
                return s
            margin *= 16
        return Fraction(0)

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""
        return -z * z / 2 - log(2 * pi) / 2

    def tail(self, z: float) -> float:
        """Return P(|Z| > z)."""
        return 2 * float(ndtr(-z)) if z > 0 else 1.0

    def guess(self, probability: float) -> float:
        """Return the normal quantile."""
        return max(0.0, -float(ndtri(probability)))

    @property
    def variance(self) -> float:
        """1."""
        return 1.0

    @property
    def mean_absolute(self) -> float:
        """sqrt(2 / pi)."""
        return sqrt(2 / pi)

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z)."""
        return upper_tail(enclose(z, bits), bits)


def _within(s: Fraction, t: Fraction, epsilon: Fraction) -> bool:
    """Return whether s^2 <= 2 epsilon and t + s e^t <= epsilon, for certain."""
    if s * s > 2 * epsilon or t > epsilon:
        return False
    return exponential_of(t)[1] * s <= (epsilon - t) * _ONE


def _suggested(t: float, epsilon: float, delta: float) -> float:
    """Return about the largest shift, by bisection in floats; 0 if there is none."""

    def fits(s: float) -> bool:
        if s * s > 2 * epsilon or t + s * exp(t) > epsilon:
            return False
        curve, wanted = -expm1(-2 * t), 2 * (epsilon + t) - s * s
        # The roots in the form that does not cancel; without a dilation the left one is infinitely far.
        root = sqrt(s * s + curve * wanted)
        right, left = wanted / (root + s), (root + s) / curve if curve else inf
        near = ndtr(-right * exp(-t)) + ndtr(-left * exp(-t))
        far = exp(log_ndtr(-right - s) + epsilon) + (exp(log_ndtr(s - left) + epsilon) if curve else 0.0)
        return bool(near - far <= delta)

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle > 0 and fits(middle) else (low, middle)
    return low


def _delta(s: Fraction, t: Fraction, epsilon: Fraction) -> int:
    """Return the hockey-stick divergence of N(0, e^2t) from N(-s, 1), from above, in units of 2^-BITS.

    The loss is (z + s)^2 / 2 - e^-2t z^2 / 2 - t: above epsilon outside an interval from the roots of
    (1 - e^-2t) z^2 + 2 s z + s^2 - 2 (epsilon + t). Without a dilation only the right end is left.
    """
    step, narrow = enclose(s, BITS), exponential_of(-t)
    power = exponential_of(epsilon)
    wanted = enclose(2 * (epsilon + t) - s * s, BITS)
    if t == 0:
        edge = (wanted[0] << BITS) // (2 * step[1]), -((-wanted[1] << BITS) // (2 * step[0]))
        near, far = upper_tail(edge, BITS), upper_tail((edge[0] + step[0], edge[1] + step[1]), BITS)
        return near[1] - (power[0] * far[0] >> BITS)
    square = exponential_of(-2 * t)
    curve = _ONE - square[1], _ONE - square[0]
    inside = (
        (step[0] ** 2 + curve[0] * wanted[0]) >> BITS,
        -(-(step[1] ** 2 + curve[1] * wanted[1]) >> BITS),
    )
    root = square_root(inside, BITS)
    right, left = (root[0] - step[1], root[1] - step[0]), (root[0] + step[0], root[1] + step[1])
    total = 0
    for distance, moved in ((right, 1), (left, -1)):
        edge = (distance[0] << BITS) // curve[1], -((-distance[1] << BITS) // curve[0])
        scaled = edge[0] * narrow[0] >> BITS, -(-edge[1] * narrow[1] >> BITS)
        other = (
            (edge[0] + step[0], edge[1] + step[1]) if moved > 0 else (edge[0] - step[1], edge[1] - step[0])
        )
        total += upper_tail(scaled, BITS)[1] - (power[0] * upper_tail(other, BITS)[0] >> BITS)
    return total
