"""Minimizing a convex loss of linear scores by Newton steps: one noisy matrix, and noisy gradients."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.indicator_rows import DenseRows, IndicatorRows, RowSet
from discreet.learning.design.row_grid import ROW_BITS, GridRows, RowGrid
from discreet.learning.training.budgets import PureBudget, TrainingBudget
from discreet.learning.training.score_losses import SCORE_BITS, SLOPE_STEPS, ScoreLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

__all__ = ["NewtonPlan", "NoisyNewton"]

_WEIGHT_BITS = 20
_LONGEST = 2.0**20  # of weights: a margin's terms add up to 2^52 at most, which doubles hold exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class NewtonPlan:
    """The public numbers of a run."""

    iterations: int
    """How often a gradient is released."""
    matrix_share: Fraction
    """The part of the budget that is for the matrix."""
    ridge: float
    """How much is added to its diagonal: as many times the deviation of its noise, times sqrt(columns)."""


# On Adult (24,129 rows, 105 columns), and on 3,000 of its rows, at epsilon 0.1 to 4: no other numbers that
# were tried were better by more than half a point. Laplace noise grows with the number of releases, normal
# noise with its root.
_NORMAL = NewtonPlan(iterations=20, matrix_share=Fraction(1, 5), ridge=0.5)
_PURE = NewtonPlan(iterations=4, matrix_share=Fraction(7, 20), ridge=0.15)


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
    budget : TrainingBudget
        What it costs, and with which noise.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    plan : NewtonPlan, optional
        Its public numbers; by default those that did best on real data, for normal or Laplace noise.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. In steps, N = 2^12 for the longest row and 2^15 for a
    slope of 1, one row moves the upper half of G by at most N^2 in L2, and every gradient by at most N times
    the length of the row's slopes, whatever weights the earlier answers led to; in L1, for pure epsilon, by
    (A^2 + N^2) / 2, and A times the sum of slopes, with A the largest sum of a row's coordinates. A part of
    the budget is for G; the gradients share the rest (proof: docs/proofs/noisy_newton.md).

    Finite precision
    ----------------
    Rows are rounded to integers, each by itself. Weights are rounded to integers before they meet a row, so
    scores are sums of products of integers below 2^53, exact in any order; slopes are made by tables of
    integers; sums over rows are integer sums. The noise is that of `Gaussian` or `Laplace`.

    Error
    -----
    The noise in each coordinate of a gradient, divided by c G + ridge.
    """

    grid: RowGrid
    loss: ScoreLoss
    rows: int
    plan: NewtonPlan
    matrix: Laplace | Gaussian
    """The noise on the upper half of X^T X."""
    gradient: Laplace | Gaussian
    """The noise on each gradient."""
    guarantee: Guarantee

    def __init__(
        self,
        *,
        grid: RowGrid,
        loss: ScoreLoss,
        budget: TrainingBudget,
        rows: int = 1,
        plan: NewtonPlan | None = None,
    ) -> None:
        width = grid.checked_width
        held = whole(rows, "rows", least=1, most=2**20)
        chosen = plan or (_PURE if isinstance(budget, PureBudget) else _NORMAL)

        def noise(total: int, squared_l2: int, size: int, share: Fraction) -> Laplace | Gaussian:
            most = isqrt(held**2 * squared_l2)
            sensitivity = Sensitivity(
                l0=size,
                l1=max(min(held * total, isqrt(size * held**2 * squared_l2)), most),
                squared_l2=held**2 * squared_l2,
                linf=most,
                neighbors=ADD_REMOVE_PERSON,
            )
            return budget.share(share).noise(sensitivity, size)

        self._set(
            grid=grid,
            loss=loss,
            rows=held,
            plan=chosen,
            matrix=noise(
                (grid.total**2 + grid.steps**2) // 2,
                grid.steps**4,
                width * (width + 1) // 2,
                chosen.matrix_share,
            ),
            gradient=noise(
                grid.total * loss.total,
                grid.steps**2 * loss.squared_length,
                width * loss.scores,
                (1 - chosen.matrix_share) / chosen.iterations,
            ),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """The release of the matrix and those of all gradients, composed."""
        return self.matrix.event + self.gradient.event * self.plan.iterations

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

    def release_steps(self, rows: GridRows | IndicatorRows, labels: ArrayLike) -> Floats:
        """Return the weights for rows that are already on the grid.

        Rows may have fewer columns than the grid: those beyond are 0. They have their noise as all others,
        and no weights.
        """
        held: RowSet = rows if isinstance(rows, IndicatorRows) else DenseRows(rows)
        numbers, width = np.asarray(labels), held.width
        most = max(self.loss.scores, 2)
        if numbers.shape != (len(rows),) or not np.isin(numbers, np.arange(most)).all():
            raise ParameterError("labels", "are not one class for each row", f"numbers from 0 to {most - 1}")
        numbers = numbers.astype(np.int64)
        inverse = self._inverse(self._released_matrix(held))
        weights, kept = (np.zeros((width, self.loss.scores)) for _ in range(2))
        late = self.plan.iterations // 2
        for time in range(self.plan.iterations):
            weights = _shortened(weights + inverse @ self._released_gradient(held, numbers, weights))
            kept += weights if time >= late else 0.0
        unit = float(self.grid.row_steps / (self.grid.steps * self.grid.largest))
        return kept / (self.plan.iterations - late) * unit

    def _released_matrix(self, rows: RowSet) -> Floats:
        """Release X^T X, for rows of length 1 at most."""
        width = rows.width
        products = np.zeros((self.grid.columns, self.grid.columns), dtype=np.int64)
        products[:width, :width] = rows.products()
        upper = np.triu_indices(self.grid.columns)
        square = np.zeros(products.shape)
        square[upper] = np.asarray(self.matrix.release(products[upper]), dtype=np.float64)
        found: Floats = current().mark((np.triu(square, 1).T + square) / self.grid.steps**2)
        return found[:width, :width]

    def _inverse(self, matrix: Floats) -> Floats:
        """Return (c G + ridge)^-1, with negative eigenvalues of a noisy G raised to 0."""
        scale = sqrt(self.matrix.error.variance) / self.grid.steps**2
        values, vectors = np.linalg.eigh(matrix)
        bent = self.loss.curvature * np.maximum(values, 0.0)
        inverse: Floats = (vectors / (bent + self.plan.ridge * scale * sqrt(len(matrix)))) @ vectors.T
        return inverse

    def _released_gradient(self, rows: RowSet, labels: Integers, weights: Floats) -> Floats:
        """Release the negative gradient at weights, for rows of length 1 at most."""
        width, scores = weights.shape
        exact = np.zeros((self.grid.columns, scores), dtype=np.int64)
        exact[:width] = self.gradient_steps(rows, labels, weights)
        steps = np.asarray(self.gradient.release(exact.ravel()), dtype=np.float64).reshape(exact.shape)
        found: Floats = current().mark(steps / (self.grid.steps * SLOPE_STEPS))
        return found[:width]

    def gradient_steps(self, rows: RowSet, labels: Integers, weights: Floats) -> Integers:
        """Return the sum of rows times slopes, in steps: exact."""
        whole_weights = np.rint(weights * 2.0**_WEIGHT_BITS)
        unit = 2.0 ** (SCORE_BITS - ROW_BITS - _WEIGHT_BITS)
        total = np.zeros(weights.shape, dtype=np.int64)
        for place, part in rows.parts():
            slopes = self.loss.slopes(np.floor(part.scores(whole_weights) * unit), labels[place])
            total += part.sums(slopes.astype(np.float64))
        return total


def _shortened(weights: Floats) -> Floats:
    """Return weights of which no column is too long for exact sums."""
    lengths: Floats = np.linalg.norm(weights, axis=0)
    return weights * (_LONGEST / np.maximum(lengths, _LONGEST))
