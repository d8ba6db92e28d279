"""Poisson samples cut down to a batch: with a small probability a unit pushes out another.

Fix which other units are in the sample. If they leave room, the cap changes nothing; if they fill the batch,
the unit replaces one of them. The probability of the second is the same with and without the unit, so the
step is dominated by the two pairs side by side, and infinite losses are not needed.
Proofs: docs/proofs/capped_poisson.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.accounting.formulas.binomial_tail import binomial_tail
from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.accounting.loss.pair import BoundedPair, Pair, Side, pair_of
from discreet.accounting.loss.poisson_sampled import rate_as_float, sampled_pair
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import group
from discreet.records import dataclass

__all__ = ["SideBySidePair", "full_chance"]


@dataclass(frozen=True, slots=True)
class SideBySidePair(Pair):
    """One pair, or with probability `chance` another, and which of them is seen; only from above.

    Where the other pair is None, what happens then has infinite loss.
    """

    usual: Pair
    rare: Pair | None
    chance: float
    directions: int = 2

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the mixture of the two losses."""
        return _mixed(self, direction, side, cells)


@lru_cache(maxsize=8)
def _mixed(pair: SideBySidePair, direction: int, side: Side, cells: int) -> AtomicLoss:
    """Mix the losses once for all epsilons that are asked for."""
    first = _atoms(pair.usual, direction, side, cells)
    masses, losses = (1 - pair.chance) * first.masses, first.losses
    infinity = (1 - pair.chance) * first.infinity
    if pair.rare is None:
        return AtomicLoss(masses, losses, infinity + pair.chance)
    second = _atoms(pair.rare, direction, side, cells)
    masses = np.concatenate([masses, pair.chance * second.masses])
    losses = np.concatenate([losses, second.losses])
    keep = masses > 0
    return AtomicLoss(masses[keep], losses[keep], infinity + pair.chance * second.infinity)


def _atoms(pair: Pair, direction: int, side: Side, cells: int) -> AtomicLoss:
    law = pair.law(direction if pair.directions == 2 else 0, side, cells)
    assert isinstance(law, AtomicLoss)  # noqa: S101 - every sampled pair is made of atoms
    return law


def full_chance(event: events.CappedPoissonSampled) -> float:
    """Bound the probability that at least `most` of the other units are in the sample, from above."""
    return binomial_tail(event.population - 1, event.most, Fraction(event.rate))


@pair_of.register
def _(event: events.CappedPoissonSampled) -> Pair | None:
    """From below, a table of few units attains the sample with no cap."""
    usual, chance = pair_of(event.uncapped), full_chance(event)
    if usual is None or chance == 0 or event.rate == 1:
        return usual if chance == 0 else None
    upper = usual.upper if isinstance(usual, BoundedPair) else usual
    return BoundedPair(SideBySidePair(upper, _replaced(event), chance), usual)


def _replaced(event: events.CappedPoissonSampled) -> Pair | None:
    """Return the pair of a unit that pushes out another; None unless one pair covers both orders."""
    try:
        pair = pair_of(group(event.inner, 2))
    except ParameterError:
        return None
    if isinstance(pair, BoundedPair):
        pair = pair.upper
    return (
        None
        if pair is None or pair.directions == 2
        else sampled_pair(pair, *rate_as_float(Fraction(event.rate)))
    )
