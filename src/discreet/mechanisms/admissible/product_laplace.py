"""Laplace noise for vectors: approximate privacy, with delta from a sum of gamma tails."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import BITS, exponential_of, rounded_down, rounded_up
from discreet.mechanisms.admissible.laplace import LaplaceNoise
from discreet.mechanisms.admissible.noise import (
    MOST_NOISE_EPSILON,
    Admissible,
    check_budget,
    check_move,
    stated_epsilon,
)
from discreet.mechanisms.admissible.product import (
    ConcentratedVector,
    StudentVector,
    VectorNoise,
)
from discreet.mechanisms.admissible.student import Student
from discreet.noise.elementary import enclose, exponential_minus
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number
from discreet.records import dataclass
from discreet.stability.vector_profile import SensitivityNorm

__all__ = ["LaplaceVector", "vector_noise"]

_HALVINGS = 48
_LEAST_DELTA = Fraction(1, 1 << BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceVector(VectorNoise):
    """Independent coordinates of the Laplace law: approximate privacy, for shifts in L1.

    Guarantee
    ---------
    (epsilon, delta)-DP with delta = E[(1 - e^(-(d - K) t))_+], where K has the Poisson law with mean
    w = (epsilon + d t - s) / (e^t - 1), for shift s and dilation t, provided that s <= epsilon and
    d t + s e^-t <= epsilon. It is the hockey-stick divergence of the gamma laws of the L1 norms of the
    noise, less the shift. Nissim, Raskhodnikova & Smith (2007) ask for s <= epsilon / 2 and
    t <= epsilon / (4 (d + log(2 / delta))). For d = 1 it is at most twice the exact delta of `LaplaceNoise`
    (proof: docs/proofs/vector_noise.md).
    """

    norm: ClassVar[SensitivityNorm] = "l1"

    def __post_init__(self) -> None:
        VectorNoise.__post_init__(self)
        if not isinstance(self.noise, LaplaceNoise):
            raise ParameterError("noise", "is not of the Laplace law", "a LaplaceNoise")

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
        used = min(loss, MOST_NOISE_EPSILON)
        if not self._within(s, t, used):
            raise ParameterError("shift", "is too large for this epsilon and dilation", "smaller")
        return ApproximateDP(epsilon=loss, delta=self._delta(s, t, used), neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift within (epsilon, delta), by bisection on the certified delta."""
        loss, chance = check_budget("approximate", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)

        def fits(s: Fraction) -> bool:
            return self._within(s, t, loss) and self._delta(s, t, loss) <= chance

        if fits(loss):
            return loss
        low, high = Fraction(0), loss
        for _ in range(_HALVINGS):
            middle = rounded_down((low + high) / 2)
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _within(self, s: Fraction, t: Fraction, epsilon: Fraction) -> bool:
        """Return whether s <= epsilon and d t + s e^-t <= epsilon, for certain."""
        room = epsilon - self.size * t
        if s > epsilon or room < 0:
            return False
        return t == 0 or s * (1 << BITS) <= exponential_of(t)[0] * room

    def _delta(self, s: Fraction, t: Fraction, epsilon: Fraction) -> Fraction:
        """Return delta, rounded up. It falls as w grows, so w is rounded down."""
        if t == 0:
            return Fraction(0)
        growth = Fraction(exponential_of(t)[1] - (1 << BITS), 1 << BITS)
        mean = (epsilon + self.size * t - s) / growth
        # A Poisson law with so large a mean has less than 2^-320 below d: w^k / k! <= 2^k e^(w / 2).
        if mean > 1000 + 4 * self.size:
            return _LEAST_DELTA
        mean = rounded_down(mean)
        bits = BITS + 2 * int(2 * mean) + 64
        mass = exponential_minus(enclose(mean, bits), bits)[1]
        total = Fraction(0)
        for k in range(self.size):
            kept = exponential_of(-t * (self.size - k))[0]
            total += Fraction(mass * ((1 << BITS) - kept), 1 << BITS)
            mass = -(-mass * mean.numerator // (mean.denominator * (k + 1)))
        return min(rounded_up(total / (1 << bits)), Fraction(1))


def vector_noise(noise: Admissible, size: int) -> VectorNoise:
    """Return the law of a vector whose coordinates are independent and have the given law."""
    if isinstance(noise, Student):
        return StudentVector(noise=noise, size=size)
    if isinstance(noise, LaplaceNoise):
        return LaplaceVector(noise=noise, size=size)
    if isinstance(noise, Admissible) and noise.notion == "concentrated":
        return ConcentratedVector(noise=noise, size=size)
    raise ParameterError(
        "noise", "has no guarantee for vectors", "Student, LaplaceNoise, or one of the concentrated laws"
    )
