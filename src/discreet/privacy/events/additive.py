"""Events of added noise: the continuous ideals, and the discrete laws that are really drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events.event import Event, stored
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import float_above, float_below, positive, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Gaussian", "Laplace", "NormalOnGrid"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Laplace(Event):
    """Continuous Laplace noise of scale 1 / epsilon on a value that moves by at most 1 in L1.

    An ideal, for analysis: no computer draws it. What is drawn is `DiscreteLaplace`.

    Parameters
    ----------
    epsilon : number
        L1 sensitivity over scale, greater than 0.
    neighbors : Neighbors
        The relation.
    """

    epsilon: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(**positive(epsilon=epsilon), neighbors=check_relation(neighbors))

    @property
    def pure_epsilon(self) -> Fraction:
        """The epsilon itself (Dwork, McSherry, Nissim & Smith 2006)."""
        return self.epsilon

    def _group(self, size: int) -> Event:
        return Laplace(epsilon=size * self.epsilon, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Gaussian(Event):
    """Continuous normal noise of standard deviation `noise_multiplier` times the L2 sensitivity.

    An ideal, for analysis and training. What is drawn is a `RoundedGaussian`, which is exactly Gaussian
    private too, or a `DiscreteGaussian`, which is not.

    Parameters
    ----------
    noise_multiplier : number
        Standard deviation over L2 sensitivity, greater than 0.
    neighbors : Neighbors
        The relation.
    """

    noise_multiplier: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(self, *, noise_multiplier: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        self._set(**positive(noise_multiplier=noise_multiplier), neighbors=check_relation(neighbors))

    @property
    def squared_mu(self) -> Fraction:
        """The square of mu = 1 / noise_multiplier: the law is mu-Gaussian private."""
        return 1 / self.noise_multiplier**2

    @property
    def concentrated_rho(self) -> Fraction:
        """1 / (2 noise_multiplier^2) (Bun & Steinke 2016, Proposition 1.6)."""
        return 1 / (2 * self.noise_multiplier**2)

    def _group(self, size: int) -> Event:
        return Gaussian(noise_multiplier=self.noise_multiplier / size, neighbors=self.neighbors.group(size))


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DiscreteLaplace(Event):
    """Discrete Laplace noise on a grid: each value gets k grid, with P(k) ∝ exp(-abs(k) grid / scale).

    The values before noise lie on the grid too (the rounding that took them there is
    part of `sensitivity`), so that together they move by at most `shift` steps.

    Parameters
    ----------
    sensitivity : number
        The most that the values, on the grid, move in L1 between neighbors, in data units.
    scale : number
        The scale of the noise, in data units.
    grid : number
        The step of the grid, in data units.
    size : int or None
        How many values share the sensitivity; None when any number may.
    neighbors : Neighbors
        The relation.
    """

    sensitivity: Fraction
    scale: Fraction
    grid: Fraction = Fraction(1)
    size: int | None = None
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(
        self,
        *,
        sensitivity: Number,
        scale: Number,
        grid: Number = 1,
        size: int | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        self._set(
            **positive(sensitivity=sensitivity, scale=scale, grid=grid),
            size=None if size is None else whole(size, "size", least=1),
            neighbors=check_relation(neighbors),
        )

    @property
    def shift(self) -> int:
        """The most grid steps that the values move together: floor(sensitivity / grid)."""
        return math.floor(self.sensitivity / self.grid)

    @property
    def pure_epsilon(self) -> Fraction:
        """The loss of `shift` steps, each of which changes it by at most grid / scale."""
        return self.shift * self.grid / self.scale

    def _group(self, size: int) -> Event:
        return DiscreteLaplace(
            sensitivity=size * self.sensitivity,
            scale=self.scale,
            grid=self.grid,
            size=self.size,
            neighbors=self.neighbors.group(size),
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class NormalOnGrid(Event):
    """Noise on a grid that is made of a normal law, and the values that it was added to.

    Sensitivity and noise are kept as squares, so that a sensitivity of sqrt(2) is exact. The
    values before noise lie on the grid too.
    """

    squared_sensitivity: Fraction
    variance: Fraction
    grid: Fraction = Fraction(1)
    size: int | None = None
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(
        self,
        *,
        squared_sensitivity: Number,
        variance: Number,
        grid: Number = 1,
        size: int | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        self._set(
            **positive(squared_sensitivity=squared_sensitivity, variance=variance, grid=grid),
            size=None if size is None else whole(size, "size", least=1),
            neighbors=check_relation(neighbors),
        )

    @property
    def rho(self) -> Fraction:
        """squared_sensitivity / (2 variance)."""
        return self.squared_sensitivity / (2 * self.variance)

    @property
    def concentrated_rho(self) -> Fraction:
        """The rho itself."""
        return self.rho

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity in data units, rounded up."""
        return float_above(sqrt_interval(self.squared_sensitivity)[1])

    @property
    def sigma(self) -> float:
        """The square root of `variance`, rounded down."""
        return float_below(sqrt_interval(self.variance)[0])

    @property
    def shift(self) -> int:
        """The most grid steps that any one value moves: floor(sensitivity / grid)."""
        return math.isqrt(math.floor(self.squared_sensitivity / self.grid**2))

    def _group(self, size: int) -> Event:
        return type(self)(
            squared_sensitivity=size**2 * self.squared_sensitivity,
            variance=self.variance,
            grid=self.grid,
            size=self.size,
            neighbors=self.neighbors.group(size),
        )


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DiscreteGaussian(NormalOnGrid):
    """Discrete normal noise on a grid: each value gets k grid, with P(k) ∝ exp(-(k grid)^2 / (2 variance)).

    Its rho, squared_sensitivity / (2 variance), is exact for shifts on the grid (Canonne, Kamath & Steinke
    2020, Theorem 4; for a vector the squared shifts add up).

    Parameters
    ----------
    squared_sensitivity : number
        The square of the most that the values, on the grid, move in L2, in data units squared.
    variance : number
        The parameter of the law, sigma^2, in data units squared; the variance of the noise is
        at most this.
    grid : number
        The step of the grid, in data units.
    size : int or None
        How many values share the sensitivity; None when any number may.
    neighbors : Neighbors
        The relation.
    """
