"""Integers that one step of the relation moves by a fixed amount: counts, histograms and means."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys, DrawnNumbers, ReleasedStatistic
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.events import Event
from discreet.privacy.offer import Offer
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["NoisyIntegers", "counting_noise"]


def counting_noise(offer: Offer, sensitivity: Sensitivity, size: int) -> Laplace | Gaussian:
    """Return the noise that an offer buys: Laplace for epsilon, Gaussian for rho, the better with delta."""
    if offer.rho is not None:
        if offer.delta is not None:
            raise ParameterError("delta", "is offered with rho, and buys nothing here", "rho alone")
        return Gaussian(sensitivity=sensitivity, rho=offer.rho, size=size)
    assert offer.epsilon is not None  # noqa: S101
    pure = Laplace(sensitivity=sensitivity, epsilon=offer.epsilon, size=size)
    if offer.delta is None:
        return pure
    normal = Gaussian(sensitivity=sensitivity, epsilon=offer.epsilon, delta=offer.delta, size=size)
    return pure if pure.error.variance <= normal.error.variance else normal


class NoisyIntegers(ReleasedStatistic):
    """A vector of integers with noise, and what multiple of it is shown. Subclasses are frozen dataclasses.

    They have an `offer`; the mechanism follows from it and from the sensitivity.
    """

    __slots__ = ()

    offer: Offer

    @property
    @abstractmethod
    def sensitivity(self) -> Sensitivity:
        """How far the vector moves between neighbors."""

    @property
    @abstractmethod
    def keys(self) -> AnswerKeys:
        """What each entry is about; nothing if there is only one."""

    @property
    def size(self) -> int:
        """How many integers there are."""
        return len(next(iter(self.keys.values()))) if self.keys else 1

    @property
    def unit(self) -> Fraction:
        """What one integer is worth in the answer."""
        return Fraction(1)

    @property
    @abstractmethod
    def ends(self) -> tuple[Fraction, Fraction]:
        """Between which numbers an answer lies in any case."""

    @abstractmethod
    def exact(self, table: RelatedTable) -> Integers:
        """Return the exact integers; private."""

    @property
    def mechanism(self) -> Laplace | Gaussian:
        """The noise."""
        return counting_noise(self.offer, self.sensitivity, self.size)

    @property
    def event(self) -> Event:
        """The law of the noise."""
        return self.mechanism.event

    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Add noise to the exact integers."""
        del confidence
        noisy = self.mechanism.release(self.exact(table))
        return [int(number) for number in np.asarray(noisy, np.int64).reshape(-1)]

    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether these are as many integers."""
        return len(drawn) == self.size and all(type(number) is int for number in drawn)

    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the noisy integers in their unit, each with its interval."""
        scale, (low, high) = float(self.unit), self.ends
        values: Integers | NDArray[np.float64] = np.array(drawn, np.int64)
        if self.unit != 1:
            values = np.array([float((step or 0) * self.unit) for step in drawn])
        margin = scale * self.mechanism.error.quantile(confidence)
        lower, upper = (np.clip(values + side * margin, float(low), float(high)) for side in (-1, 1))
        error = self.mechanism.error
        excess = (
            error.mean_absolute / 2 + float(error.rounding) if self.unit == 1 else None
        )  # of counts alone
        column = AnswerColumn(name=self.name, values=values, lower=lower, upper=upper, excess=excess)
        return self.keys, column

    def expect(self, confidence: Fraction) -> Expectation:
        """Return the law of the noise, which is public."""
        error, scale = self.mechanism.error, float(self.unit)
        return Expectation(
            name=self.name,
            margin=scale * error.quantile(confidence),
            standard_deviation=scale * sqrt(error.variance),
        )
