"""Laplace noise: two atoms of loss +-epsilon and an exponential density between them."""

from __future__ import annotations

from math import exp, expm1

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.cells import Cells, CutPair
from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.pair import Pair, Side, pair_of
from discreet.accounting.loss.tilted import UNIT, Tilted
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["LaplacePair"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, slots=True)
class LaplaceLoss(LossLaw):
    """The loss of Laplace noise and its shift by epsilon scales.

    It is epsilon with probability 1/2, -epsilon with probability exp(-epsilon) / 2, and in
    between has the density exp((l - epsilon) / 2) / 4.
    """

    epsilon: float
    infinity: float = 0.0
    top: float = 0.5

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest loss, epsilon."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Return 1 - exp((epsilon' - epsilon) / 2) below the largest loss."""
        return max(0.0, -expm1(min(epsilon - self.epsilon, 0.0) / 2))

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log of (e^{s e} + e^{-(s+1) e} + (e^{s e} - e^{-(s+1) e}) / (2 s + 1)) / 2."""
        fall = np.expm1(-(2 * orders + 1) * self.epsilon)
        return np.asarray(orders * self.epsilon + np.log1p(fall * orders / (2 * orders + 1)))

    def tilted(self, order: float) -> Tilted:
        """Return the tilted law."""
        return _TiltedLaplace(self.epsilon, order)


class _TiltedLaplace(Tilted):
    """Atoms 1 and e^{-(2 c + 1) e} at +-e, and a density, all over a common total."""

    units = 0.0

    def __init__(self, epsilon: float, order: float) -> None:
        self._epsilon, self._slope = epsilon, 2 * order + 1
        self._low_atom = exp(-min(self._slope * epsilon, 745.0))
        self._density = -expm1(-self._slope * epsilon) / self._slope
        self._total = 1 + self._low_atom + self._density
        self.mean, self.variance = self._moments()

    def _moments(self) -> tuple[float, float]:
        """Return mean and variance, by quadrature over the part of the density that matters."""
        length = min(2 * self._epsilon, 80 / self._slope)
        below = length * (_NODES + 1) / 2
        weights = _WEIGHTS * length / 4 * np.exp(-self._slope * below / 2)
        mean = (-2 * self._epsilon * self._low_atom - weights @ below) / self._total
        square = ((2 * self._epsilon) ** 2 * self._low_atom + weights @ below**2) / self._total
        return self._epsilon + float(mean), float(square - mean**2)

    def line(self, step: float, count: int) -> NDArray[np.complex128]:
        y = step * np.arange(count)
        high, low = (
            np.exp(1j * y * (self._epsilon - self.mean)),
            np.exp(-1j * y * (self._epsilon + self.mean)),
        )
        density = (high - self._low_atom * low) / (self._slope + 2j * y)
        return np.asarray((high + self._low_atom * low + density) / self._total)

    def rounding(self, step: float, count: int) -> NDArray[np.float64]:
        """Two phases, of at most y times twice epsilon."""
        return np.asarray(UNIT * (16 + 8 * step * np.arange(count) * self._epsilon))

    def bound(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add the modulus of the two atoms at their best phase in the block to that of the density."""
        turns = self._epsilon / np.pi * low, self._epsilon / np.pi * high
        meets = np.floor(turns[0]) != np.floor(turns[1])
        ends = np.maximum(np.cos(2 * np.pi * turns[0]), np.cos(2 * np.pi * np.where(meets, 0.0, turns[1])))
        phase = np.where(meets, 1.0, ends)
        atoms = np.sqrt((1 - self._low_atom) ** 2 + 2 * self._low_atom * (1 + phase))
        density = np.minimum(self._density, (1 + self._low_atom) / np.hypot(self._slope, 2 * low))
        return np.asarray(np.minimum((atoms + density) / self._total * (1 + 1e-12), 1.0))

    def ceiling(self, low: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.bound(low, np.full(len(low), np.inf))


@dataclass(frozen=True, slots=True)
class LaplacePair(CutPair):
    """Laplace noise against its shift; a vector is never worse (docs/proofs/dominating_pairs.md, lemma 3)."""

    epsilon: float
    exact: bool = True

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        del direction, side, cells
        return LaplaceLoss(self.epsilon)

    def outcomes(self, count: int) -> Cells:
        """Cut the losses between the two atoms evenly."""
        inner = self.epsilon * np.linspace(-1, 1, max(count, 4) - 2)
        rise = np.expm1(np.diff(inner) / 2) * exp(-self.epsilon / 2) / 2
        least = exp(-self.epsilon) / 2
        p = np.concatenate([[least], np.exp(inner[:-1] / 2) * rise, [0.5]])
        q = np.concatenate([[0.5], np.exp(-inner[1:] / 2) * rise, [least]])
        return Cells(np.concatenate([[-self.epsilon], inner, [self.epsilon]]), p, q)


@pair_of.register
def _(event: events.Laplace) -> Pair:
    return LaplacePair(float(event.epsilon))
