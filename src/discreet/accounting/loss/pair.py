"""The worst pair of laws of an event, as loss laws that bound it from both sides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.privacy.events import Event

__all__ = ["FinitePair", "Pair", "Side", "pair_of"]

Side = Literal["upper", "lower"]


class Pair(ABC):
    """A pair of laws (P, Q) that dominates an event: no neighbors can be told apart more easily.

    Attributes
    ----------
    directions : int
        2 where exchanging P and Q changes the loss (removing a unit, then adding one), else 1.
    """

    directions: int = 1

    @abstractmethod
    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the loss in one direction: an upper bound that dominates it, or a lower bound.

        `cells` says how finely a continuous law may be cut.
        """


@dataclass(frozen=True, slots=True, eq=False)
class FinitePair(Pair):
    """Finitely many outcomes with their probabilities: exact, in both directions if they differ."""

    p: NDArray[np.float64]
    q: NDArray[np.float64]
    directions: int = 1

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        p, q = (self.p, self.q) if direction == 0 else (self.q, self.p)
        finite = (p > 0) & (q > 0)
        return AtomicLoss(p[finite], np.log(p[finite] / q[finite]), float(p[(p > 0) & (q == 0)].sum()))


def finite_pair(p: ArrayLike, q: ArrayLike, directions: int = 1) -> FinitePair:
    """Return a finite pair from sequences of probabilities."""
    return FinitePair(np.asarray(p, np.float64), np.asarray(q, np.float64), directions)


@singledispatch
def pair_of(event: Event) -> Pair | None:
    """Return the dominating pair of an event, or None where no exact one is known."""
    del event
    return None
