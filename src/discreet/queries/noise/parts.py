"""The noise of the measures of a query: what an offer buys, in each of the ways in which it can be divided.

A way has a currency that adds up under composition: epsilon of pure noise, rho, or squares of mu. So an offer
can be divided over measures, and over parts of a query, in exact fractions, in any of its ways.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from discreet.accounting.filters import rho_below
from discreet.curator.request.coarse_noise import CoarseNoise, drawable_noise
from discreet.curator.request.histogram_choices import Choices, HistogramChoice
from discreet.curator.request.histogram_estimates import HistogramEstimate
from discreet.curator.request.request import Mechanism, Part
from discreet.data import Histogram, Statistic
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.calibration import least_error
from discreet.noise.geometric import LEAST_SCALE
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number
from discreet.privacy.sensitivity import Sensitivity
from discreet.queries.binding.bind import BoundQuery
from discreet.queries.noise.histogram_choices import concentrated_choices, pure_choices
from discreet.queries.noise.split import CONCENTRATED, PURE, given_by, shares_of, squared_weights
from discreet.queries.outputs.quantiles_and_extremes import deviation_in_rows
from discreet.records import dataclass

__all__ = [
    "RequestParts",
    "Spending",
    "fitted_noise",
    "is_least",
    "noise_parts",
    "stated_noise",
    "variance_in_rows",
    "ways_of",
]

RequestParts: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending(ABC):
    """A way to spend an offer.

    Attributes
    ----------
    amount : Fraction
        How much there is of what adds up.
    """

    amount: Fraction

    @property
    @abstractmethod
    def power(self) -> Fraction:
        """The power of the weighted sensitivity that a measure's share is proportional to: see `split`."""

    @property
    @abstractmethod
    def offer(self) -> Offer:
        """What buys a single table of counts in this way."""

    @abstractmethod
    def noise(self, sensitivity: Sensitivity, size: int) -> Laplace | Gaussian:
        """Return the noise that costs all of it."""

    def choices(
        self, statistic: Statistic, bound: BoundQuery, confidence: Fraction, given: dict[str, Fraction] | None
    ) -> Choices | None:
        """Return what is chosen from a histogram for all of it; None if it gets noise."""
        del statistic, bound, confidence, given
        return None

    def share(self, part: Fraction) -> Spending:
        """Return a share of it."""
        return type(self)(amount=self.amount * part)

    def parts(
        self,
        bound: BoundQuery,
        split: Mapping[str, Number] | None,
        confidence: Fraction,
        noise: Callable[[Spending, Statistic, int], Mechanism],
    ) -> RequestParts:
        """Return the noise of all measures of a query, which costs all of it or less."""
        shares, given, cells = shares_of(bound, self.power, split), given_by(bound, split), bound.plan.cells
        parts = []
        for statistic in bound.statistics.statistics:
            own, mechanism = self.share(shares[statistic.measure]), None
            if isinstance(statistic.measure, Histogram):
                mechanism = own.choices(statistic, bound, confidence, given)
            parts.append(Part(statistic=statistic, mechanism=mechanism or noise(own, statistic, cells)))
        return tuple(parts)

    @abstractmethod
    def most(self, sensitivity: Sensitivity) -> Fraction:
        """Return the amount that buys the least noise that can be drawn: a hundredth of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PureSpending(Spending):
    """Laplace noise: epsilons add up."""

    @property
    def power(self) -> Fraction:
        """Two thirds."""
        return PURE

    @property
    def offer(self) -> Offer:
        """Epsilon alone."""
        return Offer.pure(self.amount)

    def noise(self, sensitivity: Sensitivity, size: int) -> Laplace:
        """Return Laplace noise."""
        return Laplace(sensitivity=sensitivity, epsilon=self.amount, size=size)

    def most(self, sensitivity: Sensitivity) -> Fraction:
        """Return the epsilon of a scale of 1/100."""
        return sensitivity.l1 / LEAST_SCALE

    def choices(
        self, statistic: Statistic, bound: BoundQuery, confidence: Fraction, given: dict[str, Fraction] | None
    ) -> Choices | None:
        """Return quantiles, extremes and most frequent keys."""
        return pure_choices(
            statistic, bound.outputs, bound.plan.cells, self.amount, confidence=confidence, given=given
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedSpending(Spending):
    """The noise of the smaller variance, Gaussian or Laplace: rhos add up."""

    @property
    def power(self) -> Fraction:
        """One."""
        return CONCENTRATED

    @property
    def offer(self) -> Offer:
        """Rho."""
        return Offer.concentrated(self.amount)

    def noise(self, sensitivity: Sensitivity, size: int) -> Laplace | Gaussian:
        """Return the noise of the smaller variance."""
        gaussian = Gaussian(sensitivity=sensitivity, rho=self.amount, size=size)
        epsilon = sqrt_interval(2 * self.amount)[0]
        makers: list[Callable[[], Laplace | Gaussian]] = [
            lambda: gaussian,
            lambda: Laplace(sensitivity=sensitivity, epsilon=epsilon, size=size),
        ]
        return least_error(makers, lambda made: made.error.variance)

    def most(self, sensitivity: Sensitivity) -> Fraction:
        """Return the rho of a variance of 1/100^2."""
        return sensitivity.squared_l2 / (2 * LEAST_SCALE**2)

    def choices(
        self, statistic: Statistic, bound: BoundQuery, confidence: Fraction, given: dict[str, Fraction] | None
    ) -> Choices | None:
        """Return quantiles, extremes and most frequent keys."""
        return concentrated_choices(
            statistic, bound.outputs, bound.plan.cells, self.amount, confidence=confidence, given=given
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianSpending(Spending):
    """Gaussian noise on every measure: squares of mu add up.

    Attributes
    ----------
    amount : Fraction
        The square of mu.
    epsilon, delta : Fraction
        What it is part of: all of it, composed, is (epsilon, delta)-private.
    """

    epsilon: Fraction
    delta: Fraction

    @property
    def power(self) -> Fraction:
        """One: squares of mu are twice the rhos."""
        return CONCENTRATED

    @property
    def offer(self) -> Offer:
        """Epsilon and delta, for which Gaussian noise is calibrated analytically."""
        return Offer(epsilon=self.epsilon, delta=self.delta)

    def noise(self, sensitivity: Sensitivity, size: int) -> Gaussian:
        """Return Gaussian noise."""
        return Gaussian(sensitivity=sensitivity, mu=sqrt_interval(self.amount)[0], size=size)

    def most(self, sensitivity: Sensitivity) -> Fraction:
        """Return the square of the mu of a variance of 1/100^2."""
        return sensitivity.squared_l2 / LEAST_SCALE**2

    def share(self, part: Fraction) -> GaussianSpending:
        """Return a share of it."""
        return GaussianSpending(amount=self.amount * part, epsilon=self.epsilon, delta=self.delta)


def ways_of(offer: Offer, *, choosing: bool) -> list[Spending]:
    """Return the ways to spend an offer.

    Parameters
    ----------
    offer : Offer
        Epsilon alone is pure, rho concentrated; epsilon and delta can be spent in all three ways.
    choosing : bool
        Whether something is chosen from histograms, for which there is no Gaussian noise.
    """
    if offer.rho is not None:
        return [ConcentratedSpending(amount=offer.rho)]
    epsilon, delta = offer.epsilon, offer.delta
    assert epsilon is not None  # noqa: S101
    ways: list[Spending] = [PureSpending(amount=epsilon)]
    if delta is None:
        return ways
    if (rho := rho_below(epsilon, delta)) > 0:
        ways.append(ConcentratedSpending(amount=rho))
    if not choosing:
        ways.append(GaussianSpending(amount=largest_mu(epsilon, delta) ** 2, epsilon=epsilon, delta=delta))
    return ways


def noise_parts(
    bound: BoundQuery, offer: Offer, split: Mapping[str, Number] | None, confidence: Fraction
) -> RequestParts:
    """Return the parts of the least weighted mean squared error, of those whose noise can be drawn.

    If in no way all of it can, the noise is fitted to what can.
    """
    choosing = any(isinstance(statistic.measure, Histogram) for statistic in bound.statistics.statistics)
    weights, ways = squared_weights(bound.outputs), ways_of(offer, choosing=choosing)

    def best(noise: Callable[[Spending, Statistic, int], Mechanism]) -> RequestParts:
        makers = [partial(way.parts, bound, split, confidence, noise) for way in ways]
        return least_error(
            makers, lambda parts: sum(float(weights[part.measure]) * variance_in_rows(part) for part in parts)
        )

    try:
        return best(stated_noise)
    except ParameterError:
        return best(fitted_noise)


def stated_noise(way: Spending, statistic: Statistic, cells: int) -> Mechanism:
    """Return the noise of a measure as it is bought, or refuse it."""
    return way.noise(statistic.sensitivity, cells)


def fitted_noise(way: Spending, statistic: Statistic, cells: int) -> Mechanism:
    """Return the noise of a measure that can be drawn.

    If it is bought for more than the least noise costs, some is left over; more noise than can be drawn is
    added to rounded totals.
    """
    most = way.most(statistic.sensitivity)
    own = way if way.amount <= most else way.share(most / way.amount)
    return drawable_noise(lambda moved: own.noise(moved, cells), statistic.sensitivity, cells)


def is_least(part: Part) -> bool:
    """Return whether a part has the least noise that can be drawn, so that more would buy nothing."""
    if isinstance(part.mechanism, Laplace):
        return part.mechanism.event.scale <= LEAST_SCALE
    return isinstance(part.mechanism, Gaussian) and part.mechanism.event.variance <= LEAST_SCALE**2


def variance_in_rows(part: Part) -> float:
    """Return the variance of a part's noise in steps; for choices, of equivalent noise."""
    if isinstance(part.mechanism, Laplace | Gaussian | CoarseNoise):
        return part.mechanism.error.variance
    assert isinstance(part.mechanism, Choices)  # noqa: S101
    deviations = [_deviation(choice) for choice in part.mechanism.choices]
    return sum(deviation**2 for deviation in deviations) / len(deviations)


def _deviation(choice: HistogramChoice | HistogramEstimate) -> float:
    """Return a deviation that compares mechanisms of one rule."""
    if isinstance(choice, HistogramEstimate):
        return choice.mechanism.error_at(smooth_sensitivity=1).deviation
    return deviation_in_rows(choice.rule, choice.mechanism)
