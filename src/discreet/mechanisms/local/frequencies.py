"""What a server learns from randomized reports: estimates, intervals, and errors known in advance.

Let n people report, t of whom have a category. Each of the t is counted for it with probability `keep`,
each of the others with probability `flip`, independently. So the total T is the sum of a
Binomial(t, keep) and a Binomial(n - t, flip) variable: its law depends on t alone, and everything here is
read from that law. True answers are fixed and unknown; only the reports are random. Nothing but noisy
reports and public parameters is used, so nothing here costs privacy. Proofs:
docs/proofs/randomized_response.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.error.base import allowed_failure
from discreet.noise.replayed import is_private, mark_replayed
from discreet.privacy.rational import Number, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FrequencyEstimate",
    "FrequencyInterval",
    "ReportLaw",
    "estimate_from_bits",
    "estimate_from_reports",
]

MOST_REPORTS = 1 << 34

SUMMING_SAFETY = 1 + 1e-6
"""Covers the rounding of the floats that probabilities are added up with."""
_OUTSIDE = 1e-40
"""More than the probability that is left out on both sides of two windows, 4 exp(-100)."""
_TINY = Fraction(1, 10**300)
"""Smaller chances than this are taken for it: floats cannot hold them, and it changes nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLaw:
    """The law of T, the number of people who are counted for a category.

    Attributes
    ----------
    keep, flip : Fraction
        The probability that someone is counted who has the category, and who has not.
    """

    keep: Fraction
    flip: Fraction

    @property
    def gap(self) -> Fraction:
        """By how much one more person with the category raises the mean of T."""
        return self.keep - self.flip

    @property
    def variances(self) -> tuple[float, float]:
        """The variance that one person contributes: with the category, and without."""
        having, missing = (max(p * (1 - p), _TINY) for p in (self.keep, self.flip))
        return float(having), float(missing)

    def tails(self, total: int, having: int, people: int) -> tuple[float, float]:
        """Return P(T <= total) and P(T >= total) when `having` of the people have the category."""
        first, masses = _binomial(having, self.keep)
        least, others = _binomial(people - having, self.flip)
        needed = total - first - least - np.arange(len(masses))
        up_to = np.concatenate([[0.0], np.cumsum(others)])
        from_on = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])
        at_most = masses @ up_to[np.clip(needed + 1, 0, len(others))]
        at_least = masses @ from_on[np.clip(needed, 0, len(others))]
        return float(at_most), float(at_least)


