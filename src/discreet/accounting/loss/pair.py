"""The worst pair of laws of an event, as loss laws that bound it from both sides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.privacy.events import Event
from discreet.records import dataclass

__all__ = ["NO_LOSS", "BoundedPair", "FinitePair", "Pair", "Side", "finite_pair", "pair_of"]

Side = Literal["upper", "lower"]


class Pair(ABC):
    """A pair of laws (P, Q) that dominates an event: no neighbors can be told apart more easily.

    Attributes
    ----------
    directions : int
        2 where exchanging P and Q changes the loss: direction 0 is (P, Q), which dominates the laws with and
        without a unit (removing it), direction 1 is (Q, P), for adding one. 1 where the loss of (Q, P)
        has the same law as that of (P, Q), which then covers neighbors in either order.
    exact : bool
        Whether both sides are the same law, however finely it is cut.
    finite : bool
        Whether both sides have finitely many outcomes, however finely they are cut.
    attained : bool
        Whether some neighbors attain the pair, or come as close to it as one likes.
    """

    directions: int = 1
    exact: bool = False
    finite: bool = False
    attained: bool = True

    @abstractmethod
    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the loss in one direction: an upper bound that dominates it, or a lower bound.

        The lower bound is dominated by the laws of some neighbors, so that no true delta is less than
        what it gives. `cells` says how finely a law may be cut.
        """


@dataclass(frozen=True, slots=True, eq=False)
class FinitePair(Pair):
    """Finitely many outcomes with their probabilities: exact, in both directions if they differ.

    `losses` are log(p / q), infinite if one of the two is 0; small ones are known to more digits than
    the probabilities tell.
    """

    p: NDArray[np.float64]
    q: NDArray[np.float64]
    losses: NDArray[np.float64]
    directions: int = 1
    exact: bool = True
    finite: bool = True

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        p, q, losses = (self.p, self.q, self.losses) if direction == 0 else (self.q, self.p, -self.losses)
        finite = (p > 0) & (q > 0)
        return AtomicLoss(p[finite], losses[finite], float(p[(p > 0) & (q == 0)].sum()))


def finite_pair(
    p: ArrayLike, q: ArrayLike, directions: int = 1, *, losses: ArrayLike | None = None
) -> FinitePair:
    """Return a finite pair from sequences of probabilities and, where they are known, losses."""
    first, second = np.asarray(p, np.float64), np.asarray(q, np.float64)
    if losses is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(first / second)
    return FinitePair(first, second, np.asarray(losses, np.float64), directions)


NO_LOSS = finite_pair([1.0], [1.0])
"""One outcome, which tells nothing apart."""


@dataclass(frozen=True, slots=True)
class BoundedPair(Pair):
    """A pair that dominates, and another that some neighbors attain.

    It stands for events whose own worst pair is not known, or for which there is none: no neighbors need be
    the worst at every epsilon. The true answer lies between what the two give.
    """

    upper: Pair
    lower: Pair = NO_LOSS
    attained: bool = False

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Whether both pairs are finite."""
        return self.upper.finite and self.lower.finite

    @property
    def directions(self) -> int:  # type: ignore[override]
        """2 where either pair has two."""
        return max(self.upper.directions, self.lower.directions)

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the upper side of the one pair or the lower side of the other."""
        pair = self.upper if side == "upper" else self.lower
        return pair.law(direction if pair.directions == 2 else 0, side, cells)


@singledispatch
def pair_of(event: Event) -> Pair | None:
    """Return the dominating pair of an event, or None if no exact one is known."""
    del event
    return None
