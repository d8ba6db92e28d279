"""Certified bounds on delta for any composition, by an integral along a line in the complex plane.

With K(s) the sum of the cumulants of all steps and c > 0,

    delta(epsilon) = 1/(2 pi i) ∫ exp(K(s) - s epsilon) / (s (s + 1)) ds   over Re s = c.

Four things stand between this formula and a number, and each is bounded (docs/proofs/contour.md):

- *aliasing*: the trapezoid rule with step h returns the sum over all integers m of exp(c x m)
  delta(epsilon + x m), x = 2 pi / h. Every term is non-negative, so it errs upward only, by
  a geometric series below and Chernoff's bound at a second order above;
- *truncation*: one more Gaussian step of tiny size t can only raise delta, and makes the integrand
  decay like exp(-t^2 y^2 / 2). Between the nodes that are summed and that decay, blocks of
  frequencies on which the characteristic function is bounded dispose of the rest;
- *smoothing*, which the lower bound must undo: the tiny step raises delta by at most the expectation of a
  narrow bump at epsilon, and that is an integral of the same kind;
- *rounding*: a relative error of each cumulant, times the number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.law import LossLaw, Tilted, lipschitz

__all__ = ["Contour", "Steps", "best_order", "peak"]

_UNIT = 2.0**-53
_FAR = 37.0
_ALIAS = log(1e-9)
_TAIL = 1e-8
_MOST_BLOCKS = 600
_MOST_TERMS = 30_000_000
_MOST_SMOOTHING = 1.0
_QUICK_ROUNDS = 4
_BUMP_WIDTH, _BUMP_HEIGHT = 1.05, 0.42


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A composition in one direction: loss laws and how often each is run."""

    laws: Sequence[LossLaw]
    counts: Sequence[int]

    @property
    def total(self) -> int:
        """The number of steps."""
        return sum(self.counts)

    @property
    def size(self) -> int:
        """How many atoms all laws have together."""
        return sum(law.size for law in self.laws)

    @property
    def infinity(self) -> float:
        """The probability that some step has an infinite loss."""
        logs = (n * log1p(-law.infinity) for law, n in zip(self.laws, self.counts, strict=True))
        return -expm1(sum(logs))

    def rough(self) -> Steps:
        """Return a similar composition that is quicker to look at."""
        return Steps([law.rough() for law in self.laws], self.counts)

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the cumulant of the sum at real orders."""
        laws = zip(self.laws, self.counts, strict=True)
        return np.asarray(np.sum([n * law.cumulants_at(orders) for law, n in laws], axis=0))


def _exp(exponent: float) -> float:
    """Return the exponential, or infinity where floats end: a bound that says nothing."""
    return exp(exponent) if exponent < 700 else inf


def peak(order: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the maximum over x > 0 of (1 - exp(-x)) exp(-order x)."""
    return order * np.log(order / (order + 1)) - np.log(order + 1)


def best_order(steps: Steps, log_delta: float) -> tuple[float, float]:
    """Return the order at which Chernoff's bound on epsilon is least, and that bound."""
    # Where delta is close to one the bound is least at an order near zero, which would make the
    # period of the trapezoid rule endless.
    orders = np.geomspace(0.3 if log_delta > log(0.5) else 1e-3, 1e7, 41)
    for _ in range(3):
        bounds = (steps.cumulants_at(orders) - log_delta + peak(orders)) / orders
        best = int(np.nanargmin(bounds))
        order, bound = float(orders[best]), float(bounds[best])
        orders = np.geomspace(orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)], 9)
    return order, bound


