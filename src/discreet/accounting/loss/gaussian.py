"""Gaussian noise: the loss is Gaussian itself, with variance mu^2 and mean mu^2 / 2."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.law import LossLaw, Tilted
from discreet.accounting.loss.pair import Pair, Side, pair_of
from discreet.privacy import events

__all__ = ["GaussianPair"]


@dataclass(frozen=True, slots=True)
class _TiltedGaussian(Tilted):
    variance: float

    def modulus(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(-self.variance * frequencies**2 / 2))


@dataclass(frozen=True, slots=True)
class GaussianLoss(LossLaw):
    """The loss of N(mu, 1) against N(0, 1)."""

    mu: float
    infinity: float = 0.0
    largest: float = inf

    def delta(self, epsilon: float) -> float:
        """Return Phi(mu / 2 - e / mu) - exp(e) Phi(-mu / 2 - e / mu), with a common factor taken out."""
        from scipy.special import erfcx, log_ndtr, ndtr

        near, far = self.mu / 2 - epsilon / self.mu, -self.mu / 2 - epsilon / self.mu
        if near > 0:
            return float(ndtr(near)) - exp(min(epsilon + float(log_ndtr(far)), 0.0))
        return exp(-(near**2) / 2) / 2 * float(erfcx(-near / sqrt(2)) - erfcx(-far / sqrt(2)))

    def cumulant(self, orders: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Return mu^2 s (s + 1) / 2."""
        return self.mu**2 * orders * (orders + 1) / 2

    def tilted(self, order: float) -> Tilted:
        """Tilting moves the mean only."""
        del order
        return _TiltedGaussian(self.mu**2)


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """N(mu, 1) against N(0, 1), mu = 1 / noise multiplier."""

    mu: float

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        del direction, side, cells
        return GaussianLoss(self.mu)


@pair_of.register
def _(event: events.Gaussian) -> Pair:
    return GaussianPair(float(1 / event.noise_multiplier))
