"""Which keys will be shown: the chance of a key by its number of persons, known before anything is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from fractions import Fraction
from typing import ClassVar, Protocol

from discreet.errors import ParameterError
from discreet.mechanisms.tails import (
    COARSE_BITS,
    TAIL_BITS,
    deviations,
    gaussian_tail,
    laplace_tail,
    least_that_holds,
    rounded_tail,
)
from discreet.noise.enclosure import Enclosure
from discreet.noise.levels import Levels
from discreet.privacy.rational import Number, float_above, float_below, rational, whole
from discreet.records import dataclass

__all__ = [
    "GaussianShownKeys",
    "LaplaceShownKeys",
    "LevelShownKeys",
    "NoiseShownKeys",
    "RoundedShownKeys",
    "ShownKeys",
]

MOST_PERSONS = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKeys(ABC):
    """With which probability a key of n persons is shown, or missed.

    Attributes
    ----------
    exact : bool
        True: the probability is that of the law that is drawn, rounded to the safe side.
    """

    exact: ClassVar[bool] = True

    @abstractmethod
    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Enclose the probability that a key of n >= 1 persons is shown, as narrowly as so many bits do."""

    def shown(self, persons: int) -> float:
        """Return the probability that a key with this many persons is shown, rounded down."""
        return float_below(self._chance(persons))

    def missed(self, persons: int) -> float:
        """Return the probability that a key with this many persons is not shown, rounded up."""
        return float_above(1 - self._chance(persons))

    def _chance(self, persons: int) -> Fraction:
        count = whole(persons, "persons", least=0, most=MOST_PERSONS)
        return self.enclosed(count)[0] if count else Fraction(0)

    def size_for(self, probability: Number) -> int:
        """Return the smallest number of persons whose key is shown with at least this probability."""
        wanted = rational(probability, "probability")
        if not 0 < wanted <= 1:
            raise ParameterError("probability", "is out of range", "above 0 and at most 1")
        return self._size_for(wanted)

    def _size_for(self, wanted: Fraction) -> int:
        if 1 - wanted < Fraction(1, 1 << (TAIL_BITS // 2)):
            raise ParameterError(
                "probability", "is 1, or too close to it, for noise without end", "at most 1 - 1e-77"
            )

        def test(persons: int) -> tuple[bool, float]:
            chance, most = self.enclosed(persons, COARSE_BITS)
            if chance < wanted <= most:  # so few bits do not decide
                chance, _ = self.enclosed(persons)
            return chance >= wanted, deviations(chance.numerator, chance.denominator)

        return least_that_holds(test, deviations(wanted.numerator, wanted.denominator))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceShownKeys(ShownKeys):
    """A key of n persons is shown where n + N >= threshold, N discrete Laplace noise."""

    scale: Fraction
    threshold: int

    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Enclose P(N >= threshold - n)."""
        return _fractions(laplace_tail(self.scale, self.threshold - persons, bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianShownKeys(ShownKeys):
    """A key of n persons is shown where n + N >= threshold, N discrete Gaussian noise."""

    variance: Fraction
    threshold: int

    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Enclose P(N >= threshold - n)."""
        return _fractions(gaussian_tail(self.variance, self.threshold - persons, bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedShownKeys(ShownKeys):
    """A key of n persons is shown where n + N >= threshold, N rounded Gaussian noise."""

    variance: Fraction
    threshold: int

    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Enclose P(N >= threshold - n)."""
        return _fractions(rounded_tail(self.variance, self.threshold - persons, bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShownKeys(ShownKeys):
    """A key of n persons is shown with the tabulated, rational probability p_n."""

    levels: Levels

    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Return p_n, twice."""
        del bits
        numerators = self.levels.numerators
        chance = Fraction(numerators[min(persons, len(numerators)) - 1], 1 << self.levels.bits)
        return chance, chance

    def _size_for(self, wanted: Fraction) -> int:
        scaled = wanted * (1 << self.levels.bits)
        return bisect_left(self.levels.numerators, scaled.__ceil__()) + 1


class _Tail(Protocol):
    def tail(self, least: int, bits: int) -> Enclosure: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseShownKeys(ShownKeys):
    """A key with a count of n is shown where n + N >= threshold, for noise with known tails."""

    noise: _Tail
    threshold: int

    def enclosed(self, persons: int, bits: int = TAIL_BITS) -> tuple[Fraction, Fraction]:
        """Enclose P(N >= threshold - n)."""
        return _fractions(self.noise.tail(self.threshold - persons, bits))


def _fractions(probability: Enclosure) -> tuple[Fraction, Fraction]:
    return Fraction(max(probability[0], 0), 1 << TAIL_BITS), Fraction(
        min(probability[1], 1 << TAIL_BITS), 1 << TAIL_BITS
    )
