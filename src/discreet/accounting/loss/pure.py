"""Any law of which only a pure epsilon is known: dominated by randomized response.

Kairouz, Oh & Viswanath 2015; docs/proofs/dominating_pairs.md, lemma 7.
"""

from __future__ import annotations

from math import exp

from discreet.accounting.loss.pair import NO_LOSS, BoundedPair, Pair, finite_pair, pair_of
from discreet.privacy import events
from discreet.privacy.events.generic import PureEvent
from discreet.privacy.rational import float_above

__all__ = ["MOST_EPSILON", "pure_pair"]

MOST_EPSILON = 600
"""Beyond it, e^epsilon comes near the end of floats, and pairs of probabilities are not formed."""


def pure_pair(epsilon: float, delta: float = 0.0) -> Pair | None:
    """Return the worst pair of all that are (epsilon, delta)-private; None where floats cannot hold it."""
    if epsilon > MOST_EPSILON or delta >= 1:
        return None
    truth, lie = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    if delta == 0:
        return finite_pair([truth, lie], [lie, truth], losses=[epsilon, -epsilon])
    rest = 1 - delta
    p = [delta, rest * truth, rest * lie, 0]
    return finite_pair(p, p[::-1], losses=[float("inf"), epsilon, -epsilon, -float("inf")])


@pair_of.register
def _(event: events.Pure) -> Pair | None:
    return pure_pair(float_above(event.epsilon))


@pair_of.register
def _(event: events.Approximate) -> Pair | None:
    return pure_pair(float_above(event.epsilon), float_above(event.delta))


@pair_of.register
def _(event: PureEvent | events.AboveThreshold) -> Pair | None:
    """Their laws depend on scores and questions that are not recorded: what is attained is not known."""
    worst = pure_pair(float_above(event.epsilon))
    return worst and BoundedPair(worst, NO_LOSS)


@pair_of.register
def _(event: events.BestOfRuns | events.SparseVector) -> Pair | None:
    """What is best, or asked, is not recorded: what is attained is not known."""
    worst = None if event.pure_epsilon is None else pure_pair(float_above(event.pure_epsilon))
    return worst and BoundedPair(worst, NO_LOSS)


@pair_of.register
def _(event: events.PermuteAndFlip) -> Pair | None:
    """Two candidates attain a part: alike against epsilon apart."""
    epsilon = float_above(event.epsilon)
    worst = pure_pair(epsilon)
    behind = exp(-epsilon) / 2 if worst else 0.0
    return worst and BoundedPair(worst, finite_pair([0.5, 0.5], [1 - behind, behind], directions=2))
