"""Minimizing a strongly convex sum of losses up to a proven distance: Newton steps with a certificate.

F(w) = sum of l(y w x) + ridge |w|^2 / 2 + linear w, over rows x of length 1 at most. As F is strongly convex,
w is at most |F'(w)| / ridge away from the minimizer, so a bound on a gradient is all that has to be proven.
The certificate is arithmetic of fractions on a sum with a proven error; how w was found does not matter to
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from discreet.array_types import Floats
from discreet.learning.design.row_blocks import blocks_of
from discreet.learning.design.row_grid import ROW_BITS, GridRows
from discreet.learning.perturbation.smooth_slopes import SlopeSum, SmoothSlopes
from discreet.privacy.directed import sqrt_interval

__all__ = ["CertifiedMinimum", "certified_minimum"]

_MOST_STEPS = 200  # with numbers of one length
_FIRST_BITS = 64
_MORE_BITS = 32
_MOST_HALVINGS = 48
_FLATTER = 8  # by which factor a searched step makes the way down flatter
_SHORTER = 8  # by which factor a step by some of the rows shortens the gradient, or more of them are used
_FEWEST = 2**14  # of rows that second derivatives are summed over, if there are as many,
_ROWS_FOR_EACH = 2**9  # and for each column

Weights: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class CertifiedMinimum:
    """A point, and a bound on the length of the gradient there: proven."""

    weights: Weights
    gradient: Fraction


class _Numbers(Protocol):
    """The numbers that weights are kept to, and the sums that are computed with them."""

    def rounded(self, weights: Weights) -> Weights:
        """Return the nearest such numbers."""

    def summed(self, weights: Weights) -> SlopeSum:
        """Return the sum of slopes times rows at such weights."""


@dataclass(frozen=True, slots=True)
class _Data:
    """The rows, and what is asked of them."""

    slopes: SmoothSlopes
    rows: GridRows
    signs: Floats


class _Doubles(_Data):
    """Weights that are doubles; sums with a proven error."""

    def rounded(self, weights: Weights) -> Weights:
        """Return the nearest doubles."""
        return tuple(map(Fraction, _floats(weights).tolist()))

    def summed(self, weights: Weights) -> SlopeSum:
        """Return the sum by doubles."""
        return self.slopes.rounded_sum(self.rows, self.signs, _floats(weights))


@dataclass(frozen=True, slots=True)
class _Integers(_Data):
    """Weights that are multiples of 2^-bits; sums without error."""

    bits: int

    def rounded(self, weights: Weights) -> Weights:
        """Return the nearest multiples."""
        return tuple(Fraction(round(one * (1 << self.bits)), 1 << self.bits) for one in weights)

    def summed(self, weights: Weights) -> SlopeSum:
        """Return the sum by integers."""
        steps = [int(one * (1 << self.bits)) for one in weights]
        return self.slopes.exact_sum(self.rows, self.signs, steps, self.bits)


@dataclass(frozen=True, slots=True)
class _Point:
    """Weights, the gradient there, and what it may be off by."""

    weights: Weights
    gradient: Weights
    error: Fraction

    @property
    def bound(self) -> Fraction:
        """The length of the true gradient at most."""
        return sqrt_interval(sum((one * one for one in self.gradient), Fraction(0)))[1] + self.error


@dataclass(frozen=True)
class _Objective:
    """What is minimized, with a matrix M that is at least the second derivatives everywhere."""

    data: _Data
    ridge: Fraction
    linear: Weights

    @cached_property
    def root(self) -> Floats:
        """A triangular root of M: only where Newton's steps fail is it needed."""
        columns = self.data.rows.shape[1]
        products = np.zeros((columns, columns))
        for _, part in blocks_of(self.data.rows):
            products += part.T @ part
        # More than the bound on second derivatives, by what doubles lose: every such matrix has a root.
        most = float(self.data.slopes.curvature) * products / 4.0**ROW_BITS
        most += (float(self.ridge) * (1 + 2.0**-20) + len(self.data.rows) * 2.0**-30) * np.eye(columns)
        return np.asarray(np.linalg.cholesky(most), dtype=np.float64)

    def moved(self, weights: Weights, step: Floats, numbers: _Numbers) -> _Point:
        """Return the point a step away from weights."""
        there = numbers.rounded(
            tuple(w - Fraction(one) for w, one in zip(weights, step.tolist(), strict=True))
        )
        total = numbers.summed(there)
        parts = zip(there, self.linear, total.values, strict=True)
        return _Point(there, tuple(self.ridge * w + b - one for w, b, one in parts), total.error)

    def merit(self, point: _Point) -> float:
        """Return |M^(-1/2) gradient|, which a step by M^-1 shortens by a factor below 1."""
        return float(np.linalg.norm(np.linalg.solve(self.root, _floats(point.gradient))))

    def newton(self, point: _Point, every: int) -> Floats:
        """Return the step of Newton's method, with second derivatives of one row in `every`."""
        held = self.data
        rows, signs = held.rows[::every], held.signs[::every]
        bent = every * held.slopes.second_derivatives(rows, signs, _floats(point.weights))
        np.fill_diagonal(bent, bent.diagonal() + float(self.ridge))
        try:
            step = np.asarray(np.linalg.solve(bent, _floats(point.gradient)), dtype=np.float64)
        except np.linalg.LinAlgError:
            return self.cautious(point)
        return step if np.isfinite(step).all() else self.cautious(point)

    def cautious(self, point: _Point) -> Floats:
        """Return the step M^-1 gradient, which is never too long."""
        step: Floats = np.linalg.solve(self.root.T, np.linalg.solve(self.root, _floats(point.gradient)))
        return step

    def better(self, point: _Point, numbers: _Numbers, tolerance: Fraction, every: int) -> _Point | None:
        """Return a point farther down, by a part of Newton's step or a cautious one; or None."""
        step = self.newton(point, every)
        if _along(point, step) > point.error * _length(step):  # downhill for certain
            tried = self.line_searched(point, step, numbers, tolerance)
            if tried.weights != point.weights:
                return tried
        tried = self.moved(point.weights, self.cautious(point), numbers)
        return tried if self.merit(tried) < self.merit(point) else None

    def line_searched(self, point: _Point, step: Floats, numbers: _Numbers, tolerance: Fraction) -> _Point:
        """Return a point on the way of a step, short of the lowest one, and much nearer to it than the start.

        What is minimized is convex along the step, so its derivative there has one sign before the lowest
        point and another beyond: halving finds it, whatever kinks the rows put in between.
        """
        first, nearest, part, gap = _along(point, step), point, 1.0, 1.0
        for _ in range(_MOST_HALVINGS):
            tried = self.moved(point.weights, part * step, numbers)
            left = _along(tried, step)
            if tried.bound <= tolerance or 0 <= left <= first / _FLATTER or (left >= 0 and part == 1.0):
                return tried
            gap /= 2
            if left >= 0:
                nearest = tried
                part += gap
            else:
                part -= gap
        return nearest

    def descended(self, weights: Weights, numbers: _Numbers, tolerance: Fraction, most: int) -> _Point:
        """Return where the gradient is short for certain, or where steps no longer help.

        Some of many rows say enough about second derivatives, as long as gradients get much shorter.
        """
        point = self.moved(weights, np.zeros(len(weights)), numbers)
        every = max(1, len(self.data.rows) // max(_FEWEST, _ROWS_FOR_EACH * len(weights)))
        for _ in range(most):
            if point.bound <= tolerance or (tried := self.better(point, numbers, tolerance, every)) is None:
                break
            if tried.bound * _SHORTER > point.bound:
                every = max(1, every // 4)
            point = tried
        return point


def certified_minimum(
    slopes: SmoothSlopes,
    rows: GridRows,
    signs: Floats,
    *,
    ridge: Fraction,
    linear: Sequence[Fraction],
    tolerance: Fraction,
) -> CertifiedMinimum:
    """Return weights at which the gradient is no longer than `tolerance`, for certain.

    Doubles get there for all but extreme data. Where they do not, integers of growing length do: there is no
    failure that data could cause.

    Parameters
    ----------
    slopes : SmoothSlopes
    rows : array (rows, columns)
        In steps.
    signs : array (rows,)
        1 or -1.
    ridge : Fraction
        Positive.
    linear : sequence of Fraction
        What each weight is multiplied by.
    tolerance : Fraction
        Positive.
    """
    objective = _Objective(_Data(slopes, rows, signs), ridge, tuple(linear))
    start = (Fraction(0),) * rows.shape[1]
    point = objective.descended(start, _Doubles(slopes, rows, signs), tolerance, _MOST_STEPS)
    bits = _FIRST_BITS
    while not point.bound <= tolerance:
        numbers = _Integers(slopes, rows, signs, bits)
        point = objective.descended(point.weights, numbers, tolerance, _MOST_STEPS)
        bits += _MORE_BITS
    return CertifiedMinimum(point.weights, point.bound)


def _along(point: _Point, step: Floats) -> Fraction:
    """Return by how much a step goes downhill at a point, for each part of it."""
    return sum((g * Fraction(one) for g, one in zip(point.gradient, step.tolist(), strict=True)), Fraction(0))


def _length(step: Floats) -> Fraction:
    """Return the length of a step at most."""
    return sqrt_interval(sum((Fraction(one) ** 2 for one in step.tolist()), Fraction(0)))[1]


def _floats(vector: Weights) -> Floats:
    return np.array([float(one) for one in vector])
