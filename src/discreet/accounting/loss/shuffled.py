"""Shuffled reports: dominated by counts of clones (Feldman, McMillan & Talwar 2021).

The proof is in docs/proofs/sampling_amplification.md, theorem 3. Reports that differ from their clones tell
less, so the pair need not be attained.
"""

from __future__ import annotations

from functools import lru_cache
from math import asinh

import numpy as np

from discreet.accounting import theorems
from discreet.accounting.loss.cells import Cells, CutPair
from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.accounting.loss.pair import NO_LOSS, BoundedPair, Pair, Side, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON
from discreet.accounting.loss.shuffled_response import MOST_PEOPLE, response_pair
from discreet.privacy import events
from discreet.privacy.rational import float_above
from discreet.records import dataclass

__all__ = ["ClonesPair"]

_FEW = 2000


@dataclass(frozen=True, slots=True)
class ClonesPair(CutPair):
    """The number of reports of the first of two kinds, and of clones, of people with a local epsilon."""

    epsilon: float
    people: int

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the loss, an upper bound; its own atoms where they are few."""
        del direction, side
        found = _atoms(self.epsilon, self.people)
        if len(found.masses) <= max(cells, _FEW):
            return found
        return self.outcomes(cells).law("upper")

    def outcomes(self, count: int) -> Cells:
        """Cut the losses into cells, finest around 0."""
        found = _atoms(self.epsilon, self.people)
        deviation = float(np.sqrt(found.masses @ found.losses**2 / found.masses.sum()))
        least, most = float(found.losses[0]), float(found.losses[-1])
        ends = np.linspace(asinh(least / deviation), asinh(most / deviation), max(count, 2))
        borders = deviation * np.sinh(ends)
        borders[0], borders[-1] = least, most
        place = np.clip(np.searchsorted(borders, found.losses, side="right") - 1, 0, len(borders) - 2)
        p = np.bincount(place, found.masses, len(borders) - 1)
        q = np.bincount(place, found.masses * np.exp(-found.losses), len(borders) - 1)
        return Cells(borders, p.astype(np.float64), q.astype(np.float64))


@lru_cache(maxsize=16)
def _atoms(epsilon: float, people: int) -> AtomicLoss:
    """Return the atoms of the clones, in the order of their loss."""
    weights, excess = theorems.clone_ratios(epsilon, people)
    order = np.argsort(excess, kind="stable")
    weights, excess = weights[order], excess[order]
    keep = weights * (1 + excess) > 0
    return AtomicLoss((weights * (1 + excess))[keep], np.log1p(excess[keep]), 0.0)


@pair_of.register
def _(event: events.Shuffled) -> Pair | None:
    epsilon = event.pure_epsilon
    if epsilon is None or epsilon > MOST_EPSILON:
        return None
    inner = event.inner
    if (
        isinstance(inner, events.RandomizedResponse)
        and inner.categories == 2
        and 1 < event.people <= MOST_PEOPLE
    ):
        return response_pair(inner.truth, event.people)
    return BoundedPair(ClonesPair(float_above(epsilon), event.people), NO_LOSS) if epsilon else NO_LOSS
