"""A step on a Poisson sample: each unit takes part with probability q.

If (P, Q) dominates the step, with a loss that is symmetric, removing a unit is dominated by the mixture
(1 - q) Q + q P against Q, and adding one by the reverse (Zhu, Dong & Wang 2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.law import LossLaw, dominated, dominating
from discreet.accounting.loss.pair import FinitePair, Pair, Side, finite_pair, pair_of
from discreet.privacy import events

__all__ = ["SampledGaussianPair"]

_DEVIATIONS = 14.0
_CONCENTRATION = 3.0


@dataclass(frozen=True, slots=True)
class SampledGaussianPair(Pair):
    """(1 - q) N(0, sigma^2) + q N(1, sigma^2) against N(0, sigma^2)."""

    sigma: float
    rate: float
    directions: int = 2

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Cut the line into cells, finest between the two centers."""
        x = 0.5 + (0.5 + _DEVIATIONS * self.sigma) * _spaced(cells)
        with np.errstate(divide="ignore"):
            rest = np.log1p(-self.rate)
        losses = np.logaddexp(rest, np.log(self.rate) + (2 * x - 1) / (2 * self.sigma**2))
        plain, moved = self._masses(x, 0.0), self._masses(x, 1.0)
        mixed = tuple((1 - self.rate) * a + self.rate * b for a, b in zip(plain, moved, strict=True))
        if direction == 0:
            below, p, above = mixed
            q = plain[1]
        else:
            losses = -losses[::-1]
            below, p, above = plain[2], plain[1][::-1], plain[0]
            q = mixed[1][::-1]
        if side == "lower":
            return dominated(losses, p, q)
        return dominating(losses, p, q, float(below), float(above))

    def _masses(
        self, x: NDArray[np.float64], center: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the Gaussian mass below all cells, in each, and above, without cancellation."""
        from scipy.special import ndtr

        z = (x - center) / self.sigma
        left, right = ndtr(z), ndtr(-z)
        return left[0], np.where(z[1:] <= 0, np.diff(left), -np.diff(right)), right[-1]


def _spaced(count: int) -> NDArray[np.float64]:
    """Return points from -1 to 1, dense in the middle."""
    return np.asarray(np.sinh(_CONCENTRATION * np.linspace(-1, 1, count)) / np.sinh(_CONCENTRATION))


@pair_of.register
def _(event: events.PoissonSampled) -> Pair | None:
    inner, rate = pair_of(event.inner), float(event.rate)
    if rate == 1:
        return inner
    if rate == 0:
        return finite_pair([1.0], [1.0])
    if isinstance(inner, GaussianPair):
        return SampledGaussianPair(1 / inner.mu, rate)
    if isinstance(inner, FinitePair):
        return finite_pair((1 - rate) * inner.q + rate * inner.p, inner.q, directions=2)
    return None
