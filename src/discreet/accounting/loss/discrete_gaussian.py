"""Discrete Gaussian noise: a lattice of losses without end.

On a grid of integers, with variance parameter v and a shift of k steps, noise around k against noise around
0 has the loss k (2 y - k) / (2 v) at y. Of all shifts of one value the largest is the worst
(docs/proofs/dominating_pairs.md, lemma 2). Where no value can move by two steps, the worst move is one step
of as many values as may move. Other vectors have no known worst shift; they are charged by their rho.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor, pi, sqrt

import numpy as np

from discreet.accounting.loss.cells import CellMasses, Cells, CutPair, spaced
from discreet.accounting.loss.mixture import DEVIATIONS, MOST_LOSS, normal_masses
from discreet.accounting.loss.pair import NO_LOSS, Pair, pair_of
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.records import dataclass

__all__ = ["DiscreteGaussianPair"]

_MOST_SUMMED = 300_000
_MOST_CONVOLVED = 20_000
_LEAST_VARIANCE, _MOST_VARIANCE = Fraction(1, 10**6), 10**250
_FEW = 2000
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair(CutPair):
    """Discrete Gaussian noise on some values, each of them moved by `shift` steps."""

    variance: float
    shift: int
    values: int = 1

    def outcomes(self, count: int) -> Cells:
        """Cut the integers into cells, or hold each on its own where they are few."""
        number = self._last - self._first + 1
        if self.values == 1 and number > _MOST_SUMMED:
            breaks = self._first + _ends(number, count)
            p, q = self._integrals(breaks - self.shift), self._integrals(breaks)
        else:
            p, q = self._sums(self.shift), self._sums(0)
            ends = _ends(len(p), len(p) + 1 if len(p) <= max(count, _FEW) else count)
            p, q = (np.add.reduceat(law, ends[:-1].astype(np.intp)) for law in (p, q))
            breaks = self.values * self._first + ends
        return Cells(self._losses(breaks), p, q, self._outside, self._outside)

    @property
    def largest(self) -> float:
        """The largest loss inside the cells."""
        return float(self._losses(np.array([self.values * (self._last + 1.0)]))[0])

    def _losses(self, total: Floats) -> Floats:
        """Return the loss where the values sum to a total."""
        return self.shift * (2 * total - self.values * self.shift) / (2 * self.variance)

    @property
    def _reach(self) -> int:
        return ceil(DEVIATIONS * sqrt(self.variance))

    @property
    def _first(self) -> int:
        return -self._reach

    @property
    def _last(self) -> int:
        return self.shift + self._reach

    @property
    def _outside(self) -> CellMasses:
        """Bound what either law puts outside: the noise is sub-Gaussian."""
        tails = 2 * self.values * max(exp(-min((self._reach + 1) ** 2 / (2 * self.variance), 700)), _TINY)
        return CellMasses(tails, tails)

    def _sums(self, center: int) -> Floats:
        """Return the law of the sum of all values, each around a center, at every integer."""
        law = np.exp(-((np.arange(self._first, self._last + 1.0) - center) ** 2) / (2 * self.variance))
        law /= law.sum()
        total = law
        for _ in range(1, self.values):
            total = np.convolve(total, law)
        return total

    def _integrals(self, breaks: Floats) -> Floats:
        """Return the mass from each break to before the next, by Euler and Maclaurin.

        The sum over integers is the integral less a 24th of the change of the density's slope; for so large a
        variance, what is left is less than 1e-12 of it.
        """
        z = (breaks - 0.5) / sqrt(self.variance)
        slope = -z * np.exp(-(z**2) / 2) / (sqrt(2 * pi) * self.variance)
        return np.asarray(normal_masses(z)[1] - np.diff(slope) / 24)


def _ends(number: int, count: int) -> Floats:
    """Cut 0, …, number into fewer than `count` cells, finest in the middle, or into single steps."""
    if count > number:
        return np.arange(number + 1.0)
    return np.unique(np.round(number * (spaced(max(count, 2)) + 1) / 2))


@pair_of.register
def _(event: events.DiscreteGaussian) -> Pair | None:
    squared, variance = floor(event.squared_sensitivity / event.grid**2), event.variance / event.grid**2
    if squared == 0:
        return NO_LOSS
    if not _LEAST_VARIANCE < variance < _MOST_VARIANCE or squared > _MOST_VARIANCE:
        return None
    if event.size == 1 or squared == 1:
        pair = DiscreteGaussianPair(float(variance), event.shift)
        return pair if pair.largest <= MOST_LOSS else None
    values = squared if event.size is None else min(squared, event.size)
    if squared > 3:
        return None
    pair = DiscreteGaussianPair(float(variance), 1, values)
    if values * variance > _MOST_CONVOLVED:  # the sum of so wide laws is one of them, to 1e-1000
        pair = DiscreteGaussianPair(float(values * variance), values)
    return pair if pair.largest <= MOST_LOSS else None
