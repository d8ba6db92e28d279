"""What a synthesizer may spend, in rho: what epsilon and delta buy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.mechanisms.additive.gaussian_calibration import largest_rho
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.offer import Offer

__all__ = ["StatedRho"]

_SAY = "epsilon with delta, such as epsilon=1, delta=1e-9; or rho"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRho:
    """A rho, and the promise for which it was stated."""

    rho: Fraction
    guarantee: ApproximateDP | ZeroConcentratedDP

    @classmethod
    def of(cls, offer: Offer) -> StatedRho:
        """Return the largest rho that an offer buys."""
        if offer.rho is not None and offer.delta is None:
            promise = ZeroConcentratedDP(rho=offer.rho, neighbors=ADD_REMOVE_PERSON)
            return cls(rho=offer.rho, guarantee=promise)
        if offer.epsilon is None or offer.delta is None:
            raise ParameterError(
                "delta", "does not go with what is offered: marginals get normal noise", _SAY
            )
        return cls(
            rho=largest_rho(offer.epsilon, offer.delta),
            guarantee=ApproximateDP(epsilon=offer.epsilon, delta=offer.delta, neighbors=ADD_REMOVE_PERSON),
        )
