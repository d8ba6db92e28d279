"""Normal noise that was rounded to a grid: the discrete law that is exactly Gaussian private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events.event import Event, stored
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import float_above, float_below, rational, whole

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["RoundedGaussian"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class RoundedGaussian(Event):
    """Normal noise rounded to a grid: each value gets k grid, k the nearest integer to sigma Z / grid.

    P(k) = Phi((k + 1/2) grid / sigma) - Phi((k - 1/2) grid / sigma), where sigma^2 = variance. The values
    before noise lie on the grid too, so that value and noise together are the rounding of what the ideal
    Gaussian mechanism would release: all that holds of that mechanism holds of this law, for vectors of any
    size and in any composition (docs/proofs/gaussian.md, theorem 7). Accountants read it as `Gaussian` noise
    of the same multiplier. Their upper bounds hold; their lower ends are those of the ideal, before
    rounding, which the rounded law comes the closer to the wider it is, in steps.

    Parameters
    ----------
    squared_sensitivity : number
        The square of the most that the values, on the grid, move in L2, in data units squared.
    variance : number
        sigma^2 of the noise before it was rounded, in data units squared; rounding adds about grid^2 / 12.
    grid : number
        The step of the grid, in data units.
    size : int or None
        How many values share the sensitivity; None when any number may.
    neighbors : Neighbors
        The relation.
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
        self._fill(
            neighbors,
            squared_sensitivity=rational(squared_sensitivity, "squared_sensitivity", positive=True),
            variance=rational(variance, "variance", positive=True),
            grid=rational(grid, "grid", positive=True),
            size=None if size is None else whole(size, "size", least=1),
        )

    @property
    def squared_mu(self) -> Fraction:
        """The square of mu = sensitivity / sigma: the law is mu-Gaussian private."""
        return self.squared_sensitivity / self.variance

    @property
    def noise_multiplier(self) -> Fraction:
        """1 / mu, rounded down."""
        return sqrt_interval(self.variance / self.squared_sensitivity)[0]

    @property
    def rho(self) -> Fraction:
        """mu^2 / 2, by which the ideal law is zero-concentrated private."""
        return self.squared_mu / 2

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
        return RoundedGaussian(
            squared_sensitivity=size**2 * self.squared_sensitivity,
            variance=self.variance,
            grid=self.grid,
            size=self.size,
            neighbors=self.neighbors.group(size),
        )
