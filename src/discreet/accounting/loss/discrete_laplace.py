"""Discrete Laplace noise: a lattice of losses between -epsilon and epsilon.

With a shift of k steps and r = exp(-grid / scale) the loss at y of noise around k against noise around 0
is (|y| - |y - k|) grid / scale: k steps' worth for y >= k, -k for y <= 0, and 2 y - k between. A vector that
moves by k steps in all is never easier to tell apart than one value that does
(docs/proofs/dominating_pairs.md, lemma 3), so the pair is exact for vectors too.
"""

from __future__ import annotations

from math import exp

import numpy as np

from discreet.accounting.loss.cells import Cells, CutPair
from discreet.accounting.loss.pair import NO_LOSS, Pair, finite_pair, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["FineLaplacePair"]

_MOST_ATOMS = 2000


@dataclass(frozen=True, slots=True)
class FineLaplacePair(CutPair):
    """Discrete Laplace noise of a rate per step, moved by more steps than are looked at one by one."""

    rate: float
    shift: int

    def outcomes(self, count: int) -> Cells:
        """Cut the steps between 0 and the shift evenly; the two ends are outcomes of one loss each."""
        breaks = np.unique(np.round(np.linspace(0, self.shift, max(count, 3) - 1)))
        borders = self.rate * np.concatenate([[-self.shift], 2 * breaks - self.shift, [self.shift]])
        start, stop = np.maximum(breaks[:-1], 1), breaks[1:]
        whole, least = 1 + exp(-self.rate), exp(-self.rate * self.shift)
        q = np.concatenate([[1.0], self._masses(start, stop), [least]]) / whole
        p = np.concatenate([[least], self._masses(self.shift - stop + 1, self.shift - start + 1), [1.0]])
        return Cells(borders, p / whole, q)

    def _masses(self, start: Floats, stop: Floats) -> Floats:
        """Sum (1 - r) r^y over y from start to before stop."""
        return np.asarray(np.exp(-self.rate * start) * -np.expm1(-self.rate * (stop - start)))


@pair_of.register
def _(event: events.DiscreteLaplace) -> Pair | None:
    shift, rate = event.shift, float(event.grid / event.scale)
    if shift == 0:
        return NO_LOSS
    if event.pure_epsilon > MOST_EPSILON:
        return None
    if shift > _MOST_ATOMS:
        return FineLaplacePair(rate, shift)
    ratio = exp(-rate)
    inner = -np.expm1(-rate) / (1 + ratio) * np.exp(-rate * np.arange(1, shift))
    q = np.concatenate([[1 / (1 + ratio)], inner, [exp(-rate * shift) / (1 + ratio)]])
    return finite_pair(q[::-1], q, losses=rate * (2 * np.arange(shift + 1) - shift))
