"""Certified bounds on delta for any composition, by an integral along a line in the complex plane.

With K(s) the sum of the cumulants of all steps and c > 0,

    delta(epsilon) = 1/(2 pi i) ∫ exp(K(s) - s epsilon) / (s (s + 1)) ds   over Re s = c.

Four things stand between this formula and a number, and each is bounded (docs/proofs/contour.md):

- *aliasing*: the trapezoid rule with step h returns the sum over all integers m of exp(c x m)
  delta(epsilon + x m), x = 2 pi / h. Every term is non-negative, so it errs upward only, by
  a geometric series below and Chernoff's bound at a second order above;
- *truncation*: the characteristic function of the tilted loss is bounded on blocks of frequencies beyond
  the nodes that are summed. Where it does not decay, one more Gaussian step of tiny size t is run, which
  can only raise delta and makes the integrand decay like exp(-t^2 y^2 / 2);
- *smoothing*, which the lower bound must undo: the tiny step raises delta by at most the expectation of a
  narrow bump at epsilon, and that is an integral of the same kind;
- *rounding*: the error of each characteristic function, raised to the number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import ceil, exp, expm1, fsum, inf, log, log1p, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.tilted import UNIT
from discreet.records import dataclass

__all__ = ["BUMP_HEIGHT", "BUMP_WIDTH", "Contour", "Line", "LossComposition", "choose_line", "peak"]

_FAR = 37.0
_ALIAS = log(1e-11)
_NEARBY = 3.0
_TAIL = 1e-11
_MOST_NODES = 2**18
_MOST_SMOOTHING = 1.0
_FIRST_BLOCKS = 0.15 * np.arange(12)
_BLOCKS_PER_OCTAVE = 2
BUMP_WIDTH, BUMP_HEIGHT = 1.05, 0.42
"""Of the bump that covers what smoothing adds, over the size of the tiny step."""


@dataclass(frozen=True, slots=True, eq=False)
class LossComposition:
    """A composition in one direction: loss laws and how often each is run."""

    laws: Sequence[LossLaw]
    counts: Sequence[int]

    @property
    def total(self) -> int:
        """The number of steps."""
        return sum(self.counts)

    @property
    def infinity(self) -> float:
        """The probability that some step has an infinite loss."""
        logs = (n * log1p(-law.infinity) for law, n in zip(self.laws, self.counts, strict=True))
        return -expm1(sum(logs))

    def rough(self) -> LossComposition:
        """Return a similar composition that is quicker to look at."""
        return LossComposition([law.rough() for law in self.laws], self.counts)

    def cumulants_at(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the cumulant of the sum at real orders."""
        laws = zip(self.laws, self.counts, strict=True)
        return np.asarray(sum(n * law.cumulants_at(orders) for law, n in laws))


def _exp(exponent: float) -> float:
    """Return the exponential, or infinity where floats end: a bound that says nothing."""
    return exp(exponent) if exponent < 700 else inf


