"""Concentrated noise: one bound for all laws whose log-density is steep and stretches gently.

Let Z be symmetric, psi_s = -f' / f its score under a shift with |psi_s| <= c, and
psi_d = -1 - z f' / f its score under a dilation with log E exp(l psi_d) <= v l^2 / 2 for every l. Then
shift s and dilation t cost rho = max((c s)^2, (c s k)^2 + v t^2) / 2 with k = t / (e^t - 1): the two
moves add as squares, since one score is odd and the other even. (Bun & Steinke 2019 add
them as c s + t sqrt v; proof: docs/proofs/admissible_noise.md.)
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.certificates import BITS, exponential_of, rounded_up, short_below
from discreet.mechanisms.admissible.noise import Admissible, Notion, check_budget, check_move
from discreet.noise.elementary import rational_root
from discreet.privacy.guarantees import PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, rational

__all__ = ["Concentrated", "check_spread", "path_factor"]

LEAST_SPREAD, MOST_SPREAD = Fraction(1, 100), Fraction(4)


class Concentrated(Admissible):
    """A law with a bounded score under shifts and a sub-Gaussian score under dilations."""

    __slots__ = ()

    @property
    @abstractmethod
    def steepness(self) -> Fraction:
        """A bound c on the slope of the log-density, rounded up."""

    @property
    @abstractmethod
    def stretch(self) -> Fraction:
        """A variance proxy v of the score under a dilation, rounded up."""

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
        slid = (self.steepness * s) ** 2
        moved = slid * path_factor(t) ** 2 + self.stretch * t**2
        return ZeroConcentratedDP(rho=rounded_up(max(slid, moved) / 2), neighbors=neighbors)

    def shift_budget(self, *, shift: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> PureDP:
        """Return the pure guarantee of a shift alone: c s, since no slope of the log-density exceeds c."""
        s, _ = check_move(shift, 0)
        return PureDP(epsilon=rounded_up(self.steepness * s), neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the least of sqrt(2 rho) / c and sqrt(2 rho - v t^2) / (c k)."""
        (cost,) = check_budget("concentrated", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        room = 2 * cost - self.stretch * t**2
        if room <= 0:
            return Fraction(0)
        slid = 2 * cost / self.steepness**2
        moved = room / (self.steepness * path_factor(t)) ** 2
        return short_below(rational_root(min(slid, moved), BITS))


@lru_cache(maxsize=256)
def path_factor(t: Fraction) -> Fraction:
    """Return k = t / (e^t - 1), rounded up: what the straight path through the affine maps slides."""
    if t == 0:
        return Fraction(1)
    growth = exponential_of(t)[0] - (1 << BITS)
    return min(rounded_up(t * (1 << BITS) / growth), Fraction(1)) if growth > 0 else Fraction(1)


def check_spread(spread: Number, *, least: Fraction = LEAST_SPREAD) -> Fraction:
    """Return the spread sigma of a log-normal factor, or refuse it."""
    exact = rational(spread, "spread", positive=True)
    if not least <= exact <= MOST_SPREAD:
        raise ParameterError("spread", "is out of range", f"from {least} to {MOST_SPREAD}")
    return exact
