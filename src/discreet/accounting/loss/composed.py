"""Several steps as one pair, for a sample about which several things are released."""

from __future__ import annotations

from math import sqrt

import numpy as np

from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.pair import NO_LOSS, FinitePair, Pair, finite_pair, pair_of
from discreet.privacy import events

__all__: list[str] = []

_MOST_OUTCOMES = 4096


@pair_of.register
def _(event: events.Composed) -> Pair | None:
    """Gaussian steps are one Gaussian step; finite pairs multiply while their outcomes are few."""
    pairs = [(pair_of(part), times) for part, times in event.parts]
    if pairs and all(isinstance(pair, GaussianPair) for pair, _ in pairs):
        return GaussianPair(sqrt(sum(n * pair.mu**2 for pair, n in pairs if isinstance(pair, GaussianPair))))
    product = NO_LOSS
    for pair, times in pairs:
        for _ in range(times):
            if not isinstance(pair, FinitePair) or len(product.p) * len(pair.p) > _MOST_OUTCOMES:
                return None
            product = _product(product, pair)
            if len(pair.p) == 1:
                break
    return product


def _product(one: FinitePair, other: FinitePair) -> FinitePair:
    with np.errstate(invalid="ignore"):
        losses = np.add.outer(one.losses, other.losses).ravel()
    return finite_pair(
        np.multiply.outer(one.p, other.p).ravel(),
        np.multiply.outer(one.q, other.q).ravel(),
        max(one.directions, other.directions),
        losses=losses,
    )
