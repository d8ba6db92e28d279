"""Budgets for several adaptive releases: what adds up is epsilon, or rho, or the square of mu."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, Self

from discreet.errors import ParameterError
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, Guarantee, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, probability, rational
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

__all__ = ["ConcentratedBudget", "GaussianBudget", "PureBudget", "TrainingBudget", "stated_budget"]

_SAY = "epsilon alone, or with delta, or rho"


class TrainingBudget(Protocol):
    """What a training run may cost."""

    @property
    def guarantee(self) -> Guarantee:
        """What all releases together promise."""

    def share(self, part: Fraction) -> Self:
        """Return a part of it, for some of the releases: parts that add up to 1 cost no more than it."""

    def noise(self, sensitivity: Sensitivity, size: int) -> Laplace | Gaussian:
        """Return the noise of one release that costs all of it."""


@dataclass(frozen=True, slots=True)
class PureBudget:
    """Laplace noise: epsilons add up."""

    epsilon: Fraction

    @property
    def guarantee(self) -> PureDP:
        """Pure epsilon."""
        return PureDP(epsilon=self.epsilon, neighbors=ADD_REMOVE_PERSON)

    def share(self, part: Fraction) -> PureBudget:
        """Return a part of epsilon."""
        return PureBudget(self.epsilon * part)

    def noise(self, sensitivity: Sensitivity, size: int) -> Laplace:
        """Return Laplace noise."""
        return Laplace(sensitivity=sensitivity, epsilon=self.epsilon, size=size)


@dataclass(frozen=True, slots=True)
class ConcentratedBudget:
    """Discrete Gaussian noise: rhos add up."""

    rho: Fraction

    @property
    def guarantee(self) -> ZeroConcentratedDP:
        """Zero-concentrated rho."""
        return ZeroConcentratedDP(rho=self.rho, neighbors=ADD_REMOVE_PERSON)

    def share(self, part: Fraction) -> ConcentratedBudget:
        """Return a part of rho."""
        return ConcentratedBudget(self.rho * part)

    def noise(self, sensitivity: Sensitivity, size: int) -> Gaussian:
        """Return discrete Gaussian noise."""
        return Gaussian(sensitivity=sensitivity, rho=self.rho, size=size)


@dataclass(frozen=True, slots=True)
class GaussianBudget:
    """Rounded Gaussian noise: squares of mu add up; epsilon and delta buy the largest that implies them."""

    squared_mu: Fraction
    stated: ApproximateDP | None = None

    @classmethod
    def approximate(cls, epsilon: Fraction, delta: Fraction) -> GaussianBudget:
        """Return what epsilon and delta buy."""
        stated = ApproximateDP(epsilon=epsilon, delta=delta, neighbors=ADD_REMOVE_PERSON)
        return cls(largest_mu(epsilon, delta) ** 2, stated)

    @property
    def guarantee(self) -> ApproximateDP | GaussianDP:
        """Epsilon and delta, of a whole; mu, of a part."""
        if self.stated is not None:
            return self.stated
        return GaussianDP(mu=sqrt_interval(self.squared_mu)[1], neighbors=ADD_REMOVE_PERSON)

    def share(self, part: Fraction) -> GaussianBudget:
        """Return a part of the square of mu."""
        return GaussianBudget(self.squared_mu * part)

    def noise(self, sensitivity: Sensitivity, size: int) -> Gaussian:
        """Return rounded Gaussian noise."""
        return Gaussian(sensitivity=sensitivity, mu=sqrt_interval(self.squared_mu)[0], size=size)


def stated_budget(
    *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None
) -> PureBudget | ConcentratedBudget | GaussianBudget:
    """Return the budget that is stated in one of three ways: epsilon, both epsilon and delta, or rho."""
    if (rho is None) == (epsilon is None) or (rho is not None and delta is not None):
        raise ParameterError("epsilon", "does not say one budget", _SAY)
    if rho is not None:
        return ConcentratedBudget(rational(rho, "rho", positive=True))
    loss = rational(epsilon, "epsilon", positive=True)  # type: ignore[arg-type]
    if delta is None:
        return PureBudget(loss)
    return GaussianBudget.approximate(loss, probability(delta, "delta", zero=False, one=False))
