"""Normal noise that was rounded to a grid: the discrete law that is exactly Gaussian private."""

from __future__ import annotations

from fractions import Fraction

from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events.additive import NormalOnGrid
from discreet.privacy.events.event import stored
from discreet.records import dataclass

__all__ = ["RoundedGaussian"]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class RoundedGaussian(NormalOnGrid):
    """Normal noise rounded to a grid: each value gets k grid, k the nearest integer to sigma Z / grid.

    P(k) = Phi((k + 1/2) grid / sigma) - Phi((k - 1/2) grid / sigma), where sigma^2 = variance. The values
    before noise lie on the grid too, so that value and noise together are the rounding of what the ideal
    Gaussian mechanism would release: all that holds for that mechanism holds for this law, for vectors of any
    size and in any composition (docs/proofs/gaussian.md, theorem 7). Accountants read it as `Gaussian` noise
    of the same multiplier: from above. From below they claim nothing, since rounding tells less.

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

    @property
    def squared_mu(self) -> Fraction:
        """The square of mu = sensitivity / sigma: the law is mu-Gaussian private."""
        return self.squared_sensitivity / self.variance

    @property
    def noise_multiplier(self) -> Fraction:
        """1 / mu, rounded down."""
        return sqrt_interval(self.variance / self.squared_sensitivity)[0]
