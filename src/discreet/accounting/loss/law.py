"""The law of the privacy loss of one step, in one direction, as the contour integral needs it.

With P and Q the laws of a release on neighboring tables, the loss of an outcome y is
L = log(P(y) / Q(y)), and its law is taken under P. Losses of independent steps add up, so
their cumulants log E exp(s L) do. A `LossLaw` knows its cumulant on the complex plane, the mass of
infinite loss, and enough about its tilted characteristic function to bound what an
integral leaves out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["AtomicLoss", "LossLaw", "Tilted", "dominated", "dominating"]

_COARSE = 128
_ROUGH = 400
_NEGLIGIBLE = 1e-25


class Tilted(ABC):
    """The law with density proportional to exp(c L), centered: its variance and characteristic function."""

    variance: float

    @abstractmethod
    def modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return |E exp(i y L)|, or an upper bound close to it, at every frequency y."""

    def quick_modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an upper bound on the modulus that may be less close and is quicker to find."""
        return self.modulus(frequencies)


class LossLaw(ABC):
    """The law of one step's loss under P.

    Attributes
    ----------
    infinity : float
        The P-mass of outcomes that Q cannot produce.
    largest : float
        The largest finite loss, or infinity.
    size : int
        How many terms its cumulant takes.
    """

    infinity: float
    largest: float
    size: int = 1

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Return E max(0, 1 - exp(epsilon - L)) over finite losses: the delta of one step."""

    @abstractmethod
    def cumulant(self, orders: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Return log E[exp(s L); L finite] at every s."""

    @abstractmethod
    def tilted(self, order: float) -> Tilted:
        """Return the tilted law at a real order."""

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the cumulant at real orders."""
        return self.cumulant(orders.astype(np.complex128)).real

    def line(self, order: float, step: float, count: int) -> NDArray[np.complex128]:
        """Return the cumulant at order + i step k, for k = 0, …, count - 1."""
        return self.cumulant((order + 1j * step * np.arange(count)).astype(np.complex128))

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
    def size(self) -> int:  # type: ignore[override]
        """How many atoms there are."""
        return len(self.masses)

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest finite loss."""
        return float(self.losses.max())

    def delta(self, epsilon: float) -> float:
        """Sum over the atoms."""
        above = self.losses > epsilon
        return float(self.masses[above] @ -np.expm1(epsilon - self.losses[above]))

    def _weights(self, order: float) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the logarithm of a common factor, the tilted weights without it, and their losses."""
        exponents = np.log(self.masses) + order * self.losses
        largest = float(exponents.max())
        weights = np.exp(exponents - largest)
        keep = weights > _NEGLIGIBLE
        return largest, weights[keep], self.losses[keep]

    def cumulant(self, orders: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Sum over the atoms."""
        exponents = np.log(self.masses) + np.multiply.outer(orders, self.losses)
        largest = exponents.real.max(axis=-1)
        return np.asarray(largest + np.log(np.exp(exponents - largest[..., None]).sum(axis=-1)))

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the atoms, in real numbers."""
        exponents = np.log(self.masses) + np.multiply.outer(orders, self.losses)
        largest = exponents.max(axis=-1)
        return np.asarray(largest + np.log(np.exp(exponents - largest[..., None]).sum(axis=-1)))

    def line(self, order: float, step: float, count: int) -> NDArray[np.complex128]:
        """Sum over the atoms; the powers of exp(i step L) come by repeated multiplication."""
        largest, weights, losses = self._weights(order)
        rows = min(32, count)
        turn = np.exp(1j * step * losses)
        turns = np.ones((rows, len(losses)), complex)
        for row in range(1, rows):
            np.multiply(turns[row - 1], turn, out=turns[row])
        leap = turns[-1] * turn
        sums = np.empty(count, np.complex128)
        moving = weights.astype(complex)
        for start in range(0, count, rows):
            stop = min(start + rows, count)
            sums[start:stop] = turns[: stop - start] @ moving
            moving *= leap
        return np.asarray(largest + np.log(sums), np.complex128)

    def rough(self) -> LossLaw:
        """Merge neighboring atoms."""
        keep = self.masses > 0
        merged, losses, _ = _merged(self.masses[keep], self.losses[keep], _ROUGH)
        return AtomicLoss(merged, losses, self.infinity)

    def tilted(self, order: float) -> Tilted:
        """Return the tilted atoms."""
        _, weights, losses = self._weights(order)
        weights = weights / weights.sum()
        return _TiltedAtoms(weights, losses - weights @ losses)


class _TiltedAtoms(Tilted):
    """Atoms, and a coarser version of them for low frequencies.

    Merging neighbors at their mean moves the characteristic function at y by at most
    y^2 E(L - merged L)^2 / 2.
    """

    def __init__(self, weights: NDArray[np.float64], losses: NDArray[np.float64]) -> None:
        self._weights, self._losses = weights, losses
        self.variance = float(weights @ losses**2)
        self._coarse_weights, self._coarse_losses, starts = _merged(weights, losses, _COARSE)
        moved = losses - np.repeat(self._coarse_losses, np.diff(np.append(starts, len(weights))))
        self._moved = float(weights @ moved**2)

    def modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        return _modulus(frequencies, self._losses, self._weights)

    def quick_modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        slack = frequencies**2 * self._moved / 2
        return _modulus(frequencies, self._coarse_losses, self._coarse_weights) + slack


def _modulus(
    frequencies: NDArray[np.float64], losses: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    turns = np.multiply.outer(frequencies, losses)
    return np.asarray(np.hypot(np.cos(turns) @ weights, np.sin(turns) @ weights))


def _merged(
    weights: NDArray[np.float64], losses: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Merge neighboring atoms into at most `count`, each at the mean of its members."""
    starts = np.arange(0, len(weights), -(-len(weights) // count))
    merged = np.add.reduceat(weights, starts)
    return merged, np.add.reduceat(weights * losses, starts) / merged, starts


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


def lipschitz(variance: float, start: NDArray[np.float64], stop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound how much |E exp(i y L)|^2 grows from y = start to stop.

    It is E cos(y D) for the difference D of two independent copies; its derivative is at most
    y E D^2 = 2 y variance and at most E|D| <= sqrt(2 variance).
    """
    return np.minimum(variance * (stop**2 - start**2), sqrt(2 * variance) * (stop - start))
