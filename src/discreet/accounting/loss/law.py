"""The law of the privacy loss of one step, in one direction, as the contour integral needs it.

With P and Q the laws of a release on neighboring tables, the loss of an outcome y is
L = log(P(y) / Q(y)), and its law is taken under P. Losses of independent steps add up, so
their cumulants log E exp(s L) do. A `LossLaw` knows its cumulant at real orders, the mass of
infinite loss, and, tilted by an order, its characteristic function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.tilted import Tilted, TiltedAtoms, merge_atoms
from discreet.records import dataclass

__all__ = ["AtomicLoss", "LossLaw", "dominated", "dominating"]

_ROUGH = 400
_NEGLIGIBLE = 1e-25


class LossLaw(ABC):
    """The law of one step's loss under P.

    Attributes
    ----------
    infinity : float
        The P-mass of outcomes that Q cannot produce.
    largest : float
        The largest finite loss, or infinity.
    top : float
        The P-mass of the largest finite loss, or less.
    """

    infinity: float
    largest: float
    top: float = 0.0

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Return E max(0, 1 - exp(epsilon - L)) over finite losses: the delta of one step."""

    @abstractmethod
    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log E[exp(s L); L finite] at real orders s."""

    @abstractmethod
    def tilted(self, order: float) -> Tilted:
        """Return the law with density proportional to exp(order L)."""

    def capped(self, mass: float, *, above: bool) -> LossLaw:
        """Return the law without its largest losses, of this P-mass at most.

        An upper bound counts them as infinite, a lower one leaves them out.
        """
        del mass, above
        return self

    def rough(self) -> LossLaw:
        """Return a law close to this one whose cumulant is quick to find, for choices that need no proof."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class AtomicLoss(LossLaw):
    """Finitely many losses with their P-masses."""

    masses: NDArray[np.float64]
    losses: NDArray[np.float64]
    infinity: float

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest finite loss."""
        return float(self.losses.max())

    @property
    def top(self) -> float:  # type: ignore[override]
        """The mass of the largest finite loss."""
        return float(self.masses[self.losses.argmax()])

    def delta(self, epsilon: float) -> float:
        """Sum over the atoms."""
        above = self.losses > epsilon
        return float(self.masses[above] @ -np.expm1(epsilon - self.losses[above]))

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the atoms."""
        exponents = np.log(self.masses) + np.multiply.outer(orders, self.losses)
        largest = exponents.max(axis=-1)
        return np.asarray(largest + np.log(np.exp(exponents - largest[..., None]).sum(axis=-1)))

    def tilted(self, order: float) -> Tilted:
        """Return the tilted atoms."""
        exponents = np.log(self.masses) + order * self.losses
        weights = np.exp(exponents - exponents.max())
        keep = weights > _NEGLIGIBLE
        return TiltedAtoms(weights[keep], self.losses[keep])

    def capped(self, mass: float, *, above: bool) -> LossLaw:
        """Leave out atoms, the largest first."""
        increasing = np.argsort(self.losses, kind="stable")
        masses, losses = self.masses[increasing], self.losses[increasing]
        top = np.cumsum(masses[::-1])
        count = int(np.searchsorted(top, mass, side="right"))
        if count == 0:
            return self
        infinity = self.infinity + float(top[count - 1]) if above else self.infinity
        return AtomicLoss(masses[:-count], losses[:-count], infinity)

    def rough(self) -> LossLaw:
        """Merge neighboring atoms."""
        keep = self.masses > 0
        masses, losses, _ = merge_atoms(self.masses[keep], self.losses[keep], _ROUGH)
        return AtomicLoss(masses, losses, self.infinity)


def dominating(
    borders: NDArray[np.float64],
    p: NDArray[np.float64],
    q: NDArray[np.float64],
    below: float,
    above: float,
) -> AtomicLoss:
    """Return a law that dominates: connect the dots between losses at the borders of cells.

    Cells of outcomes lie between increasing losses `borders`, with masses `p` and `q`. The mass
    of each is moved to its two borders so that both its P-mass and its Q-mass are kept. That replaces
    the true trade-off by the broken line through its points, which is never more private
    (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). P-mass `below` the first border moves up
    to it; `above` the last it moves to infinity.
    """
    gaps = np.diff(borders)
    share = (p - np.exp(borders[:-1]) * q) / np.maximum(p * -np.expm1(-gaps), 1e-300)
    share = np.clip(share, 0.0, 1.0)
    masses = np.zeros(len(borders))
    masses[1:] += p * share
    masses[:-1] += p * (1 - share)
    masses[0] += below
    keep = masses > 0
    return AtomicLoss(masses[keep], borders[keep], above)


def dominated(borders: NDArray[np.float64], p: NDArray[np.float64], q: NDArray[np.float64]) -> AtomicLoss:
    """Return a law that is dominated: every cell becomes one outcome, which is post-processing.

    The P-mass outside the cells is left out, which can only lower any delta.
    """
    keep = (p > 0) & (q > 0)
    losses = np.clip(np.log(p[keep] / q[keep]), borders[:-1][keep], borders[1:][keep])
    return AtomicLoss(p[keep], losses, 0.0)
