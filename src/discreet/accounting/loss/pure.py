"""Any law with a pure epsilon: dominated by randomized response (Kairouz, Oh & Viswanath 2015)."""

from __future__ import annotations

from math import exp

from discreet.accounting.loss.pair import Pair, finite_pair, pair_of
from discreet.privacy import events
from discreet.privacy.events.generic import PureEvent
from discreet.privacy.rational import float_above

__all__ = ["pure_pair"]

_LARGEST = 600


def pure_pair(epsilon: float, delta: float = 0.0) -> Pair | None:
    """Return the worst pair of all that are (epsilon, delta)-private; None where floats cannot hold it."""
    if epsilon > _LARGEST:
        return None
    truth, lie = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    if delta == 0:
        return finite_pair([truth, lie], [lie, truth])
    rest = 1 - delta
    return finite_pair([delta, rest * truth, rest * lie, 0], [0, rest * lie, rest * truth, delta])


@pair_of.register
def _(event: PureEvent) -> Pair | None:
    return pure_pair(float_above(event.epsilon))


@pair_of.register
def _(event: events.Approximate) -> Pair | None:
    return pure_pair(float_above(event.epsilon), float_above(event.delta))
