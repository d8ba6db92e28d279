"""An answer with noise in proportion to a public bound, and how exact statistics come by that noise."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.values import Lattice
from discreet.noise.grid import LARGEST_STEPS
from discreet.privacy.rational import Number, float_above, float_below
from discreet.records import dataclass

__all__ = ["BoundedAnswer", "StatisticValue", "entered", "rounding_of"]

StatisticValue: TypeAlias = int | float | Fraction
"""An exact statistic of the data, before noise."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BoundedAnswer:
    """A noisy answer, and the bound that its noise was made for. Both were released, so both are public.

    Attributes
    ----------
    answer : int or float
        The statistic with noise.
    bound : int or float
        The bound on its local sensitivity.
    noise : Laplace
        The law of the noise given the bound.
    rounding : Fraction
        How far rounding a fraction to the integers may move it, in addition to what `noise.error` covers.
    """

    answer: int | float
    bound: int | float
    noise: Laplace
    rounding: Fraction = Fraction(0)

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """Return a range that holds the statistic with at least this probability, for any bound."""
        reach = Fraction(self.noise.error.quantile(confidence)) + self.rounding
        return float_below(Fraction(self.answer) - reach), float_above(Fraction(self.answer) + reach)

    def __repr__(self) -> str:
        return f"BoundedAnswer(answer={_plain(self.answer)}, bound={_plain(self.bound)})"


def _plain(number: int | float) -> int | float:
    return int(number) if isinstance(number, int) else float(number)


def entered(value: StatisticValue, lattice: Lattice) -> int | float:
    """Return one number on the lattice, as `Laplace` takes it; a fraction is rounded once, halves upward.

    (To a float first and to the grid after would be two roundings, which together stretch distances by
    more than is charged.)
    """
    if isinstance(value, Fraction):
        largest = int(lattice.largest) if lattice.integers else LARGEST_STEPS
        steps = max(-largest, min(largest, floor(value / lattice.step + Fraction(1, 2))))
        return lattice.leave(np.array(steps, np.int64))  # type: ignore[return-value]
    if lattice.enter(value).ndim:
        raise ParameterError("value", "is an array", "one number")
    return value


def rounding_of(value: StatisticValue, lattice: Lattice) -> Fraction:
    """Return how far `entered` moves a value at most, in addition to the rounding that the lattice reports.

    It depends on the type, which is public: 1/2 for any fraction among integers, also for one that is whole.
    """
    return Fraction(1, 2) if lattice.integers and isinstance(value, Fraction) else Fraction(0)
