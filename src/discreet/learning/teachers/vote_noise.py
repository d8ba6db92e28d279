"""The noise on counts of votes, and what one answer may reveal where teachers agree.

Let v be the count of the class with most votes of T, and q the probability that noise makes another class
win. Where q is small, an answer reveals little, since it is nearly always the same (Papernot et al. 2018):
with primes for a neighbor, at an order a,

    e^((a - 1) D_a) = (1 - q)^a (1 - q')^(1 - a) + sum over other classes j of p_j (p_j / p'_j)^(a - 1).

Both terms are bounded by functions of q, from the law of the noise, and q by one of v. Proof:
docs/proofs/private_teachers.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.noise import current, sample_laplace, sample_rounded_gaussian
from discreet.privacy.events import Event, NoisyMax, RoundedGaussian
from discreet.privacy.rational import Number, rational, show
from discreet.records import Record, dataclass

__all__ = ["EventReach", "GaussianVoteNoise", "LaplaceVoteNoise", "VoteNoise", "normal_tail_above"]

_STEP = 2.0**-10
_FARTHEST = 36.0
_SURE = 30.0
"""Beyond, the tail of a normal law is bounded by exp(-y^2 / 2) / 2, which is within a factor of 76 of it."""
_LOG_LEAST = 648.0
_LEAST_SIGMA, _MOST_SIGMA = Fraction(1, 2), Fraction(2**20)
_LEAST_GAMMA, _MOST_GAMMA = Fraction(1, 2**20), Fraction(64)


class EventReach(NamedTuple):
    """What is known of an event that has a probability between `low` and `high`, cell by cell.

    Cells touch, and `high` grows along the last axis. `moved` bounds the event's probability for a neighbor,
    and `moment` its part of the moment, sum p (p / p')^(order - 1); both belong to `high`.
    """

    low: Floats
    high: Floats
    moved: Floats
    moment: Floats


class VoteNoise(Record, ABC):
    """Noise that is added to the count of every class. Subclasses are frozen values of public numbers."""

    __slots__ = ()

    @abstractmethod
    def draw(self, size: int) -> Integers:
        """Draw independent integers of the law, exactly."""

    @abstractmethod
    def event(self, classes: int) -> Event:
        """Return the law of one answer: two counts change by one between neighbors."""

    @abstractmethod
    def worst(self, order: Fraction) -> Fraction:
        """Return a bound on the divergence of one answer at an order, whatever the votes are."""

    @abstractmethod
    def overtaken(self, gaps: Integers) -> Floats:
        """Bound the probability that a class wins against another that is ahead by a gap of 1 or more.

        Ties count as won. It is convex in the gap from 1 on.
        """

    @abstractmethod
    def reach(self, order: float) -> EventReach:
        """Return what is known of an event by its probability, from 0 on."""

    @abstractmethod
    def moved_and_moment(self, chances: Floats, order: float) -> tuple[Floats, Floats]:
        """Bound both for events that have at most these probabilities."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianVoteNoise(VoteNoise):
    """Normal noise of standard deviation sigma, rounded to integers.

    Parameters
    ----------
    sigma : number
        From 1/2 to 2^20.

    Guarantee
    ---------
    One answer is a function of counts with normal noise, of which two move by one: mu^2 = 2 / sigma^2.

    Finite precision
    ----------------
    The rounded law is drawn exactly. Bounds are floats, each rounded up by more than its error.

    Error
    -----
    A class that is ahead by g loses to one other with a probability of at most erfc((g - 1) / (2 sigma)) / 2.
    """

    sigma: Fraction

    def __init__(self, sigma: Number) -> None:
        found = rational(sigma, "sigma", positive=True)
        if not _LEAST_SIGMA <= found <= _MOST_SIGMA:
            raise ParameterError("sigma", "is out of range", "from 1/2 to 2^20 votes")
        self._set(sigma=found)

    def draw(self, size: int) -> Integers:
        """Draw rounded normal noise."""
        return sample_rounded_gaussian(self.sigma**2, size, current())

    def event(self, classes: int) -> Event:
        """Return rounded normal noise on counts, of which two move by one."""
        return RoundedGaussian(squared_sensitivity=2, variance=self.sigma**2, grid=1, size=classes)

    def worst(self, order: Fraction) -> Fraction:
        """Return order / sigma^2."""
        return order / self.sigma**2

    def overtaken(self, gaps: Integers) -> Floats:
        """Return erfc((gap - 1) / (2 sigma)) / 2: rounding moves both by at most 1/2."""
        return normal_tail_above((gaps - 1) / (math.sqrt(2) * float(self.sigma)))

    def reach(self, order: float) -> EventReach:
        """Return the trade-offs of two normal laws at a distance of sqrt(2) / sigma."""
        return normal_reach(math.sqrt(2) / float(self.sigma), order)

    def moved_and_moment(self, chances: Floats, order: float) -> tuple[Floats, Floats]:
        """Return the trade-offs of the same two laws."""
        places = _places_below(chances.ravel()).reshape(chances.shape)
        return _trade_offs(places, math.sqrt(2) / float(self.sigma), order)

    def __repr__(self) -> str:
        return f"GaussianVoteNoise({show(self.sigma)})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class LaplaceVoteNoise(VoteNoise):
    """Laplace noise of scale 1/gamma, on integers.

    Parameters
    ----------
    gamma : number
        From 2^-20 to 64.

    Guarantee
    ---------
    One answer is private with epsilon = 2 gamma: two counts move by one, in opposite directions.

    Finite precision
    ----------------
    The discrete law is drawn exactly. Bounds are floats, each rounded up by more than its error.

    Error
    -----
    A class that is ahead by g loses to one other with a probability of about (2 + gamma g) exp(-gamma g) / 4.
    """

    gamma: Fraction

    def __init__(self, gamma: Number) -> None:
        found = rational(gamma, "gamma", positive=True)
        if not _LEAST_GAMMA <= found <= _MOST_GAMMA:
            raise ParameterError("gamma", "is out of range", "from 2^-20 to 64")
        self._set(gamma=found)

    def draw(self, size: int) -> Integers:
        """Draw discrete Laplace noise."""
        return sample_laplace(1 / self.gamma, size, current())

    def event(self, classes: int) -> Event:
        """Return report-noisy-max at epsilon 2 gamma."""
        del classes
        return NoisyMax(epsilon=2 * self.gamma)

    def worst(self, order: Fraction) -> Fraction:
        """Return the lesser of epsilon and order epsilon^2 / 2."""
        epsilon = 2 * self.gamma
        return min(epsilon, order * epsilon**2 / 2)

    def overtaken(self, gaps: Integers) -> Floats:
        """Return P(Z - Z' >= gap) for two discrete Laplace numbers, a closed form."""
        ratio, held = math.exp(-float(self.gamma)), gaps.astype(np.float64)
        less, both = -math.expm1(-float(self.gamma)), 1 + ratio
        heads = (held + (1 + ratio**2) / (less * both)) / less + ratio / less**2
        found = np.exp(-float(self.gamma) * held + np.log(heads) + 2 * math.log(less / both))
        return np.minimum(found * (1 + 1e-12), 1.0)

    def reach(self, order: float) -> EventReach:
        """Return the bounds of pure privacy, e^epsilon q and e^((order - 1) epsilon) q."""
        high = np.exp(-np.arange(_LOG_LEAST, math.log(2) - _STEP, -_STEP))
        return EventReach(_before(high), high, *self.moved_and_moment(high, order))

    def moved_and_moment(self, chances: Floats, order: float) -> tuple[Floats, Floats]:
        """Return e^epsilon q and e^((order - 1) epsilon) q."""
        epsilon = 2 * float(self.gamma)
        with np.errstate(over="ignore"):
            moved, moment = np.exp(epsilon) * chances, np.exp((order - 1) * epsilon) * chances
        return moved * (1 + 1e-12), moment * (1 + 1e-12)

    def __repr__(self) -> str:
        return f"LaplaceVoteNoise({show(self.gamma)})"


@lru_cache(maxsize=32)
def normal_reach(mu: float, order: float) -> EventReach:
    """Return what is known of events under normal laws at a distance mu.

    An event of probability q = P(X > z) has at most P(X > z - mu) for a neighbor, and a part of the moment of
    at most exp(order (order - 1) mu^2 / 2) P(X > z - (order - 1) mu) (Neyman & Pearson).
    """
    places = np.arange(_FARTHEST, -_STEP, -_STEP)
    high = normal_tail_above(places)
    return EventReach(_before(high), high, *_trade_offs(places, mu, order))


def _trade_offs(places: Floats, mu: float, order: float) -> tuple[Floats, Floats]:
    """Bound how often X > z - mu, and the moment of the event X > z."""
    shifted = places - (order - 1) * mu
    growth = order * (order - 1) * mu**2 / 2
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.exp(growth) * normal_tail_above(np.minimum(shifted, _SURE))
        far = np.exp(growth - shifted**2 / 2) / 2
    moment = np.where(shifted <= _SURE, near, far) * (1 + 1e-12)
    return normal_tail_above(places - mu), moment


def _places_below(chances: Floats) -> Floats:
    """Return z with P(X > z) at least each probability, and hardly more: -inf where none is found."""
    standard = NormalDist()
    places = np.array([-standard.inv_cdf(float(one)) for one in chances])
    # The tail grows by about max(z, 0.8) times what is taken off z, and so by more than is checked below.
    places -= 8e-12 / np.maximum(np.abs(places), 1)
    return np.where(normal_tail_above(places) * (1 - 3e-12) >= chances, places, -np.inf)


def normal_tail_above(places: Floats) -> Floats:
    """Return P(X > z) for a standard normal X, rounded up; near 1 it may exceed 1, by as little."""
    each = (math.erfc(z) for z in (places / math.sqrt(2)).ravel().tolist())
    found = np.fromiter(each, np.float64, places.size).reshape(places.shape)
    # An argument of at most 37 that is off by 2^-52 of itself moves a tail by less than 37^2 2^-51 of it.
    return found / 2 * (1 + 1e-12)


def _before(high: Floats) -> Floats:
    """Return where cells begin: 0, and then where the one before ends, rounded down."""
    return np.concatenate([[0.0], high[:-1] * (1 - 3e-12)])
