"""Minimizing a strongly convex sum of losses up to a proven distance: Newton steps with a certificate.

F(w) = sum of l(y w x) + ridge |w|^2 / 2 + linear w, over rows x of length 1 at most. As F is strongly convex, w
is at most |F'(w)| / ridge away from the minimizer, so a bound on a gradient is all that has to be proven. The
certificate is arithmetic of fractions on a sum with a proven error; how w was found does not matter to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.array_types import Floats
from discreet.learning.design.row_grid import ROW_BITS, GridRows, blocks_of
from discreet.learning.perturbation.smooth_slopes import SlopeSum, SmoothSlopes

__all__ = ["CertifiedMinimum", "certified_minimum"]

_MOST_IN_DOUBLES = 200
_FIRST_BITS = 64
_MORE_BITS = 32
_SHORTEST = 2.0**-10

Weights = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class CertifiedMinimum:
    """A point, and a bound on the length of the gradient there: proven."""

    weights: Weights
    gradient: Fraction


@dataclass(frozen=True, slots=True)
class _Objective:
    """What is minimized, with a matrix M that is at least the second derivatives everywhere."""

    slopes: SmoothSlopes
    rows: GridRows
    signs: Floats
    ridge: Fraction
    linear: Weights
    root: Floats
    """A triangular root of M."""

    def gradient(self, weights: Weights, total: SlopeSum) -> Weights:
        """Return the gradient, up to the error of the sum."""
        return tuple(
            self.ridge * w + b - one for w, b, one in zip(weights, self.linear, total.values, strict=True)
        )

    def merit(self, gradient: Weights) -> float:
        """Return |M^(-1/2) gradient|, which a step by M^-1 shortens by a factor below 1 (lemma 5)."""
        return float(np.linalg.norm(np.linalg.solve(self.root, _floats(gradient))))

    def majorized(self, gradient: Weights) -> Floats:
        """Return M^-1 gradient."""
        step: Floats = np.linalg.solve(self.root.T, np.linalg.solve(self.root, _floats(gradient)))
        return step

    def newton(self, weights: Weights, gradient: Weights) -> Floats:
        """Return the step of Newton's method."""
        bent = self.slopes.second_derivatives(self.rows, self.signs, _floats(weights))
        step: Floats = np.linalg.solve(bent + float(self.ridge) * np.eye(len(weights)), _floats(gradient))
        return step


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
    columns = rows.shape[1]
    products = np.zeros((columns, columns))
    for _, part in blocks_of(rows):
        products += part.T @ part
    # A millionth more than the bound on second derivatives, for what doubles lose.
    most = float(slopes.curvature) * (1 + 1e-6) * products / 4.0**ROW_BITS
    most += float(ridge) * (1 + 1e-6) * np.eye(columns)
    objective = _Objective(slopes, rows, signs, ridge, tuple(linear), np.linalg.cholesky(most))
    start: Weights = (Fraction(0),) * columns
    found = _descended(
        objective,
        start,
        lambda weights: slopes.rounded_sum(rows, signs, _floats(weights)),
        lambda weights: tuple(map(Fraction, _floats(weights).tolist())),
        tolerance,
        most=_MOST_IN_DOUBLES,
    )
    bits = _FIRST_BITS
    while not found.gradient <= tolerance:
        found = _descended(
            objective,
            tuple(Fraction(round(one * (1 << bits)), 1 << bits) for one in found.weights),
            lambda weights, bits=bits: slopes.exact_sum(  # type: ignore[misc]
                rows, signs, [int(one * (1 << bits)) for one in weights], bits
            ),
            lambda weights, bits=bits: tuple(  # type: ignore[misc]
                Fraction(round(one * (1 << bits)), 1 << bits) for one in weights
            ),
            tolerance,
            most=None,
        )
        bits += _MORE_BITS
    return found


def _descended(
    objective: _Objective,
    weights: Weights,
    summed: Callable[[Weights], SlopeSum],
    rounded: Callable[[Weights], Weights],
    tolerance: Fraction,
    *,
    most: int | None,
) -> CertifiedMinimum:
    """Take steps until the gradient is short enough, or steps make it no shorter."""
    total = summed(weights)
    gradient = objective.gradient(weights, total)
    times = 0
    while not (bound := _length(gradient) + total.error) <= tolerance and times != most:
        merit, times = objective.merit(gradient), times + 1
        moves = [(objective.newton(weights, gradient), 1.0)]
        while moves:
            step, part = moves.pop()
            tried = rounded(
                tuple(w - Fraction(part * one) for w, one in zip(weights, step.tolist(), strict=True))
            )
            total_there = summed(tried)
            there = objective.gradient(tried, total_there)
            if objective.merit(there) <= (1 - part / 4) * merit:
                break
            if part > _SHORTEST:
                moves.append((step, part / 2))
        else:
            tried = rounded(
                tuple(
                    w - Fraction(one)
                    for w, one in zip(weights, objective.majorized(gradient).tolist(), strict=True)
                )
            )
            total_there = summed(tried)
            there = objective.gradient(tried, total_there)
            if not objective.merit(there) < merit:
                break
        weights, total, gradient = tried, total_there, there
    return CertifiedMinimum(weights, bound)


def _length(vector: Weights) -> Fraction:
    """Return the Euclidean length, rounded up."""
    from discreet.privacy.directed import sqrt_interval

    return sqrt_interval(sum((one * one for one in vector), Fraction(0)))[1]


def _floats(vector: Weights) -> Floats:
    return np.array([float(one) for one in vector])
