"""Generalized Cauchy noise: pure privacy with the heaviest tails."""

from __future__ import annotations

from fractions import Fraction
from math import atan, inf, log, log1p, pi, sin, sqrt

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import (
    BITS,
    exponential_of,
    root_below,
    rounded_up,
    short_below,
)
from discreet.mechanisms.admissible.noise import Admissible, Notion, check_budget, check_move
from discreet.noise import elementary
from discreet.noise.elementary import arctangent, enclose, logarithm, rational_root
from discreet.noise.enclosure import Enclosure, product, quotient
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["Cauchy"]

_POWERS = (2, 4, 6)
_ROTATIONS = {2: (), 4: (Fraction(1, 2),), 6: (Fraction(3, 4),)}
"""Squared cosines of the angles of the poles in the first quadrant."""
_DIGITS = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cauchy(Admissible):
    """The law with density proportional to 1 / (1 + |z|^g).

    Parameters
    ----------
    power : int
        The power g: 2 (the Cauchy law, with no moments), 4 or 6 (with a variance). For these the
        distribution function has a closed form that is enclosed to any precision.

    Guarantee
    ---------
    epsilon-DP where the shift is at most the least, over u = 0, t and -t, of
    e^max(-u, 0) (e^(epsilon + u) - 1)^(1 / g) (1 - e^(u - epsilon / (g - 1)))^(1 - 1 / g), for dilation t.
    This is exact. Nissim, Raskhodnikova & Smith (2007) ask for shift and dilation of at
    most epsilon / (2 (g + 1)). Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import Cauchy
    >>> float(Cauchy(power=4).largest_shift(epsilon=1, dilation=0.05))
    0.40870...
    """

    power: int

    def __post_init__(self) -> None:
        if isinstance(self.power, bool) or self.power not in _POWERS:
            raise ParameterError("power", "is not supported", "2, 4 or 6")
        self._amend(power=int(self.power))

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
        """Return the pure guarantee for a shift and a dilation: twelve digits, rounded up."""
        s, t = check_move(shift, dilation)
        if epsilon is not None:
            raise ParameterError("epsilon", "is given, but pure noise determines it", "left out")
        low = t * (self.power - 1)  # what the dilation costs alone
        high = low if s == 0 else low + min(s * self.power, Fraction(1)) + _DIGITS
        while self._largest(high, t) < s:
            low, high = high, 2 * high
        while high - low > high * _DIGITS:
            middle = rounded_up((low + high) / 2)
            if not low < middle < high:
                break
            if self._largest(middle, t) >= s:
                high = middle
            else:
                low = middle
        return PureDP(epsilon=high, neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift within epsilon, rounded down."""
        (loss,) = check_budget("pure", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        return self._largest(loss, t)

    def _largest(self, epsilon: Fraction, t: Fraction) -> Fraction:
        return min(self._shift(epsilon, u) for u in {Fraction(0), t, -t})

    def _shift(self, epsilon: Fraction, u: Fraction) -> Fraction:
        """Return the largest shift where one scale is e^u times the other, on the side that narrows."""
        g = self.power
        if epsilon + u <= 0 or u * (g - 1) >= epsilon:
            return Fraction(0)
        one = 1 << BITS
        room = exponential_of(epsilon + u)[0] - one
        rest = one - exponential_of(u - epsilon / (g - 1))[1]
        raised = max(room, 0)
        for _ in range(g - 1):
            raised = raised * max(rest, 0) >> BITS
        raised = raised * exponential_of(g * max(-u, Fraction(0)))[0] >> BITS
        return short_below((root_below(raised << ((g - 1) * BITS), g), 0))

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""
        g = self.power
        height = log(g * sin(pi / g) / (2 * pi))
        if abs(z) > 1e50:
            return height - g * log(abs(z))
        return height - log1p(abs(z) ** g)

    def tail(self, z: float) -> float:
        """Return P(|Z| > z): the series in 1 / z beyond 5, the closed form before."""
        if z <= 0:
            return 1.0
        g = self.power
        height = g * sin(pi / g) / pi
        if z > 5:
            z = min(z, 1e60) if g > 4 else min(z, 1e100)
            ratio, total, power = z**-g, 0.0, z ** (1 - g)
            for order in range(12):
                total += (-1) ** order * power / ((order + 1) * g - 1)
                power *= ratio
            return height * total
        inside = atan(z) if g in (2, 6) else 0.0
        for squared in _ROTATIONS[g]:
            c, s = sqrt(squared), sqrt(1 - squared)
            inside += c / 2 * log((1 + 2 * z * c + z * z) / (1 - 2 * z * c + z * z))
            inside += s * (atan((z - c) / s) + atan((z + c) / s))
        return max(0.0, 1 - height * 2 / g * inside)

    @property
    def variance(self) -> float:
        """sin(pi / g) / sin(3 pi / g), for g > 3."""
        return sin(pi / self.power) / sin(3 * pi / self.power) if self.power > 3 else inf

    @property
    def mean_absolute(self) -> float:
        """sin(pi / g) / sin(2 pi / g), for g > 2."""
        return sin(pi / self.power) / sin(2 * pi / self.power) if self.power > 2 else inf

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) by the partial fractions of 1 / (1 + z^g).

        The integral from 0 to z is 2 / g times the sum, over the poles in the first quadrant with cosine c
        and sine s, of c / 2 log((1 + 2 z c + z^2) / (1 - 2 z c + z^2))
        + s (arctan((z - c) / s) + arctan((z + c) / s)), and of arctan(z) where there is a pole on the axis;
        over all z >= 0 it is pi / (g sin(pi / g)).
        """
        working = bits + 32
        g, one = self.power, 1 << working
        inside: Enclosure = arctangent(enclose(z, working), working) if g in (2, 6) else (0, 0)
        for squared in _ROTATIONS[g]:
            term = _pole(z, squared, working)
            inside = inside[0] + term[0], inside[1] + term[1]
        sine = rational_root({2: Fraction(1), 4: Fraction(1, 2), 6: Fraction(1, 4)}[g], working)
        part = quotient(
            product((2 * inside[0], 2 * inside[1]), sine, working), elementary.pi(working), working
        )
        shift = working - bits + 1
        return max((one - part[1]) >> shift, 0), min(-(-(one - part[0]) >> shift), 1 << (bits - 1))


def _pole(z: Fraction, squared: Fraction, bits: int) -> Enclosure:
    """Enclose one term of the sum."""
    c, s = rational_root(squared, bits), rational_root(1 - squared, bits)
    x, square = enclose(z, bits), enclose(1 + z * z, bits)
    cross = 2 * (x[0] * c[0] >> bits), -(-2 * x[1] * c[1] >> bits)
    ratio = quotient(
        (square[0] + cross[0], square[1] + cross[1]),
        (max(square[0] - cross[1], 1), square[1] - cross[0]),
        bits,
    )
    log_term = logarithm(ratio, bits)
    far = arctangent(quotient((x[0] + c[0], x[1] + c[1]), s, bits), bits)
    low, high = _signed_arctangent(x[0] - c[1], s, bits)[0], _signed_arctangent(x[1] - c[0], s, bits)[1]
    angles = max(far[0] + low, 0), far[1] + high
    first = product(c, (max(log_term[0], 0), log_term[1]), bits)
    second = product(s, angles, bits)
    return first[0] // 2 + second[0], -(-first[1] // 2) + second[1]


def _signed_arctangent(n: int, s: Enclosure, bits: int) -> Enclosure:
    """Enclose arctan(n / s) for an n of either sign."""
    low, high = arctangent(quotient((abs(n), abs(n)), s, bits), bits)
    return (low, high) if n >= 0 else (-high, -low)
