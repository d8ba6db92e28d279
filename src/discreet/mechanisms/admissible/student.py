"""Student's t noise: pure privacy, with as many moments as it has degrees of freedom."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, lgamma, log, log1p, pi, sqrt

from scipy.special import stdtr, stdtrit

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import (
    BITS,
    exponential_of,
    hyperbolic_cosine,
    rounded_up,
    short_below,
)
from discreet.mechanisms.admissible.noise import Admissible, Notion, check_budget, check_move
from discreet.noise import elementary
from discreet.noise.elementary import arctangent, enclose, logarithm, rational_root, square_root
from discreet.noise.enclosure import Enclosure, product, quotient
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, whole
from discreet.records import dataclass

__all__ = ["Student"]

MOST_DEGREES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Student(Admissible):
    """Student's t law, with density proportional to (1 + z^2 / d)^(-(d + 1) / 2).

    Parameters
    ----------
    degrees : int
        The degrees of freedom d, from 1 (the Cauchy law) to 200. The variance is finite from 3 on.

    Guarantee
    ---------
    epsilon-DP with epsilon = max(h(0), h(t)),
    h(u) = (d - 1) u / 2 + (d + 1) / 2 arcosh(cosh u + e^-u s^2 / (2 d)), for shift s and dilation t. This is
    exact: the supremum of the loss is attained. Bun & Steinke (2019) charge the larger t (d + 1) +
    s (d + 1) / (2 sqrt d). Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import Student
    >>> float(Student(degrees=3).largest_shift(epsilon=1, dilation=0.1))
    0.80598...
    """

    degrees: int

    def __post_init__(self) -> None:
        self._amend(degrees=whole(self.degrees, "degrees", least=1, most=MOST_DEGREES))

    @property
    def notion(self) -> Notion:
        """Pure."""
        return "pure"

    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> PureDP:
        """Return the pure guarantee for a shift and a dilation."""
        s, t = check_move(shift, dilation)
        if epsilon is not None:
            raise ParameterError("epsilon", "is given, but pure noise determines it", "left out")
        return PureDP(epsilon=max(self._loss(s, Fraction(0)), self._loss(s, t)), neighbors=neighbors)

    def _loss(self, s: Fraction, u: Fraction) -> Fraction:
        """Return h(u), rounded up."""
        cosine, falling = hyperbolic_cosine(u), exponential_of(-u)
        moved = s * s / (2 * self.degrees)
        w = cosine[1] + -(-falling[1] * moved.numerator // moved.denominator)
        w = max(w, 1 << BITS)
        root = square_root(((w * w >> BITS) - (1 << BITS), -(-w * w >> BITS) - (1 << BITS)), BITS)
        angle = logarithm((w + root[0], w + root[1]), BITS)[1] if s or u else 0
        d = self.degrees
        return rounded_up(Fraction(d - 1, 2) * u + Fraction(d + 1, 2) * Fraction(max(angle, 0), 1 << BITS))

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift: the least of sqrt(2 d e^u (cosh r - cosh u)) over u = 0 and u = t.

        r = (2 epsilon - (d - 1) u) / (d + 1).
        """
        (loss,) = check_budget("pure", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        return min(self._shift(loss, Fraction(0)), self._shift(loss, t))

    def _shift(self, epsilon: Fraction, u: Fraction) -> Fraction:
        d = self.degrees
        reach = (2 * epsilon - (d - 1) * u) / (d + 1)
        if reach <= u:
            return Fraction(0)
        room = max(hyperbolic_cosine(reach)[0] - hyperbolic_cosine(u)[1], 0)
        squared = 2 * d * (room * exponential_of(u)[0] >> BITS)
        return short_below(square_root((squared, squared), BITS))

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""
        d = self.degrees
        constant = lgamma((d + 1) / 2) - lgamma(d / 2) - log(pi * d) / 2
        # log1p of a square that overflows is twice the logarithm.
        spread = log1p(z * z / d) if abs(z) < 1e150 else 2 * log(abs(z)) - log(d)
        return constant - (d + 1) / 2 * spread

    def tail(self, z: float) -> float:
        """Return P(|Z| > z)."""
        return min(1.0, 2 * float(stdtr(self.degrees, -abs(z)))) if z > 0 else 1.0

    def guess(self, probability: float) -> float:
        """Return about the z with P(Z > z) = probability."""
        return max(0.0, -float(stdtrit(self.degrees, probability)))

    @property
    def variance(self) -> float:
        """The variance d / (d - 2), for d > 2."""
        return self.degrees / (self.degrees - 2) if self.degrees > 2 else inf

    @property
    def mean_absolute(self) -> float:
        """2 sqrt d / ((d - 1) B(d / 2, 1 / 2)), for d > 1."""
        d = self.degrees
        if d == 1:
            return inf
        return 2 * sqrt(d) / (d - 1) * exp(lgamma((d + 1) / 2) - lgamma(d / 2)) / sqrt(pi)

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z), by the finite sums for whole degrees of freedom.

        With tan(a) = z / sqrt d, P(|Z| <= z) is sin a (1 + cos^2 a / 2 + 3 cos^4 a / 8 + …) for even d, up
        to cos^(d - 2), and 2 / pi (a + sin a cos a (1 + 2 cos^2 a / 3 + …)) for odd d, up to
        cos^(d - 3) (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4).
        """
        working = bits + 24
        d = self.degrees
        squared = z * z
        one = 1 << working
        cosine_squared = enclose(d / (d + squared), working)
        sine = rational_root(squared / (d + squared), working)
        total: Enclosure = (one, one) if d > 1 else (0, 0)
        term: Enclosure = (one, one)
        for order in range(2 + d % 2, d - 1, 2):
            term = product(term, cosine_squared, working)
            term = term[0] * (order - 1) // order, -(-term[1] * (order - 1) // order)
            total = total[0] + term[0], total[1] + term[1]
        inside = product(sine, total, working)
        if d % 2:
            cosine = rational_root(d / (d + squared), working)
            inside = product(inside, cosine, working)
            angle = arctangent(rational_root(squared / d, working), working)
            inside = 2 * (inside[0] + angle[0]), 2 * (inside[1] + angle[1])
            inside = quotient(inside, elementary.pi(working), working)
        shift = working - bits + 1
        return max((one - inside[1]) >> shift, 0), min(-(-(one - inside[0]) >> shift), 1 << (bits - 1))
