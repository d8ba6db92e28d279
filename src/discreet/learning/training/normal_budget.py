"""A budget for several releases with normal noise: what adds up is rho, or the square of mu."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, Guarantee, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, probability, rational
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["NormalBudget"]

_SAY = "either rho, or mu, or both epsilon and delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalBudget:
    """What a training run may cost, with normal noise of adaptive releases.

    Discrete Gaussian noise is charged by rho, rounded Gaussian noise by mu (`Gaussian`): rhos add up, and so
    do squares of mu. Epsilon and delta are spent by the largest mu that implies them.
    """

    guarantee: Guarantee
    rho: Fraction | None
    squared_mu: Fraction | None

    @classmethod
    def stated(
        cls,
        *,
        rho: Number | None = None,
        mu: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
    ) -> NormalBudget:
        """Return the budget that is stated in one of three ways."""
        given = (rho is not None) + (mu is not None) + (epsilon is not None or delta is not None)
        if given != 1 or (epsilon is None) != (delta is None):
            raise ParameterError("epsilon", "does not say one budget", _SAY)
        if rho is not None:
            exact = rational(rho, "rho", positive=True)
            concentrated = ZeroConcentratedDP(rho=exact, neighbors=ADD_REMOVE_PERSON)
            return cls(guarantee=concentrated, rho=exact, squared_mu=None)
        if mu is not None:
            exact = rational(mu, "mu", positive=True)
            gaussian = GaussianDP(mu=exact, neighbors=ADD_REMOVE_PERSON)
            return cls(guarantee=gaussian, rho=None, squared_mu=exact**2)
        loss = rational(epsilon, "epsilon", positive=True)  # type: ignore[arg-type]
        failure = probability(delta, "delta", zero=False, one=False)  # type: ignore[arg-type]
        approximate = ApproximateDP(epsilon=loss, delta=failure, neighbors=ADD_REMOVE_PERSON)
        return cls(guarantee=approximate, rho=None, squared_mu=largest_mu(loss, failure) ** 2)

    def share(self, part: Fraction) -> NormalBudget:
        """Return a part of it, for some of the releases."""
        if self.rho is not None:
            return NormalBudget.stated(rho=self.rho * part)
        assert self.squared_mu is not None  # noqa: S101
        return NormalBudget.stated(mu=sqrt_interval(self.squared_mu * part)[0])

    def noise(self, sensitivity: Sensitivity, size: int) -> Gaussian:
        """Return the noise of one release that costs all of it."""
        mu = None if self.squared_mu is None else sqrt_interval(self.squared_mu)[0]
        return Gaussian(sensitivity=sensitivity, rho=self.rho, mu=mu, size=size)
