"""The exponential mechanism's choice: a loss of bounded range.

Over all candidates the loss lies in an interval of length epsilon, wherever that is. The two ends alone are
the worst, and the worst place of the interval depends on where delta is asked for; the largest delta of all
is (e^(epsilon / 2) - e^(e / 2))^2 / (e^epsilon - 1) at |e| <= epsilon. That is the profile of a pair, whose
loss has a density in proportion to e^(l / 2) on [-epsilon, epsilon], in both directions: that of Laplace
noise without its two atoms (docs/proofs/dominating_pairs.md, lemma 5).

No neighbors are the worst at every e, so that several choices compose to less than this pair does: their
Rényi curve may then be the smaller bound. Two candidates, exchanged, attain randomized response at
epsilon / 2.
"""

from __future__ import annotations

from math import exp, expm1
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.cells import Cells, CutPair
from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.pair import NO_LOSS, BoundedPair, Pair, Side, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON, pure_pair
from discreet.accounting.loss.tilted import UNIT, Tilted
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.privacy.rational import float_above
from discreet.records import dataclass

__all__ = ["BoundedRangePair"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_TERMS = 12


@dataclass(frozen=True, slots=True)
class BoundedRangeLoss(LossLaw):
    """The loss with density exp((l + epsilon) / 2) / (2 (exp(epsilon) - 1)) on [-epsilon, epsilon]."""

    epsilon: float
    infinity: float = 0.0

    @property
    def largest(self) -> float:  # type: ignore[override]
        """The largest loss, epsilon."""
        return self.epsilon

    def delta(self, epsilon: float) -> float:
        """Return (e^(range / 2) - e^(epsilon / 2))^2 / (e^range - 1), and 1 - e^epsilon below all losses."""
        if epsilon <= -self.epsilon:
            return -expm1(epsilon)
        return expm1(min(epsilon - self.epsilon, 0.0) / 2) ** 2 / -expm1(-self.epsilon)

    def cumulants_at(self, orders: Floats) -> Floats:
        """Return log of sinh((s + 1/2) e) / ((2 s + 1) sinh(e / 2))."""
        half = self.epsilon / 2
        return _log_sinhc((2 * orders + 1) * half) - _log_sinhc(np.array([half]))

    def tilted(self, order: float) -> Tilted:
        """Return the tilted law, whose density grows by the factor e^(order + 1/2) for each unit of loss."""
        return _TiltedRange(self.epsilon, order + 0.5)


class _TiltedRange(Tilted):
    """A density in proportion to e^(slope l) on [-epsilon, epsilon]."""

    def __init__(self, epsilon: float, slope: float) -> None:
        self._epsilon, self._slope = epsilon, slope
        self._least = exp(-min(2 * slope * epsilon, 745.0))
        length = min(2 * epsilon, 40 / slope)
        below = length * (_NODES + 1) / 2
        weights = _WEIGHTS * np.exp(-slope * below)
        weights /= weights.sum()
        mean = float(weights @ below)
        self.mean, self.variance = epsilon - mean, float(weights @ (below - mean) ** 2)

    def line(self, step: float, count: int) -> NDArray[np.complex128]:
        """Return sinhc((slope + i y) epsilon) / sinhc(slope epsilon), turned by the mean."""
        y = step * np.arange(count)
        x, z = self._slope * self._epsilon, (self._slope + 1j * y) * self._epsilon
        near = (
            _sinhc(np.where(np.abs(z) < 1, z, 0))
            / _sinhc(np.array(min(x, 1.0)))
            * np.exp(-1j * y * self.mean)
        )
        high, low = (
            np.exp(1j * y * (self._epsilon - self.mean)),
            np.exp(-1j * y * (self._epsilon + self.mean)),
        )
        far = (high - self._least * low) * x / z / -expm1(-2 * x)
        return np.asarray(np.where(np.abs(z) < 1, near, far))

    def rounding(self, step: float, count: int) -> Floats:
        """Two phases, of at most y times twice epsilon; what is divided by z is not small against z."""
        return np.asarray(UNIT * (64 + 16 * step * np.arange(count) * self._epsilon))

    def bound(self, low: Floats, high: Floats) -> Floats:
        """Bound slope / |slope + i y| at the low end, and |1 - least e^(-2 i y e)| at its best phase."""
        turns = self._epsilon / np.pi * low, self._epsilon / np.pi * high
        meets = np.floor(turns[0] + 0.5) != np.floor(turns[1] + 0.5)
        sines = np.where(meets, 1.0, np.maximum(*(np.sin(np.pi * turn) ** 2 for turn in turns)))
        return self._bound(low, sines)

    def ceiling(self, low: Floats) -> Floats:
        """Bound the same at the best of all phases."""
        return self._bound(low, np.ones(len(low)))

    def _bound(self, low: Floats, sines: Floats) -> Floats:
        ends = np.sqrt(1 + 4 * self._least * sines / expm1(-2 * self._slope * self._epsilon) ** 2)
        return np.asarray(np.minimum(self._slope / np.hypot(self._slope, low) * ends * (1 + 1e-12), 1.0))


@dataclass(frozen=True, slots=True)
class BoundedRangePair(CutPair):
    """The pair whose delta is the largest of all with a loss of range epsilon."""

    epsilon: float
    exact: bool = True

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss."""
        del direction, side, cells
        return BoundedRangeLoss(self.epsilon)

    def outcomes(self, count: int) -> Cells:
        """Cut the losses evenly."""
        borders = self.epsilon * np.linspace(-1, 1, max(count, 2))
        rise = np.expm1(np.diff(borders) / 2) / (2 * np.sinh(self.epsilon / 2))
        return Cells(borders, np.exp(borders[:-1] / 2) * rise, np.exp(-borders[1:] / 2) * rise)


def _sinhc(z: NDArray[Any]) -> NDArray[Any]:
    """Return sinh(z) / z for |z| <= 1, by its series."""
    total = np.ones_like(z)
    for term in range(_TERMS, 0, -1):
        total = 1 + z**2 / (2 * term * (2 * term + 1)) * total
    return total


def _log_sinhc(x: Floats) -> Floats:
    """Return log(sinh(x) / x) for x >= 0, with all digits of small numbers."""
    small = np.minimum(x, 1.0) ** 2 / 6
    series = np.ones_like(x)
    for term in range(_TERMS, 1, -1):
        series = 1 + 6 * small / (2 * term * (2 * term + 1)) * series
    large = np.maximum(x, 1.0)
    far = large + np.log(-np.expm1(-2 * large) / (2 * large))
    return np.where(x < 1, np.log1p(small * series), far)


@pair_of.register
def _(event: events.ExponentialChoice) -> Pair | None:
    epsilon = float_above(event.epsilon)
    attained = pure_pair(epsilon / 2)
    if epsilon == 0:
        return NO_LOSS
    return BoundedPair(BoundedRangePair(epsilon), attained) if attained and epsilon <= MOST_EPSILON else None
