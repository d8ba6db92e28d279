"""Outcomes in the order of their loss, cut into cells: what continuous and very fine laws are made of.

A cell holds all outcomes whose loss lies between its two borders, so that its P-mass and its Q-mass are all
that need be known. Mixtures with Q and exchanges of P and Q keep the order, hence the cells.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from discreet.accounting.loss.law import AtomicLoss, LossLaw, dominated, dominating
from discreet.accounting.loss.pair import Pair, Side
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["CellMasses", "Cells", "CutPair", "mixed_losses", "spaced"]


_CONCENTRATION = 3.0
_FAR = 500.0


class CellMasses(NamedTuple):
    """What P and Q put on a set of outcomes."""

    p: float
    q: float


_NONE = CellMasses(0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells of outcomes, and what lies outside them.

    Parameters
    ----------
    borders : array
        log(P / Q) at the borders, not decreasing; one more than there are cells. Two equal borders hold
        outcomes of one loss.
    p, q : array
        The P-mass and the Q-mass of every cell.
    below, above : Masses
        Of the outcomes whose loss is less than the first border, or more than the last.
    """

    borders: Floats
    p: Floats
    q: Floats
    below: CellMasses = _NONE
    above: CellMasses = _NONE

    def sampled(self, rate: float, rest: float | None = None) -> Cells:
        """Return the cells of rest Q + rate P against Q; `rest` is 1 - rate, with all its digits if given."""
        left = 1 - rate if rest is None else rest

        def mixed(p: float, q: float) -> CellMasses:
            return CellMasses(left * q + rate * p, q)

        p = left * self.q + rate * self.p
        below, above = mixed(*self.below), mixed(*self.above)
        return Cells(mixed_losses(self.borders, rate, rest), p, self.q, below, above)

    def exchanged(self) -> Cells:
        """Return the cells of Q against P."""
        below, above = CellMasses(self.above.q, self.above.p), CellMasses(self.below.q, self.below.p)
        return Cells(-self.borders[::-1], self.q[::-1], self.p[::-1], below, above)

    def law(self, side: Side) -> AtomicLoss:
        """Return a law that dominates the loss of P against Q, or one that it dominates."""
        if side == "lower":
            return dominated(self.borders, self.p, self.q)
        return dominating(self.borders, self.p, self.q, self.below.p, self.above.p)


class CutPair(Pair):
    """A pair whose outcomes can be cut into cells."""

    @abstractmethod
    def outcomes(self, count: int) -> Cells:
        """Return about `count` cells of P against Q."""

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the loss as the cells bound it."""
        found = _cut(self, cells)
        return (found if direction == 0 else found.exchanged()).law(side)


@lru_cache(maxsize=8)
def _cut(pair: CutPair, count: int) -> Cells:
    """Cut a pair once for both sides and both directions."""
    return pair.outcomes(count)


def mixed_losses(losses: Floats, rate: float, rest: float | None = None) -> Floats:
    """Return log(rest + rate e^loss), with all digits of small numbers.

    `rest` is 1 - rate. Next to 1 a rounded rate has lost the digits of its rest, and outcomes that P hardly
    has are told apart by it alone.
    """
    change = rate * np.expm1(np.minimum(losses, _FAR))
    with np.errstate(divide="ignore"):
        large = np.logaddexp(np.log1p(-rate) if rest is None else np.log(rest), np.log(rate) + losses)
    return np.where(np.abs(change) < 0.5, np.log1p(np.clip(change, -0.5, 0.5)), large)


def spaced(count: int) -> Floats:
    """Return points from -1 to 1, dense in the middle."""
    return np.asarray(np.sinh(_CONCENTRATION * np.linspace(-1, 1, count)) / np.sinh(_CONCENTRATION))