def _binomial(trials: int, probability: Fraction) -> tuple[int, NDArray[np.float64]]:
    """Return the first outcome of a window of Binomial(trials, probability), and the masses in it.

    By Bernstein's inequality the window leaves out at most 2 exp(-100). Masses are
    products of ratios of neighbors, so that none of them is a difference of large numbers.
    """
    mode = (trials + 1) * probability.numerator // probability.denominator
    variance = float(trials * probability * (1 - probability))
    reach = math.ceil(100 / 3 + math.sqrt((100 / 3) ** 2 + 200 * variance)) + 2
    first, last = max(0, mode - reach), min(trials, mode + reach)
    outcomes = np.arange(first, last, dtype=np.float64)
    odds = float(min(max(probability / (1 - probability), _TINY), 1 / _TINY))
    logs = np.concatenate([[0.0], np.cumsum(np.log((trials - outcomes) / (outcomes + 1) * odds))])
    masses = np.exp(logs - logs.max())
    return first, masses / masses.sum()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrequencyInterval:
    """For every category, bounds on how many of the people have it.

    Attributes
    ----------
    fewest, most : arrays of int
        The bounds, as numbers of people; both are within the interval.
    people : int
        How many people reported.
    """

    fewest: NDArray[np.int64]
    most: NDArray[np.int64]
    people: int

    @property
    def lower(self) -> NDArray[np.float64]:
        """The lower bounds, as proportions."""
        return self.fewest / self.people

    @property
    def upper(self) -> NDArray[np.float64]:
        """The upper bounds, as proportions."""
        return self.most / self.people


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False, repr=False)
class FrequencyEstimate(Record):
    """What n noisy reports say about the proportion of each category among the n people.

    Parameters
    ----------
    totals : array of int
        How many of the people are counted for each category.
    people : int
        How many people reported.
    law : ReportLaw
        With which probabilities people are counted.
    """

    totals: NDArray[np.int64]
    people: int
    law: ReportLaw

    def __init__(self, *, totals: ArrayLike, people: int, law: ReportLaw) -> None:
        count = whole(people, "people", least=1, most=MOST_REPORTS)
        allowed = "a one-dimensional array of integers from 0 to people"
        array = _integers(totals, "totals", allowed)
        if array.ndim != 1 or array.min() < 0 or array.max() > count:
            raise ParameterError("totals", "are out of range", allowed)
        frozen = _marked_like(totals, array.astype(np.int64))
        frozen.flags.writeable = False
        self._set(totals=frozen, people=count, law=law)

    def __repr__(self) -> str:
        shown = np.array2string(np.asarray(self.proportions), precision=4, threshold=8)
        return f"FrequencyEstimate(people={self.people}, proportions={shown})"

    @property
    def counts(self) -> NDArray[np.float64]:
        """Unbiased estimates of how many people have each category, (T - n flip) / (keep - flip).

        They may lie below 0 or above n; pulling them back would bias them.
        """
        excess = self.totals - np.float64(self.people * self.law.flip)
        counts: NDArray[np.float64] = excess / np.float64(self.law.gap)
        return counts

    @property
    def proportions(self) -> NDArray[np.float64]:
        """Unbiased estimates of the proportion of people who have each category."""
        return self.counts / self.people

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """An estimate of the standard error of each proportion.

        The variance is linear in the unknown count, so the estimated count, pulled back into
        [0, n], takes its place. For a statement that holds for sure, see `interval`.
        """
        having, missing = self.law.variances
        counts = np.clip(self.counts, 0, self.people)
        deviation = np.sqrt(counts * having + (self.people - counts) * missing)
        error: NDArray[np.float64] = deviation / (self.people * float(self.law.gap))
        return error

    def interval(self, confidence: Number = 0.95) -> FrequencyInterval:
        """Return, for each category, an interval for its proportion among the people who reported.

        Each interval covers the true proportion with at least the stated probability, whatever the
        true answers are: it holds exactly those counts t under which the total that was seen is not
        in a tail of probability (1 - confidence) / 2 or less. The probability is that of the
        reports' own randomness; people who were not asked are another matter.
        """
        return self._inverted(allowed_failure(confidence))

    def simultaneous_interval(self, confidence: Number = 0.95) -> FrequencyInterval:
        """Return intervals that cover the true proportions of all categories at once.

        By Bonferroni's inequality: each is allowed to miss with an equal share of the probability.
        """
        return self._inverted(allowed_failure(confidence) / self.totals.size)

    def _inverted(self, failure: float) -> FrequencyInterval:
        distinct, positions = np.unique(np.asarray(self.totals), return_inverse=True)
        ends = np.array([self._ends(int(total), failure / 2) for total in distinct], np.int64)
        fewest, most = (_marked_like(self.totals, side[positions]) for side in (ends[:, 0], ends[:, 1]))
        return FrequencyInterval(fewest=fewest, most=most, people=self.people)

    def _ends(self, total: int, share: float) -> tuple[int, int]:
        """Return the smallest and the largest count that a test at level `share` does not reject."""

        def large_enough(having: int) -> bool:
            return self.law.tails(total, having, self.people)[1] * SUMMING_SAFETY + _OUTSIDE > share

        def too_large(having: int) -> bool:
            return self.law.tails(total, having, self.people)[0] * SUMMING_SAFETY + _OUTSIDE <= share

        fewest = _first(large_enough, self._guess(total, share, -1), self.people + 1)
        most = _first(too_large, self._guess(total, share, +1), self.people + 1) - 1
        return min(fewest, self.people), max(most, 0)  # where nothing explains the total, the nearest does

    def _guess(self, total: int, share: float, side: int) -> int:
        """Return about where an end is, by the normal approximation; only speed depends on it."""
        having, missing = self.law.variances
        away = -side * NormalDist().inv_cdf(min(0.5, max(share, 1e-300)))
        gap = float(self.law.gap)
        center = (total - self.people * float(self.law.flip)) / gap
        end = center
        for _ in range(3):
            count = min(max(end, 0.0), float(self.people))
            end = center + away * math.sqrt(count * having + (self.people - count) * missing) / gap
        return round(min(max(end, 0.0), float(self.people)))


def _first(holds: Callable[[int], bool], guess: int, end: int) -> int:
    """Return the smallest integer in [0, end) for which a monotone test holds, or `end`."""
    low, high, step = -1, end, 1
    if holds(guess):
        high = guess
        while high - step > low and holds(high - step):
            high, step = high - step, 2 * step
        low = max(low, high - step)
    else:
        low = guess
        while low + step < high and not holds(low + step):
            low, step = low + step, 2 * step
        high = min(high, low + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def estimate_from_reports(reports: ArrayLike, categories: int, law: ReportLaw) -> FrequencyEstimate:
    """Estimate from one reported category per person."""
    allowed = f"a one-dimensional array of integers from 0 to {categories - 1}"
    array = _integers(reports, "reports", allowed)
    if array.ndim != 1 or array.min() < 0 or array.max() >= categories:
        raise ParameterError("reports", "are not one category per person", allowed)
    totals = np.bincount(np.asarray(array, np.int64), minlength=categories)
    return FrequencyEstimate(totals=_marked_like(reports, totals), people=array.size, law=law)


def estimate_from_bits(reports: ArrayLike, size: int, law: ReportLaw) -> FrequencyEstimate:
    """Estimate from one row of bits per person."""
    allowed = f"a two-dimensional array of zeros and ones, with {size} columns"
    array = np.atleast_2d(_integers(reports, "reports", allowed))
    if array.ndim != 2 or array.shape[1] != size or array.min() < 0 or array.max() > 1:
        raise ParameterError("reports", "are not one row of bits per person", allowed)
    totals = array.sum(axis=0, dtype=np.int64)
    return FrequencyEstimate(totals=_marked_like(reports, totals), people=array.shape[0], law=law)


def _integers(values: ArrayLike, name: str, allowed: str) -> NDArray[np.integer]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, "are not an array of integers", allowed) from None
    if array.size == 0:
        raise ParameterError(name, "are empty", allowed)
    if array.dtype.kind not in "iu":
        raise ParameterError(name, "are not integers", allowed)
    return array


def _marked_like(origin: object, result: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is computed from replayed reports is replayed itself."""
    return result if is_private(origin) else mark_replayed(result)
