"""What a synthesizer may spend, in rho: what epsilon and delta buy, by the accountant's conversion."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.filters import epsilon_above
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.offer import Offer

__all__ = ["StatedRho", "rho_bought"]

_SAY = "epsilon with delta, such as epsilon=1, delta=1e-9; or rho"
_DIGITS = 50


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
            rho=rho_bought(offer.epsilon, offer.delta),
            guarantee=ApproximateDP(epsilon=offer.epsilon, delta=offer.delta, neighbors=ADD_REMOVE_PERSON),
        )


@lru_cache(maxsize=256)
def rho_bought(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho that implies (epsilon, delta), but for a relative 2^-50, and never a larger one.

    Every candidate is converted, rounded up, before it is returned: a search that went wrong would lose
    accuracy, not privacy.
    """
    low, high = Fraction(0), max(epsilon, Fraction(1)) * 2
    first = epsilon * epsilon / 4096
    while epsilon_above(first, delta) > epsilon and first > Fraction(1, 1 << 200):
        first /= 16
    if epsilon_above(first, delta) > epsilon:
        raise ParameterError("epsilon", "is too small for any noise", _SAY)
    low = first
    for _ in range(_DIGITS):
        middle = (low + high) / 2
        if epsilon_above(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
        if high - low <= low / (1 << 20):
            break
    return _rounded_down(low)


def _rounded_down(rho: Fraction) -> Fraction:
    """Return a fraction of few digits that is no larger."""
    scale = 1 << max(0, 40 - (rho.numerator.bit_length() - rho.denominator.bit_length()))
    return Fraction(int(rho * scale), scale)
