"""How far an estimate from randomized reports may be off, known before anyone is asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import smallest
from discreet.mechanisms.error.base import allowed_failure
from discreet.mechanisms.local.frequencies import MOST_REPORTS, SUMMING_SAFETY, ReportLaw
from discreet.privacy.rational import Number, rational, whole
from discreet.records import dataclass

__all__ = ["FrequencyError", "epsilon_for_error"]

_LARGEST_RATE = 700.0
"""Beyond it exponentials overflow."""
_BERRY_ESSEEN = 0.56
"""Shevtsova 2010, for independent variables that need not be alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyError:
    """How far the estimated proportion of a category may be from the true one, for any true value.

    Attributes
    ----------
    law : ReportLaw
        With which probabilities people are counted.
    exact : bool
        False: `tail` and `quantile` are upper bounds that hold for all true answers.
    """

    law: ReportLaw

    exact: ClassVar[bool] = False

    def standard_error(self, *, people: int) -> float:
        """The standard error of a proportion for the worst true answers: exact.

        The variance is linear in the true count, so it is largest where everyone or no one has
        the category.
        """
        count = whole(people, "people", least=1, most=MOST_REPORTS)
        return math.sqrt(max(self.law.variances) / count) / float(self.law.gap)

    def tail(self, threshold: Number, *, people: int) -> float:
        """Bound the probability that the error exceeds a threshold: the smaller of two bounds.

        Chernoff's, for each side, decides in small surveys and far out. The normal tail with the
        largest variance, plus Berry and Esseen's 2 (0.56) (1 - 2 v) / sqrt(n v) with the smallest
        variance v of one person, decides in large ones. Both hold for all true answers.
        """
        count = whole(people, "people", least=1, most=MOST_REPORTS)
        return self._bound(float(min(rational(threshold, "threshold"), 2 / self.law.gap)), count)

    def _bound(self, threshold: float, people: int) -> float:
        if threshold <= 0:
            return 1.0
        shift = threshold * float(self.law.gap)
        if shift >= 1:
            return 0.0
        above = (self.law.keep, self.law.flip)
        below = (1 - self.law.keep, 1 - self.law.flip)
        chernoff = sum(math.exp(-people * _chernoff_exponent(shift, coins)) for coins in (above, below))
        small, large = sorted(self.law.variances)
        normal = math.erfc(shift * math.sqrt(people / (2 * large)))
        normal += 2 * _BERRY_ESSEEN * (1 - 2 * small) / math.sqrt(people * small)
        return min(1.0, SUMMING_SAFETY * chernoff, SUMMING_SAFETY * normal)

    def quantile(self, confidence: Number, *, people: int) -> float:
        """Return a threshold that the error exceeds with probability at most 1 - confidence.

        It is the smallest for which `tail` says so.
        """
        failure = allowed_failure(confidence)
        count = whole(people, "people", least=1, most=MOST_REPORTS)
        low, high = 0.0, 2 / float(self.law.gap)  # no error exceeds 1 / gap
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if self._bound(middle, count) <= failure else (middle, high)
        return high


def _chernoff_exponent(shift: float, coins: tuple[Fraction, Fraction]) -> float:
    """Return an x such that a mean of n coins is `shift` too high with probability at most exp(-n x).

    Each coin is of one of two kinds; the bound holds however many there are of each. x is the
    largest value of r shift - max(c(r), c'(r)) over r >= 0, with the cumulant generating functions c
    and c' of the two kinds, centered. Every r gives a bound, so the search need not be exact.
    """
    one, other = (_cumulant(coin) for coin in coins)

    def value(rate: float) -> float:
        return rate * shift - max(one(rate), other(rate))

    low, high = 0.0, _LARGEST_RATE
    for _ in range(100):
        third = (high - low) / 3
        if value(low + third) >= value(high - third):
            high -= third
        else:
            low += third
    return max(0.0, value(low))


def _cumulant(coin: Fraction) -> Callable[[float], float]:
    """Return r -> log(1 - p + p e^r) - p r, without cancellation where p is close to 0 or 1."""
    chance, sign = float(min(coin, 1 - coin)), (1 if 2 * coin <= 1 else -1)
    return lambda rate: math.log1p(chance * math.expm1(sign * rate)) - chance * sign * rate


def epsilon_for_error(
    error: Callable[[Fraction], FrequencyError], tolerance: Number, confidence: Number, people: int
) -> Fraction:
    """Return the smallest epsilon whose error exceeds a tolerance with probability at most 1 - confidence."""
    limit = rational(tolerance, "tolerance", positive=True)
    if limit >= 1:
        raise ParameterError("tolerance", "is not a proportion", "below 1, such as 0.03 for three points")
    failure = allowed_failure(confidence)
    count = whole(people, "people", least=1, most=MOST_REPORTS)
    return smallest(lambda epsilon: error(epsilon).tail(limit, people=count) <= failure, "tolerance")
