"""Minimizing a convex loss of linear scores by Newton steps: one noisy matrix, and noisy gradients."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.row_grid import ROW_BITS, GridRows, RowGrid, blocks_of
from discreet.learning.training.normal_budget import NormalBudget
from discreet.learning.training.score_losses import SCORE_BITS, SLOPE_STEPS, ScoreLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["NoisyNewton"]

_WEIGHT_BITS = 20
_LONGEST = 2.0**20  # of weights: a margin's terms add up to 2^52 at most, which doubles hold exactly
# On Adult (24,129 rows, 105 columns), and on 3,000 of its rows, at epsilon 0.1 to 4, no other share, ridge or
# number of steps that was tried was better by more than a point.
_ITERATIONS = 20
_MATRIX_SHARE = Fraction(1, 5)
_RIDGE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class NoisyNewton(Record):
    """Minimize the sum of l(W^T x, y) over rows x with labels y, for a convex loss l of scores, privately.

    The matrix G = X^T X is released once. Then weights W are improved a fixed number of times: the gradient
    at W is released, and W moves by the inverse of c G + ridge times it, where c bounds the second
    derivatives of the loss by the scores. As c G is at least the matrix of second derivatives everywhere, no
    step is too long but for the noise, and where data are rich a few steps are enough. The result is the mean
    of the weights of the second half.

    Parameters
    ----------
    grid : RowGrid
        The columns of X, at most 1,000, and the largest length of a row; longer rows are shortened. No
        intercept is added: give a constant column.
    loss : ScoreLoss
    budget : NormalBudget
        What it costs: rho, mu, or epsilon and delta.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    iterations : int
        How often a gradient is released.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. In steps, N = 2^12 for the longest row and 2^15 for a
    slope of 1, one row moves the upper half of G by at most N^2 in L2, and every gradient by at most N times
    the length of the row's slopes, whatever weights the earlier answers led to. A fifth of rho, or of the
    square of mu, is for G; the gradients share the rest (proof: docs/proofs/noisy_newton.md).

    Finite precision
    ----------------
    Rows are rounded to integers, each by itself. Weights are rounded to integers before they meet a row, so
    scores are sums of products of integers below 2^53, exact in any order; slopes are made by tables of
    integers; sums over rows are integer sums. The noise is that of `Gaussian`.

    Error
    -----
    The noise in each coordinate of a gradient, divided by c G + ridge. The ridge is half of what the noise in
    G can turn: s sqrt(columns) / 2, s the scale of that noise.
    """

    grid: RowGrid
    loss: ScoreLoss
    rows: int
    iterations: int
    matrix: Gaussian
    """The noise on the upper half of X^T X."""
    gradient: Gaussian
    """The noise on each gradient."""
    guarantee: Guarantee

    def __init__(
        self,
        *,
        grid: RowGrid,
        loss: ScoreLoss,
        budget: NormalBudget,
        rows: int = 1,
        iterations: int = _ITERATIONS,
    ) -> None:
        width = whole(grid.columns, "columns", least=1, most=1000)
        held = whole(rows, "rows", least=1, most=2**20)
        times = whole(iterations, "iterations", least=2, most=1000)

        def noise(squared_l2: int, size: int, share: Fraction) -> Gaussian:
            sensitivity = Sensitivity(
                l0=size,
                l1=isqrt(size * held**2 * squared_l2),
                squared_l2=held**2 * squared_l2,
                linf=isqrt(held**2 * squared_l2),
                neighbors=ADD_REMOVE_PERSON,
            )
            return budget.share(share).noise(sensitivity, size)

        self._set(
            grid=grid,
            loss=loss,
            rows=held,
            iterations=times,
            matrix=noise(grid.steps**4, width * (width + 1) // 2, _MATRIX_SHARE),
            gradient=noise(
                grid.steps**2 * loss.squared_length, width * loss.scores, (1 - _MATRIX_SHARE) / times
            ),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """The release of the matrix and those of all gradients, composed."""
        return self.matrix.event + self.gradient.event * self.iterations

    def release(self, design: ArrayLike, labels: ArrayLike) -> Floats:
        """Return the weights, a column for each score, in the units of the data.

        Never fails on data: not a number counts as 0, infinities and long rows are shortened, and no rows
        have weights like any others.

        Parameters
        ----------
        design : array (rows, columns)
        labels : array (rows,)
            The number of each row's class, from 0; what is no class is refused.
        """
        return self.release_steps(self.grid.rounded(design), labels)

    def release_steps(self, rows: GridRows, labels: ArrayLike) -> Floats:
        """Return the weights for rows that are already on the grid."""
        numbers = np.asarray(labels)
        most = max(self.loss.scores, 2)
        if numbers.shape != rows.shape[:1] or not np.isin(numbers, np.arange(most)).all():
            raise ParameterError("labels", "are not one class for each row", f"numbers from 0 to {most - 1}")
        numbers = numbers.astype(np.int64)
        inverse = self._inverse(self._released_matrix(rows))
        weights, kept = (np.zeros((self.grid.columns, self.loss.scores)) for _ in range(2))
        late = self.iterations // 2
        for time in range(self.iterations):
            weights = _shortened(weights + inverse @ self._released_gradient(rows, numbers, weights))
            kept += weights if time >= late else 0.0
        unit = float(self.grid.row_steps / (self.grid.steps * self.grid.largest))
        return kept / (self.iterations - late) * unit

    def _released_matrix(self, rows: GridRows) -> Floats:
        """Release X^T X, for rows of length 1 at most."""
        products = np.zeros((self.grid.columns, self.grid.columns), dtype=np.int64)
        for _, part in blocks_of(rows):
            products += (part.T @ part).astype(np.int64)
        upper = np.triu_indices(self.grid.columns)
        square = np.zeros(products.shape)
        square[upper] = np.asarray(self.matrix.release(products[upper]), dtype=np.float64)
        found: Floats = current().mark((np.triu(square, 1).T + square) / self.grid.steps**2)
        return found

    def _inverse(self, matrix: Floats) -> Floats:
        """Return (c G + ridge)^-1, with negative eigenvalues of a noisy G raised to 0."""
        scale = sqrt(self.matrix.error.sub_gaussian) / self.grid.steps**2
        values, vectors = np.linalg.eigh(matrix)
        bent = self.loss.curvature * np.maximum(values, 0.0)
        inverse: Floats = (vectors / (bent + _RIDGE * scale * sqrt(self.grid.columns))) @ vectors.T
        return inverse

    def _released_gradient(self, rows: GridRows, labels: Integers, weights: Floats) -> Floats:
        """Release the negative gradient at weights, for rows of length 1 at most."""
        moved = self.gradient.release(self.gradient_steps(rows, labels, weights).ravel())
        steps = np.asarray(moved, dtype=np.float64).reshape(weights.shape)
        found: Floats = current().mark(steps / (self.grid.steps * SLOPE_STEPS))
        return found

    def gradient_steps(self, rows: GridRows, labels: Integers, weights: Floats) -> Integers:
        """Return the sum of rows times slopes, in steps: exact."""
        whole_weights = np.rint(weights * 2.0**_WEIGHT_BITS)
        unit = 2.0 ** (SCORE_BITS - ROW_BITS - _WEIGHT_BITS)
        total = np.zeros(weights.shape, dtype=np.int64)
        for place, part in blocks_of(rows):
            slopes = self.loss.slopes(np.floor((part @ whole_weights) * unit), labels[place])
            total += (part.T @ slopes.astype(np.float64)).astype(np.int64)
        return total


def _shortened(weights: Floats) -> Floats:
    """Return weights of which no column is too long for exact sums."""
    lengths: Floats = np.linalg.norm(weights, axis=0)
    return weights * (_LONGEST / np.maximum(lengths, _LONGEST))
