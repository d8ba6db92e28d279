"""Laplace noise: approximate privacy, with delta in closed form."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import BITS, exponential_of, short_above, short_below
from discreet.mechanisms.admissible.noise import Admissible, Notion, check_budget, check_move, stated_epsilon
from discreet.noise.elementary import enclose, exponential_minus, log_two, logarithm, square_root
from discreet.noise.enclosure import Enclosure, exponential
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass

__all__ = ["LaplaceNoise"]

_ONE = 1 << BITS
_FAR = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceNoise(Admissible):
    """The Laplace law, with density exp(-|z|) / 2.

    Guarantee
    ---------
    (epsilon, delta)-DP with delta = (1 - e^-t) exp(-(epsilon + t) / (e^t - 1)) cosh(s / (e^t - 1)) for shift
    s and dilation t, provided that s <= epsilon and t + s e^-t <= epsilon. This is exact. Nissim,
    Raskhodnikova & Smith (2007) ask for s <= epsilon / 2 and t <= epsilon / (2 log(2 / delta)), which is
    less by orders of magnitude in delta. Proof: docs/proofs/admissible_noise.md.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import LaplaceNoise
    >>> float(LaplaceNoise().largest_shift(epsilon=1, delta=1e-6, dilation=0.03))
    0.7376...
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
        if not _within(s, t, loss):
            raise ParameterError("shift", "is too large for this epsilon and dilation", "smaller")
        if t == 0:
            return ApproximateDP(epsilon=loss, delta=0, neighbors=neighbors)
        growth = exponential_of(t)
        growth = growth[0] - _ONE, growth[1] - _ONE
        near = exponential_minus(_divided(loss + t - s, growth), BITS)
        far = exponential_minus(_divided(loss + t + s, growth), BITS)
        shrink = _ONE - exponential_of(-t)[0]
        delta = -(-(near[1] + far[1]) * shrink >> (BITS + 1))
        return ApproximateDP(
            epsilon=loss, delta=min(short_above((0, delta)), Fraction(1)), neighbors=neighbors
        )

    def shift_budget(self, *, shift: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> PureDP:
        """Return the pure guarantee of a shift alone: s."""
        return PureDP(epsilon=check_move(shift, 0)[0], neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return (e^t - 1) arcosh(delta exp((epsilon + t) / (e^t - 1)) / (1 - e^-t)), or a limit below it."""
        loss, chance = check_budget("approximate", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        if t == 0:
            return loss
        most = min(loss, _most(loss, t))
        if most <= 0:
            return Fraction(0)
        growth = exponential_of(t)
        growth = growth[0] - _ONE, growth[1] - _ONE
        shrink = _ONE - exponential_of(-t)[1], _ONE - exponential_of(-t)[0]
        level = _logarithm_below(chance) + _divided(loss + t, growth)[0] - logarithm(shrink, BITS)[1]
        return min(most, short_below((growth[0] * _inverse_cosine(level) >> BITS, 0)))

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""
        return -abs(z) - log(2)

    def tail(self, z: float) -> float:
        """Return P(|Z| > z) = exp(-z)."""
        return exp(-max(z, 0.0))

    def guess(self, probability: float) -> float:
        """Return -log(2 probability)."""
        return max(0.0, -log(2 * probability))

    @property
    def variance(self) -> float:
        """2."""
        return 2.0

    @property
    def mean_absolute(self) -> float:
        """1."""
        return 1.0

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) = exp(-z) / 2."""
        low, high = exponential(z, bits)
        return low >> 1, -(-high >> 1)


def _within(s: Fraction, t: Fraction, epsilon: Fraction) -> bool:
    """Return whether s <= epsilon and t + s e^-t <= epsilon, for certain."""
    if s > epsilon or t > epsilon:
        return False
    return t == 0 or s * _ONE <= exponential_of(t)[0] * (epsilon - t)


def _logarithm_below(x: Fraction) -> int:
    """Return log(x) from below, in units of 2^-BITS, for a positive x however small."""
    top, bottom = x.numerator << BITS, x.denominator << BITS
    return logarithm((top, top), BITS)[0] - logarithm((bottom, bottom), BITS)[1]


def _most(epsilon: Fraction, t: Fraction) -> Fraction:
    """Return the largest s with t + s e^-t <= epsilon, rounded down, or 0."""
    if t > epsilon:
        return Fraction(0)
    room = epsilon - t
    return short_below((exponential_of(t)[0] * room.numerator // room.denominator, 0))


def _divided(x: Fraction, a: Enclosure) -> Enclosure:
    """Enclose x / a for a rational x >= 0 and a positive a."""
    top = enclose(x, BITS)
    return (top[0] << BITS) // a[1], -((-top[1] << BITS) // a[0])


def _inverse_cosine(level: int) -> int:
    """Return arcosh(e^level) from below, or 0 where e^level <= 1: both in units of 2^-BITS.

    For x >= 2, arcosh(x) >= log(2 x) - 1 / x^2.
    """
    if level <= 0:
        return 0
    if level > _FAR << BITS:
        return level + log_two(BITS)[0] - (_ONE >> (2 * _FAR))
    x = exponential_of(Fraction(level, _ONE))[0]
    root = square_root((max((x * x >> BITS) - _ONE, 0), 0), BITS)[0]
    return max(logarithm((x + root, x + root), BITS)[0], 0)
