"""Laplace noise: two atoms of loss +-epsilon and an exponential density between them."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.law import LossLaw, Tilted
from discreet.accounting.loss.pair import Pair, Side, pair_of
from discreet.privacy import events

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

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest loss, epsilon."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Return 1 - exp((epsilon' - epsilon) / 2) below the largest loss."""
        return max(0.0, -expm1((epsilon - self.epsilon) / 2))

    def cumulant(self, orders: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Return log of (e^{s e} + e^{-(s+1) e} + (e^{s e} - e^{-(s+1) e}) / (2 s + 1)) / 2."""
        width = (2 * orders + 1) * self.epsilon
        rest = np.exp(-width) - np.expm1(-width) / (2 * orders + 1)
        return np.asarray(orders * self.epsilon + np.log((1 + rest) / 2))

    def tilted(self, order: float) -> Tilted:
        """Return the tilted law; its variance by Gauss-Legendre quadrature between the atoms."""
        losses = np.concatenate([self.epsilon * _NODES, [self.epsilon, -self.epsilon]])
        density = np.exp((losses[:-2] - self.epsilon) / 2) / 4 * _WEIGHTS * self.epsilon
        masses = np.concatenate([density, [0.5, np.exp(-self.epsilon) / 2]])
        weights = masses * np.exp(order * (losses - self.epsilon))
        weights /= weights.sum()
        mean = weights @ losses
        return _TiltedLaplace(self, order, float(weights @ (losses - mean) ** 2) * (1 + 1e-9) + 1e-300)


class _TiltedLaplace(Tilted):
    def __init__(self, law: LaplaceLoss, order: float, variance: float) -> None:
        self.variance = variance
        self._law, self._order = law, order
        self._base = float(law.cumulant(np.array([order], complex))[0].real)

    def modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        orders = (self._order + 1j * frequencies).astype(np.complex128)
        return np.asarray(np.exp(self._law.cumulant(orders).real - self._base))


@dataclass(frozen=True, slots=True)
class LaplacePair(Pair):
    """Laplace noise against its shift."""

    epsilon: float

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        del direction, side, cells
        return LaplaceLoss(self.epsilon)


@pair_of.register
def _(event: events.Laplace) -> Pair:
    return LaplacePair(float(event.epsilon))
