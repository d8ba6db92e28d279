"""What is known about an error before anything is drawn: its tail, quantiles and moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import expm1, log1p
from typing import ClassVar

from discreet.privacy.rational import Number, confidence_level, float_above, rational
from discreet.records import dataclass

__all__ = ["SAFETY", "ErrorLaw", "allowed_failure", "any_of"]

SAFETY = 1 + 1e-9
"""Covers the rounding of the floats that quantiles are searched with."""


def allowed_failure(confidence: Number) -> float:
    """Return 1 - confidence, exact before it becomes a float: 1 - 0.99999 is 0.00001."""
    return float(1 - confidence_level(confidence))


def any_of(size: int, probability: float) -> float:
    """Return 1 - (1 - p)^size without cancellation: that any of so many independent events happens."""
    return 1.0 if probability >= 1 else -expm1(size * log1p(-probability))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLaw(ABC):
    """The law of a non-negative error that takes values in multiples of `step`, or a bound on it.

    Attributes
    ----------
    step : Fraction
        Errors are multiples of it, except for `rounding`.
    rounding : Fraction
        The most that rounding to a grid may add to the error.
    size : int
        How many values are released together.
    exact : bool
        Whether `tail` is the probability itself (in double precision). Where it is not,
        `tail` is an upper bound.
    """

    step: Fraction = Fraction(1)
    rounding: Fraction = Fraction(0)
    size: int = 1

    exact: ClassVar[bool] = True

    @abstractmethod
    def tail_in_steps(self, steps: int) -> float:
        """Return P(error > steps), or a bound, in units of `step` and without rounding."""

    def tail(self, threshold: Number) -> float:
        """Return the probability, or its bound, that the error exceeds a threshold."""
        beyond = rational(threshold, "threshold") - self.rounding
        if beyond < 0:
            return 1.0
        return min(1.0, self.tail_in_steps(beyond // self.step))

    def quantile(self, confidence: Number) -> float:
        """Return the smallest t with P(error <= t) >= confidence.

        The probability of a larger error never exceeds 1 - confidence: where the floats
        cannot tell, t is one step larger.
        """
        failure = allowed_failure(confidence)

        def holds(steps: int) -> bool:
            return self.tail_in_steps(steps) * SAFETY <= failure

        upper, width = self._first_guess(failure), 1
        if holds(upper):
            while upper and holds(below := max(upper - width, 0)):
                upper, width = below, 2 * width
            lower = max(upper - width + 1, 0)
        else:
            lower = upper + 1
            while not holds(upper := lower + width - 1):
                lower, width = upper + 1, 2 * width
        while lower < upper:
            middle = (lower + upper) // 2
            if holds(middle):
                upper = middle
            else:
                lower = middle + 1
        return float_above(lower * self.step + self.rounding)

    def _first_guess(self, failure: float) -> int:
        """Return about how many steps the quantile has. A wrong guess costs time and changes nothing."""
        del failure
        return 0