class Contour:
    """Nodes along Re s = c for one composition, from which delta is bounded at any epsilon nearby.

    Parameters
    ----------
    steps : Steps
        The composition.
    log_delta : float
        Roughly the logarithm of the delta of interest.
    tolerance : float
        The relative width in epsilon that smoothing may cost.
    """

    def __init__(self, steps: Steps, log_delta: float, tolerance: float = 1e-5) -> None:
        self._steps, self._rough = steps, steps.rough()
        self.order, self.guess = best_order(self._rough, log_delta)
        c = self.order
        # Near zero an epsilon matters to within a fraction of 1 / c.
        self._smooth = min(sqrt(tolerance * max(self.guess, 0.1 / c) / (c + 1)), _MOST_SMOOTHING)
        while True:
            self._alias_orders(log_delta)
            self._step = 2 * pi / self._period
            if self._choose_nodes(log_delta, limited=self._smooth <= _MOST_SMOOTHING / 2):
                break
            self._smooth *= 2  # a wider interval, in half the time
        self._fill_nodes()

    def _smoothed(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._steps.cumulants_at(orders) + self._smooth**2 * orders * (orders + 1) / 2

    def _alias_orders(self, log_delta: float) -> None:
        """Choose the second order and the period, so that aliases are about 1e-9 of delta."""
        c, nearby = self.order, self.guess - 3 / self.order
        orders = c * np.geomspace(1.02, 30, 24)
        smooth = self._rough.cumulants_at(orders) + self._smooth**2 * orders * (orders + 1) / 2
        excess = smooth - orders * nearby + peak(orders) - log_delta - _ALIAS
        self._second = float(orders[int(np.nanargmin(excess / (orders - c)))])
        second = np.array([self._second])
        self._second_cumulant = float(self._smoothed(second)[0])
        excess_at_second = self._second_cumulant + float(
            (peak(second) - second * nearby)[0] - log_delta - _ALIAS
        )
        self._period = max((-log_delta - _ALIAS) / c, excess_at_second / (self._second - c))

    def _choose_nodes(self, log_delta: float, *, limited: bool) -> bool:
        """Take as many nodes as it needs for what lies beyond them to be certifiably small.

        Tells whether they are few enough to be visited.
        """
        c, step = self.order, self._step
        nearby = c * np.array([1 - 1e-3, 1, 1 + 1e-3])
        low, self._cumulant, high = self._smoothed(nearby)
        variance = max((low - 2 * self._cumulant + high) / (1e-3 * c) ** 2, 1e-12) + c**-2 + (c + 1) ** -2
        self._end = sqrt(2 * _FAR) / self._smooth
        width = _BUMP_WIDTH * self._smooth
        self._bump = _BUMP_HEIGHT * self._smooth * sqrt(2 * pi) * width
        # What is left out of both integrals, in units of exp(K(c) - c epsilon) / pi.
        allowed = _TAIL * pi * exp(min(log_delta - float(self._cumulant) + c * self.guess, 700.0)) / 4
        tilted = [law.tilted(c) for law in self._steps.laws]
        self.nodes = int(9 / sqrt(variance) / step) + 3
        while True:
            start = self.nodes * step
            if start >= self._end:
                self._tail = 0.0
                return True
            self._tail = self._beyond(tilted, start, allowed)
            if self._tail <= allowed:
                return True
            self.nodes = 2 * self.nodes + 1
            if limited and self.nodes * self._steps.size > _MOST_TERMS:
                return False

    def _beyond(self, tilted: list[Tilted], start: float, allowed: float) -> float:
        """Bound the sum over all nodes in [start, end] of both integrands, block by block."""
        blocks = np.geomspace(start, self._end, max(2, int(log(self._end / start) / 0.22) + 2))
        low, high, settled, used, rounds = blocks[:-1], blocks[1:], 0.0, 0, 0
        while True:
            used, rounds = used + len(low), rounds + 1
            logs = np.zeros(len(low))
            for law, count in zip(tilted, self._steps.counts, strict=True):
                modulus = law.quick_modulus(low) if rounds <= _QUICK_ROUNDS else law.modulus(low)
                square = modulus**2 + lipschitz(law.variance, low, high)
                logs += count / 2 * np.log(np.minimum(square, 1.0))
            parts = np.exp(logs) * self._envelope(low) * (high - low + self._step)
            total = settled + float(parts.sum())
            if total <= allowed or used > _MOST_BLOCKS:
                return total
            large = parts > allowed / (4 * len(parts))
            settled += float(parts[~large].sum())
            middle = (low[large] + high[large]) / 2
            low, high = np.concatenate([low[large], middle]), np.concatenate([middle, high[large]])

    def _envelope(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound both integrands, but for the characteristic function: decreasing in y."""
        width = _BUMP_WIDTH * self._smooth
        kernel = np.exp(-((self._smooth * y) ** 2) / 2) / y**2
        bump = self._bump * _exp((width * self.order) ** 2 / 2) * np.exp(-((width * y) ** 2) / 2)
        return np.asarray(kernel + bump)

    def _fill_nodes(self) -> None:
        c, step, count = self.order, self._step, self.nodes
        s = c + 1j * step * np.arange(count)
        laws = zip(self._steps.laws, self._steps.counts, strict=True)
        cumulants = np.sum([n * law.line(c, step, count) for law, n in laws], axis=0)
        self._s = s
        self._kernel = cumulants + self._smooth**2 * s * (s + 1) / 2 - np.log(s) - np.log(s + 1)
        self._bumped = cumulants + (_BUMP_WIDTH * self._smooth * s) ** 2 / 2 + log(self._bump)
        self._weights = np.full(count, step / pi)
        self._weights[0] /= 2
        self._rounding = self._steps.total * _UNIT * (64 + count)

    def _truncation(self, epsilon: float) -> float:
        """Bound what is left out of either integral."""
        far = exp(-_FAR) * (
            1 / self._end + self._bump * _exp((2 * self._smooth * self.order) ** 2) * self._end
        )
        return _exp(float(self._cumulant) - self.order * epsilon) / pi * (self._tail + far)

    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, without the mass at infinity, and its slope."""
        terms = self._weights * np.exp(self._kernel - self._s * epsilon)
        bound = float(terms.sum().real) * (1 + self._rounding) + self._truncation(epsilon)
        return bound, -float((terms * self._s).sum().real)

    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and roughly its slope."""
        terms = self._weights * np.exp(self._kernel - self._s * epsilon)
        bump = float((self._weights * np.exp(self._bumped - self._s * epsilon)).sum().real)
        c, x = self.order, self._period
        below = exp(-c * x) / -expm1(-c * x)
        excess = self._second_cumulant - self._second * epsilon + float(peak(np.array([self._second]))[0])
        above = _exp(excess - (self._second - c) * x) / -expm1(-(self._second - c) * x)
        bound = float(terms.sum().real) * (1 - self._rounding) - bump * (1 + self._rounding)
        return bound - below - above - 2 * self._truncation(epsilon), -float((terms * self._s).sum().real)
