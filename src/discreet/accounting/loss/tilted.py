"""A loss under the law tilted by exp(c L): what an integral along Re s = c sums up.

The characteristic function of the centered loss is found at evenly spaced frequencies, with a bound on
its rounding, and its modulus is bounded on whole blocks of frequencies (docs/proofs/contour.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import cos, factorial, log2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tilted", "TiltedAtoms", "merge_atoms"]

UNIT = 2.0**-53
_GROUPS = 300
_ANGLE = 2.5
_FEW_FREQUENCIES = 300
_FEW_ATOMS = 12
_OVERSAMPLING = 3
_TERMS = 21


class Tilted(ABC):
    """The law with density proportional to exp(c L).

    Attributes
    ----------
    mean, variance : float
        Of the loss. All else is about the loss less its mean.
    units : float
        How many units in the last place the cumulant of one step may be off, over and above its
        own relative rounding.
    """

    mean: float
    variance: float
    units: float = 24.0

    @abstractmethod
    def line(self, step: float, count: int) -> NDArray[np.complex128]:
        """Return E exp(i y (L - mean)) at y = 0, step, …, (count - 1) step."""

    @abstractmethod
    def rounding(self, step: float, count: int) -> NDArray[np.float64]:
        """Bound the error of every number that `line` returns."""

    @abstractmethod
    def bound(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound |E exp(i y L)| over all y in [low, high]."""

    def ceiling(self, low: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound |E exp(i y L)| over all y >= low; atoms alone come back to 1 again and again."""
        return np.ones(len(low))


class TiltedAtoms(Tilted):
    """Finitely many losses."""

    def __init__(self, weights: NDArray[np.float64], losses: NDArray[np.float64]) -> None:
        increasing = np.argsort(losses, kind="stable")
        self._weights = weights[increasing] / weights.sum()
        self.mean = float(self._weights @ losses[increasing])
        self._losses = losses[increasing] - self.mean
        self.variance = float(self._weights @ self._losses**2)

    def line(self, step: float, count: int) -> NDArray[np.complex128]:
        """Sum over the atoms, in the way that is quickest."""
        return self._way(count)(self._weights, step * self._losses, count)

    def rounding(self, step: float, count: int) -> NDArray[np.float64]:
        """Phases are off by a few units of their size; the rest depends on the way of summing."""
        phases = step * np.arange(count) * (sqrt(self.variance) + abs(self.mean))
        way = _ROUNDING[self._way(count)](count)
        return np.asarray(UNIT * (16 + 4 * phases + log2(len(self._losses) + 1) + way))

    def _way(self, count: int) -> TiltedSum:
        if count <= _FEW_FREQUENCIES:
            return _by_products
        return _by_exponentials if len(self._losses) <= _FEW_ATOMS else _by_transforms

    def bound(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cut the losses into windows so narrow that no phase in one differs by more than an angle.

        Two losses of a window, D apart, have 1 - cos(y D) >= (1 - cos a) (y D / a)^2 while |y D| <= a,
        so a window of mass p and variance v adds at most p sqrt(1 - 2 (1 - cos a) y^2 v / a^2).
        """
        weights, losses, starts = merge_atoms(self._weights, self._losses, _GROUPS)
        stops = np.append(starts[1:], len(self._losses)) - 1
        first, last = self._losses[starts], self._losses[stops]
        moved = self._losses - np.repeat(losses, stops + 1 - starts)
        inner = np.add.reduceat(self._weights * moved**2, starts)
        width = np.maximum(_ANGLE / high - (last - first).max(), _ANGLE / high / 2)
        window = np.floor(losses / width[:, None] + 0.5)
        within = losses - window * width[:, None]
        change = np.ones(window.shape, bool)
        np.not_equal(window[:, 1:], window[:, :-1], out=change[:, 1:])
        begins = np.flatnonzero(change)
        ends = np.append(begins[1:], window.size) - 1
        row = begins // len(losses)
        mass = np.add.reduceat(np.broadcast_to(weights, window.shape).ravel(), begins)
        moment = weights * within
        mean = np.add.reduceat(moment.ravel(), begins) / mass
        square = np.add.reduceat((moment * within + inner).ravel(), begins) / mass
        extent = last[ends % len(losses)] - first[begins % len(losses)]
        variance = np.where(extent * high[row] <= _ANGLE, np.maximum(square - mean**2, 0.0), 0.0)
        lost = 2 * (1 - cos(_ANGLE)) / _ANGLE**2 * low[row] ** 2 * variance
        parts = mass * np.sqrt(np.maximum(1 - lost, 0.0))
        return np.asarray(np.minimum(np.bincount(row, parts, len(low)) * (1 + 1e-12), 1.0))


TiltedSum = Callable[[NDArray[np.float64], NDArray[np.float64], int], NDArray[np.complex128]]


def _by_products(
    weights: NDArray[np.float64], angles: NDArray[np.float64], count: int
) -> NDArray[np.complex128]:
    """Return the sums of weights times exp(i k angle), k < count, by repeated multiplication."""
    rows = min(32, count)
    turn = np.exp(1j * angles)
    turns = np.ones((rows, len(angles)), complex)
    for row in range(1, rows):
        np.multiply(turns[row - 1], turn, out=turns[row])
    leap = turns[-1] * turn
    sums = np.empty(count, np.complex128)
    moving = weights.astype(complex)
    for start in range(0, count, rows):
        stop = min(start + rows, count)
        sums[start:stop] = turns[: stop - start] @ moving
        moving *= leap
    return sums


def _by_exponentials(
    weights: NDArray[np.float64], angles: NDArray[np.float64], count: int
) -> NDArray[np.complex128]:
    """Return the same sums, atom by atom."""
    sums = np.zeros(count, np.complex128)
    numbers = 1j * np.arange(count)
    for weight, angle in zip(weights, angles, strict=True):
        sums += weight * np.exp(angle * numbers)
    return sums


def _transform_size(count: int) -> int:
    from scipy.fft import next_fast_len

    return int(next_fast_len(_OVERSAMPLING * count, real=True))


def _by_transforms(
    weights: NDArray[np.float64], angles: NDArray[np.float64], count: int
) -> NDArray[np.complex128]:
    """Return the same sums, by moving every angle to a grid and expanding exp(i k d) in what is left, d.

    The grid has three points for each frequency, so |k d| <= count (pi / size) <= pi / 3, and the first 21
    terms of the series leave less than 1e-18.
    """
    from scipy.fft import rfft

    size = _transform_size(count)
    spacing = 2 * pi / size
    nearest = np.round(angles / spacing)
    rest = (angles - nearest * spacing) * count
    cell = np.mod(nearest, size).astype(np.intp)
    ratio = 1j * np.arange(count) / count
    sums = np.zeros(count, np.complex128)
    for term in range(_TERMS - 1, -1, -1):
        grid = np.bincount(cell, weights * rest**term / factorial(term), size)
        sums = sums * ratio + rfft(grid)[:count].conj()
    return np.asarray(sums)


_ROUNDING: dict[TiltedSum, Callable[[int], float]] = {
    # One complex multiplication is off by less than 2.3 units, and there are `count` in a row.
    _by_products: lambda count: 2.3 * count,
    _by_exponentials: lambda count: 4.0,
    # Every path through the butterflies of a transform adds less than 8 units for each doubling
    # of its size, and the terms of the series together weigh less than exp(pi / 3) < 3.
    _by_transforms: lambda count: 24 * log2(_transform_size(count)),
}


def merge_atoms(
    weights: NDArray[np.float64], losses: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Merge neighboring atoms into at most `count`, each at the mean of its members."""
    starts = np.arange(0, len(weights), -(-len(weights) // count))
    if len(starts) == len(weights):
        return weights, losses, starts
    masses = np.add.reduceat(weights, starts)
    return masses, np.add.reduceat(weights * losses, starts) / masses, starts
