"""Noise for integers that move by a bounded Euclidean length: pure epsilon, the same in every direction."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.noise import current
from discreet.noise.euclidean import LARGEST_LENGTH_SCALE, sample_euclidean
from discreet.privacy.events import Pure
from discreet.privacy.neighbors import ADD_REMOVE_PERSON

__all__ = ["EuclideanNoise", "power_of_two"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EuclideanNoise:
    """The nearest integers to a vector with density ~ exp(-epsilon |z| / sensitivity), |z| its length."""

    sensitivity: Fraction
    epsilon: Fraction
    size: int

    def __post_init__(self) -> None:
        if self.scale > LARGEST_LENGTH_SCALE:
            raise ParameterError("epsilon", "needs more noise than can be drawn", "larger")

    @property
    def scale(self) -> Fraction:
        """What |z| is divided by: the length has the law Gamma(size, scale)."""
        return self.sensitivity / self.epsilon

    @property
    def event(self) -> Pure:
        """Pure epsilon, for integers that move by `sensitivity` at most in L2."""
        return Pure(epsilon=self.epsilon, neighbors=ADD_REMOVE_PERSON)

    def release(self, steps: list[int]) -> list[int]:
        """Return the integers with noise."""
        noise = sample_euclidean(self.scale, self.size, current())
        return [one + more for one, more in zip(steps, noise, strict=True)]


def power_of_two(value: Fraction) -> Fraction:
    """Return the largest power of two that is at most a positive number."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    found = Fraction(2) ** exponent
    return found if found <= value else found / 2
