"""Admissible noise: laws that stay private when they slide and stretch a little.

A mechanism adds noise in proportion to a smooth bound S on the local sensitivity. Between
neighbors both the answer and S change, so their outputs are m + a Z and m' + a' Z with

    |log(a / a')| <= dilation,    |m - m'| <= shift min(a, a').

(For S / shift as the scale: a smooth bound is at least the local sensitivity at *both* neighbors.)
Noise is admissible where the divergence of any two such laws is bounded; `budget` says by what,
`largest_shift` is its inverse (Nissim, Raskhodnikova & Smith 2007; Bun & Steinke 2019; proofs:
docs/proofs/admissible_noise.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import exp, inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Literal

from discreet.errors import ParameterError
from discreet.mechanisms.error.base import allowed_failure
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, non_negative, probability, rational
from discreet.records import Record

if TYPE_CHECKING:
    from discreet.noise.enclosure import Enclosure

__all__ = [
    "LARGEST_BUDGET",
    "LARGEST_DILATION",
    "MOST_NOISE_EPSILON",
    "Admissible",
    "Notion",
    "check_budget",
    "check_move",
    "stated_epsilon",
]

Notion = Literal["pure", "approximate", "concentrated"]

LARGEST_BUDGET = 10**9
"""The largest epsilon or rho that may be offered."""
LARGEST_DILATION = 200
"""The largest dilation for which there are guarantees."""

MOST_NOISE_EPSILON = Fraction(1000)
"""What noise is calibrated to at most: an epsilon beyond it is not used up."""

_CALIBRATED = {"epsilon": MOST_NOISE_EPSILON, "rho": MOST_NOISE_EPSILON**2 / 2}
_LARGEST_SHIFT = Fraction(10) ** 100
_LEAST_DILATION = Fraction(1, 2**200)
_FARTHEST = 1e300
_LEAST_FLOAT = 5e-324


class Admissible(Record, ABC):
    """A symmetric, unimodal law with a guarantee for every shift and dilation that it tolerates.

    Subclasses are frozen values that hold public parameters.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def notion(self) -> Notion:
        """Which guarantee the law has: "pure", "approximate" or "concentrated"."""

    @abstractmethod
    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> Guarantee:
        """Return what is promised for a shift and a dilation, rounded up.

        Approximate noise takes `epsilon` and answers with its delta; the others take none.
        """

    @abstractmethod
    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift, rounded down, whose budget is within the one given.

        0 where the dilation alone exceeds the budget.
        """

    def shift_budget(self, *, shift: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Guarantee:
        """Return what a shift alone promises, where both laws have one scale.

        It may be of a stronger notion than `budget`, which has to cover dilations too.
        """
        return self.budget(shift=shift, dilation=0, neighbors=neighbors)

    @abstractmethod
    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""

    def density(self, z: float) -> float:
        """Return the density at z."""
        return exp(self.log_density(z))

    @abstractmethod
    def tail(self, z: float) -> float:
        """Return P(|Z| > z), in double precision."""

    def quantile(self, confidence: Number) -> float:
        """Return z with P(|Z| <= z) = confidence, in double precision."""
        return self._beyond(allowed_failure(confidence))

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance; infinite if there is none."""

    @property
    @abstractmethod
    def mean_absolute(self) -> float:
        """The mean of |Z|; infinite if there is none."""

    @property
    def typical(self) -> float:
        """What is minimized: the standard deviation, else the mean of |Z|, else the median of |Z|."""
        if isfinite(self.variance):
            return sqrt(self.variance)
        return self.mean_absolute if isfinite(self.mean_absolute) else self.quantile(Fraction(1, 2))

    @abstractmethod
    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) for a rational z >= 0: certified, at any precision."""

    def guess(self, probability: float) -> float:
        """Return about the z with P(Z > z) = probability."""
        return self._beyond(2 * probability)

    def _beyond(self, probability: float) -> float:
        """Return z with P(|Z| > z) = probability, by a search over all magnitudes."""
        from scipy.optimize import brentq

        if probability >= 1:
            return 0.0
        low, high = -700.0, 1.0
        while self.tail(exp(high)) > probability:
            if high > log(_FARTHEST):
                return inf
            low, high = high, 2 * high
        high = min(high, log(_FARTHEST))

        def excess(magnitude: float) -> float:
            return log(max(self.tail(exp(magnitude)), _LEAST_FLOAT) / max(probability, _LEAST_FLOAT))

        return exp(brentq(excess, low, high, xtol=1e-15, rtol=1e-15))


def check_move(shift: Number, dilation: Number) -> tuple[Fraction, Fraction]:
    """Return a shift and a dilation as fractions.

    A dilation below 2^-200, except for 0, is taken as that: a larger one allows all the same moves.
    """
    slid, stretched = non_negative(shift, "shift"), non_negative(dilation, "dilation")
    if slid > _LARGEST_SHIFT:
        raise ParameterError("shift", "is too large", "at most 10^100")
    if stretched > LARGEST_DILATION:
        raise ParameterError("dilation", "is too large", f"at most {LARGEST_DILATION}")
    return slid, max(stretched, _LEAST_DILATION) if stretched else stretched


def stated_epsilon(epsilon: Number | None) -> Fraction:
    """Return the epsilon at which approximate noise is to compute its delta."""
    if epsilon is None:
        raise ParameterError(
            "epsilon", "is missing", "a number: approximate noise computes its delta from it"
        )
    return rational(epsilon, "epsilon", positive=True)


def check_budget(notion: Notion, **budget: Number | None) -> tuple[Fraction, ...]:
    """Return the parameters of a budget in the order that the notion has them: those and no others.

    An epsilon above 1000, or a rho above 500000, is returned as that: what is within the
    smaller budget is within the larger.
    """
    wanted = {"pure": ("epsilon",), "approximate": ("epsilon", "delta"), "concentrated": ("rho",)}[notion]
    for name, value in budget.items():
        if (value is None) == (name in wanted):
            problem = "is missing" if value is None else f"is given for {notion} noise"
            raise ParameterError(name, problem, " and ".join(wanted))
    exact = tuple(rational(budget[name], name, positive=True) for name in wanted)  # type: ignore[arg-type]
    if notion == "approximate":
        probability(exact[1], "delta", one=False)
    for name, value in zip(wanted, exact, strict=True):
        if name != "delta" and value > LARGEST_BUDGET:
            raise ParameterError(name, "is too large", f"at most {LARGEST_BUDGET}")
    return tuple(min(value, _CALIBRATED.get(name, value)) for name, value in zip(wanted, exact, strict=True))
