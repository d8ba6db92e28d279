"""Gaussian noise: the loss is Gaussian itself, with variance mu^2 and mean mu^2 / 2."""

from __future__ import annotations

from math import exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.pair import Pair, Side, pair_of
from discreet.accounting.loss.tilted import UNIT, Tilted
from discreet.privacy import events
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.rational import float_above
from discreet.records import dataclass

__all__ = ["GaussianPair"]

_FAR = 39.0  # standard deviations beyond which no float is left


@dataclass(frozen=True, slots=True)
class _TiltedGaussian(Tilted):
    mean: float
    variance: float
    units: float = 0.0

    def line(self, step: float, count: int) -> NDArray[np.complex128]:
        return np.exp(-self.variance * (step * np.arange(count)) ** 2 / 2).astype(np.complex128)

    def rounding(self, step: float, count: int) -> NDArray[np.float64]:
        """exp(-x) is off by a few x units, and x exp(-x) < 1."""
        del step
        return np.full(count, 8 * UNIT)

    def bound(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        del high
        return np.asarray(np.exp(-self.variance * low**2 / 2))

    def ceiling(self, low: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.bound(low, np.full(len(low), np.inf))


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
        if near < -_FAR:
            return 0.0
        if near > 0:
            return float(ndtr(near)) - exp(min(epsilon + float(log_ndtr(far)), 0.0))
        return exp(-(near**2) / 2) / 2 * float(erfcx(-near / sqrt(2)) - erfcx(-far / sqrt(2)))

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return mu^2 s (s + 1) / 2."""
        return self.mu**2 * orders * (orders + 1) / 2

    def tilted(self, order: float) -> Tilted:
        """Tilting moves the mean only."""
        return _TiltedGaussian(self.mu**2 * (order + 0.5), self.mu**2)


@dataclass(frozen=True, slots=True)
class GaussianPair(Pair):
    """N(mu, 1) against N(0, 1), mu = 1 / noise multiplier."""

    mu: float
    exact: bool = True

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        del direction, side, cells
        return GaussianLoss(self.mu)


@pair_of.register
def _(event: events.Gaussian) -> Pair:
    return GaussianPair(float(1 / event.noise_multiplier))


@pair_of.register
def _(event: events.RoundedGaussian) -> Pair:
    """Return the pair of the noise before it was rounded; mu is rounded up."""
    return GaussianPair(float_above(sqrt_interval(event.squared_mu)[1]))
