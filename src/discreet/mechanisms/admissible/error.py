"""How wrong an answer is if the smooth sensitivity were a stated number."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from discreet.mechanisms.admissible.noise import Admissible
from discreet.privacy.rational import Number, rational
from discreet.records import dataclass

__all__ = ["ScaledNoise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledNoise:
    """The law of the error |scale Z|, rounded to a grid; clamping to the bounds can only make it smaller.

    Attributes
    ----------
    noise : Admissible
        The law of Z.
    scale : Fraction
        What Z is multiplied with.
    rounding : Fraction
        The most that rounding adds to the error: half a step of the grid.
    """

    noise: Admissible
    scale: Fraction
    rounding: Fraction

    def tail(self, threshold: Number) -> float:
        """Return a bound on the probability that the error exceeds a threshold, in double precision."""
        beyond = rational(threshold, "threshold") - self.rounding
        if beyond < 0:
            return 1.0
        return self.noise.tail(float(beyond / self.scale)) if self.scale else 0.0

    def quantile(self, confidence: Number) -> float:
        """Return what the error stays within with a probability of at least `confidence`."""
        return float(self.scale) * self.noise.quantile(confidence) + float(self.rounding)

    @property
    def mean_absolute(self) -> float:
        """The mean error, without rounding; infinite if there is none."""
        return float(self.scale) * self.noise.mean_absolute if self.scale else 0.0

    @property
    def variance(self) -> float:
        """The mean squared error, without rounding; infinite if there is none."""
        return float(self.scale) ** 2 * self.noise.variance if self.scale else 0.0

    @property
    def deviation(self) -> float:
        """The root of the mean squared error."""
        return sqrt(self.variance)
