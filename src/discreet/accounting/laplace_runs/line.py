"""What all integrals of a run of Laplace steps along a line share: its scale, its images, its rounding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import exp, expm1, fsum, inf, pi

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.contour.contour import Line, peak
from discreet.accounting.laplace_runs.transform import cumulant
from discreet.accounting.loss.tilted import UNIT

__all__ = ["ABOVE", "LaplaceLine", "LineParts"]

ABOVE = 1.001
"""More than the rounding of bounds on what is small, for up to 10^9 steps."""

_OVERFLOW = 700.0
_LEAST = 1e-5

LineParts = Sequence[tuple[float, int]]
"""The epsilon of each kind of step, and how often it is run."""


class LaplaceLine(ABC):
    """Bounds on delta from nodes along Re s = c, at any epsilon near that of the line.

    With Q the largest loss, K(s) - s Q is a sum of n log(1 + u) in which nothing cancels; sums over nodes
    are in units of exp(K(c) - c epsilon).
    """

    def __init__(self, parts: LineParts, line: Line) -> None:
        self._parts, self._line = parts, line
        self._largest = fsum(loss * n for loss, n in parts)
        self._base, rounding = cumulant(parts, line.order)
        self._certainty = rounding + UNIT * (8 + 4 * line.order * (self._largest + abs(line.guess)))
        self._step = 2 * pi / line.period

    @abstractmethod
    def upper(self, epsilon: float) -> tuple[float, float]:
        """Return an upper bound on delta, and roughly its slope."""

    @abstractmethod
    def lower(self, epsilon: float) -> tuple[float, float]:
        """Return a lower bound on delta, and roughly its slope."""

    @property
    def _aim(self) -> float:
        """Roughly the delta of interest."""
        line = self._line
        return exp(min(line.log_delta - self._base - line.order * (self._largest - line.guess), _OVERFLOW))

    def _allowed(self, share: float) -> float:
        """Return what a relative error of epsilon makes of that delta, roughly."""
        return max(share * min(1.0, max(self._line.order * self._line.guess, _LEAST)) * self._aim, 1e-300)

    def _scale(self, epsilon: float) -> float:
        """Return exp(K(c) - c epsilon)."""
        exponent = self._base + self._line.order * (self._largest - epsilon)
        return exp(exponent) if exponent < _OVERFLOW else inf

    def _turns(self, y: NDArray[np.float64], epsilon: float) -> NDArray[np.complex128]:
        """Return exp(i y (Q - epsilon)), whose phase is off by a few units of y (Q + epsilon)."""
        return np.asarray(np.exp(1j * (self._largest - epsilon) * y))

    def _images(self, epsilon: float, smoothing: float) -> float:
        """Bound the images of the trapezoid rule, below and above (lemma 1)."""
        c, second, x = self._line.order, self._line.second, self._line.period
        smoothed = cumulant(self._parts, second)[0] + smoothing**2 * second * (second + 1) / 2
        excess = smoothed + second * (self._largest - epsilon) + float(peak(np.array([second]))[0])
        above = exp(min(excess - (second - c) * x, _OVERFLOW)) / -expm1(-(second - c) * x)
        return (exp(-c * x) / -expm1(-c * x) + above) * ABOVE