def peak(order: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the maximum over x > 0 of (1 - exp(-x)) exp(-order x)."""
    return order * np.log(order / (order + 1)) - np.log(order + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where the integral runs and how it is cut: free choices, every one of which gives true bounds.

    Attributes
    ----------
    order : float
        The real part c of the line.
    second : float
        A greater order, whose Chernoff bound limits the images above.
    period : float
        The distance x of the images; the step between nodes is 2 pi / x.
    smoothing : float
        The size t of the tiny Gaussian step, at most 1.
    log_delta : float
        Roughly the logarithm of the delta of interest.
    guess : float
        Roughly the epsilon there.
    """

    order: float
    second: float
    period: float
    smoothing: float
    log_delta: float
    guess: float


def choose_line(
    steps: LossComposition, log_delta: float, tolerance: float, guess: float | None = None
) -> Line:
    """Return a line that suits the composition at about this delta and epsilon.

    Parameters
    ----------
    steps : Steps
        The composition, or a rough version of it.
    log_delta : float
        The logarithm of the delta of interest.
    tolerance : float
        The relative width in epsilon that smoothing may cost.
    guess : float, optional
        The epsilon of interest; by default the least that Chernoff's bound gives for this delta.
    """
    if guess is None:
        c, guess = _best_order(steps, lambda orders, exponents: (exponents - log_delta) / orders, log_delta)
    else:
        c, _ = _best_order(steps, lambda orders, exponents: exponents - orders * guess, log_delta)
    # Near zero an epsilon matters to within a fraction of 1 / c.
    smoothing = sqrt(tolerance * max(guess, 0.1 / c) / (c + 1))
    smoothing = min(smoothing, 0.3 / (c + 1), _MOST_SMOOTHING)
    nearby = guess - _NEARBY / c
    orders = c * _LARGER
    smoothed = steps.cumulants_at(orders) + smoothing**2 * orders * (orders + 1) / 2
    excess = (smoothed - orders * nearby + peak(orders) - log_delta - _ALIAS) / (orders - c)
    best = int(np.nanargmin(excess))
    return Line(
        order=c,
        second=float(orders[best]),
        period=max((-log_delta - _ALIAS) / c, float(excess[best])),
        smoothing=smoothing,
        log_delta=log_delta,
        guess=guess,
    )


_LARGER = np.geomspace(1.02, 30, 24)
_ORDERS = np.geomspace(1e-3, 1e7, 41)
_ORDERS_NEAR_ONE = np.geomspace(0.3, 1e7, 41)


def _best_order(
    steps: LossComposition,
    badness: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    log_delta: float,
) -> tuple[float, float]:
    """Return the order at which a function of it and of Chernoff's exponent is least, and that least."""
    # Where delta is close to one the bound is least at an order near zero, which would make the
    # period of the trapezoid rule endless.
    orders = _ORDERS_NEAR_ONE if log_delta > log(0.5) else _ORDERS
    for _ in range(3):
        values = badness(orders, steps.cumulants_at(orders) + peak(orders))
        best = int(np.nanargmin(values))
        order, least = float(orders[best]), float(values[best])
        low, high = log(orders[max(best - 1, 0)]), log(orders[min(best + 1, len(orders) - 1)])
        orders = np.exp(np.linspace(low, high, 9))
    return order, least


def _borders(start: float, end: float) -> NDArray[np.float64]:
    """Cut [start, end] into blocks, finer at first, where one more block saves the most nodes."""
    octaves = log2(end / start)
    first = _FIRST_BLOCKS[octaves > _FIRST_BLOCKS]
    rest = np.linspace(first[-1], octaves, int(_BLOCKS_PER_OCTAVE * (octaves - first[-1])) + 2)
    return np.asarray(start * 2 ** np.concatenate([first, rest[1:]]))


class Contour:
    """Nodes along Re s = c for one composition, from which delta is bounded at any epsilon nearby.

    Parameters
    ----------
    steps : Steps
        The composition.
    line : Line
        Where to integrate. More smoothing is used where nodes would be too many, none where none is needed.
    """

    def __init__(self, steps: LossComposition, line: Line) -> None:
        self.line = line
        self._counts = steps.counts
        self._tilted = [law.tilted(line.order) for law in steps.laws]
        self._step = 2 * pi / line.period
        orders = np.array([line.order, line.second])
        self._cumulant, self._second_cumulant = map(float, steps.cumulants_at(orders))
        self._second_peak = float(peak(orders)[1])
        self._mean = fsum(n * law.mean for n, law in zip(steps.counts, self._tilted, strict=True))
        self._certainty = UNIT * sum(
            n * (law.units + 4 * line.order * (abs(law.mean) + sqrt(law.variance)))
            for n, law in zip(steps.counts, self._tilted, strict=True)
        ) + 8 * UNIT * (abs(self._cumulant) + line.order * abs(line.guess))
        self._choose_nodes()
        self._fill_nodes()

    def _product(self, bounds: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Bound the characteristic function of all steps, from a bound for each law."""
        with np.errstate(divide="ignore"):
            return np.exp(sum(n * np.log(bound) for n, bound in zip(self._counts, bounds, strict=True)))

    def _choose_nodes(self) -> None:
        """Take as many nodes as it needs for what lies beyond them to be certifiably small."""
        c, line = self.line.order, self.line
        variance = sum(n * law.variance for n, law in zip(self._counts, self._tilted, strict=True))
        start = 4 / sqrt(variance + c**-2 + (c + 1) ** -2)
        # What may be left out of both integrals, in units of exp(K(c) - c epsilon) / pi.
        allowed = _TAIL * pi * exp(min(line.log_delta - self._cumulant + c * line.guess, 700.0))
        octaves = np.float64(start) * 2.0 ** np.arange(max(int(log2(_MOST_NODES * self._step / start)), 1))
        ceiling = self._product(law.ceiling(octaves) for law in self._tilted)
        unsmoothed = ceiling * (1 / octaves + self._step / octaves**2)
        if (unsmoothed <= allowed).any():
            first = int(np.argmax(unsmoothed <= allowed))
            self.line = replace(line, smoothing=0.0)
            self._cut(start, float(octaves[first]), float(unsmoothed[first]), allowed)
            return
        while True:
            end = sqrt(2 * _FAR) / self.line.smoothing
            beyond = self._envelope(np.array([end]))[0] * (1 / (self.line.smoothing**2 * end) + self._step)
            self._cut(start, end, float(beyond), allowed)
            if self.nodes <= _MOST_NODES:
                return
            if self.line.smoothing > min(_MOST_SMOOTHING, 30 / (c + 1)) / 2:
                self._give_up()
                return
            self.line = replace(self.line, smoothing=2 * self.line.smoothing)

    def _give_up(self) -> None:
        """Sum nothing: the bound on all that is left out says that nothing is known."""
        self.nodes, self._tail = 1, inf

    def _cut(self, start: float, end: float, beyond: float, allowed: float) -> None:
        """Choose the number of nodes and bound the sum over those left out, block by block."""
        if start < end:
            borders = _borders(start, end)
            low, high = borders[:-1], borders[1:]
            parts = (
                self._product(law.bound(low, high) for law in self._tilted)
                * self._envelope(low)
                * (high - low + self._step)
            )
            tails = np.append(np.cumsum(parts[::-1])[::-1], 0.0) + beyond
            enough = int(np.argmax(tails <= max(allowed, beyond)))
            end, beyond = float(borders[enough]), float(tails[enough])
        self.nodes = max(ceil(end / self._step), 1) + 1
        self._tail = beyond / pi

    @property
    def _bump(self) -> float:
        """The integral of the bump."""
        t = self.line.smoothing
        return BUMP_HEIGHT * t * sqrt(2 * pi) * BUMP_WIDTH * t

    def _envelope(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound both integrands, except for the characteristic function: decreasing in y."""
        c, t = self.line.order, self.line.smoothing
        width = BUMP_WIDTH * t
        kernel = np.exp(t**2 * (c * (c + 1) - y**2) / 2) / y**2
        return np.asarray(kernel + self._bump * np.exp(width**2 * (c**2 - y**2) / 2))

    def _fill_nodes(self) -> None:
        c, t, count = self.line.order, self.line.smoothing, self.nodes
        y = self._step * np.arange(count)
        modulus, inflated, phase = np.zeros(count), np.zeros(count), np.zeros(count)
        with np.errstate(divide="ignore"):
            for n, law in zip(self._counts, self._tilted, strict=True):
                values = law.line(self._step, count)
                size = np.abs(values)
                modulus += n * np.log(size)
                inflated += n * np.log(size + law.rounding(self._step, count))
                phase += n * np.angle(values)
        weights = np.full(count, self._step / pi)
        weights[0] /= 2
        s = c + 1j * y
        plain = weights * np.exp(modulus + 1j * phase)
        error = weights * (np.exp(inflated) - np.exp(modulus))
        smooth = np.exp(t**2 * s * (s + 1) / 2) / (s * (s + 1))
        bump = self._bump * np.exp((BUMP_WIDTH * t * s) ** 2 / 2)
        self._y, self._s = y, s
        self._kernel, self._bumped = plain * smooth, plain * bump
        sizes = np.abs(self._kernel) + np.abs(self._bumped)
        self._rounding = float(error @ (np.abs(smooth) + np.abs(bump))) + 64 * UNIT * float(sizes.sum())
        self._drift = 4 * UNIT * float(sizes @ y)

    def _scale(self, epsilon: float) -> float:
        return _exp(self._cumulant - self.line.order * epsilon)

    def _left_out(self, epsilon: float) -> float:
        """Bound truncation and rounding of either sum, in units of `_scale`."""
        return self._tail + self._rounding + self._drift * (abs(self._mean) + abs(epsilon))

    def suits(self, epsilon: float) -> bool:
        """Return whether the line was chosen for about this epsilon."""
        return epsilon >= self.line.guess - _NEARBY / self.line.order

    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, without the mass at infinity, and its slope; NaN says nothing."""
        with np.errstate(all="ignore"):
            return self._upper(epsilon)

    def _upper(self, epsilon: float) -> tuple[float, float]:
        terms = self._kernel * np.exp(1j * (self._mean - epsilon) * self._y)
        scale = self._scale(epsilon) * (1 + self._certainty)
        bound = scale * (float(terms.real.sum()) + self._left_out(epsilon))
        return bound, -scale * float((terms * self._s).real.sum())

    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and roughly its slope; NaN says nothing."""
        with np.errstate(all="ignore"):
            return self._lower(epsilon)

    def _lower(self, epsilon: float) -> tuple[float, float]:
        turns = np.exp(1j * (self._mean - epsilon) * self._y)
        terms = self._kernel * turns
        scale = self._scale(epsilon) * max(1 - self._certainty, 0.0)
        total = float(terms.real.sum()) - float((self._bumped * turns).real.sum())
        bound = scale * (total - 2 * self._left_out(epsilon)) - self._images(epsilon)
        return bound, -scale * float((terms * self._s).real.sum())

    def _images(self, epsilon: float) -> float:
        """Bound the images of the trapezoid rule, below and above."""
        c, second, x, t = self.line.order, self.line.second, self.line.period, self.line.smoothing
        below = exp(-c * x) / -expm1(-c * x)
        smoothed = self._second_cumulant + t**2 * second * (second + 1) / 2
        excess = smoothed - second * epsilon + self._second_peak
        return below + _exp(excess - (second - c) * x) / -expm1(-(second - c) * x)
