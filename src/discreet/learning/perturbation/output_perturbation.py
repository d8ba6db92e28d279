"""Output perturbation: the minimizer of a regularized loss, with noise on it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_grid import GridRows, RowGrid
from discreet.learning.perturbation.certified_minimum import certified_minimum
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise, power_of_two
from discreet.learning.perturbation.regularization import (
    euclidean_deviation,
    for_output,
    stated_regularization,
)
from discreet.learning.perturbation.smooth_slopes import SmoothSlopes, signs_of
from discreet.learning.training.budgets import PureBudget, TrainingBudget
from discreet.learning.training.score_losses import MarginLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["OutputPerturbation"]

_PART = Fraction(1, 2**12)
"""What the solver and the grid may add to the sensitivity, each, as a part of it."""
_FINE = Fraction(2**20)
"""How many steps a row's sensitivity has where noise is tried out, to choose Lambda."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class OutputPerturbation(Record):
    """Release the minimizer of sum of l(y w x) + Lambda |w|^2 / 2, with noise (Chaudhuri et al. 2011).

    Parameters
    ----------
    grid : RowGrid
        The columns of the design, and the largest length of a row; x is a row divided by it.
    loss : MarginLoss
        Of two classes: convex, with a slope of 1 at most.
    budget : TrainingBudget
        What it costs, and with which noise: for pure epsilon, a density that falls with the Euclidean length.
    rows : int
        How many rows a person has at most.
    regularization : number, optional
        Lambda, of the sum over rows; by default a rule over public numbers.

    Guarantee
    ---------
    That of the budget, under add/remove of a person; the number of rows is private. A person with r rows
    moves the minimizer by r / Lambda at most. What is released is at most t / Lambda from it, and rounded to
    a grid, which moves it by sqrt(d) / 2 steps at most; both are charged (proof:
    docs/proofs/output_perturbation.md). As it is usually taught, for the mean over n rows, n public, with
    lambda = Lambda / n and a row replaced: the sensitivity is 2 / (lambda n), and the density falls as
    exp(-(lambda n epsilon / 2) |z|).

    Finite precision
    ----------------
    The loss is that of a table of integers. The length of the gradient where the solver stops is bounded by
    fractions and a proven error of doubles, or by integers alone. The noise is the rounding of the ideal
    vector, exactly, on integers: nothing is charged as if it were exact that is not.

    Error
    -----
    The noise has a length of about d r / (Lambda epsilon), the same in every direction. Data that say much
    about a weight do not help: that is what `ObjectivePerturbation` does better.
    """

    grid: RowGrid
    slopes: SmoothSlopes
    rows: int
    regularization: Fraction
    tolerance: Fraction
    """The longest gradient at which the solver may stop."""
    step: Fraction
    """The step of the grid of weights."""
    noise: EuclideanNoise | Gaussian | Laplace
    guarantee: Guarantee

    def __init__(
        self,
        *,
        grid: RowGrid,
        loss: MarginLoss,
        budget: TrainingBudget,
        rows: int = 1,
        regularization: Number | None = None,
    ) -> None:
        width = grid.checked_width
        held = whole(rows, "rows", least=1, most=2**20)
        if regularization is None:
            chosen = for_output(_coordinate_deviation(_noise(budget, held * _FINE, width)) / _FINE)
        else:
            chosen = stated_regularization(regularization)
        tolerance = held * _PART
        step = power_of_two(held * _PART / chosen / sqrt_interval(Fraction(width))[1])
        sensitivity = (held + 2 * tolerance) / chosen / step + sqrt_interval(Fraction(width))[1]
        self._set(
            grid=grid,
            slopes=SmoothSlopes(loss),
            rows=held,
            regularization=chosen,
            tolerance=tolerance,
            step=step,
            noise=_noise(budget, sensitivity, width),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """The law of the noise."""
        return self.noise.event

    @property
    def deviation(self) -> Fraction:
        """The standard deviation of the noise in the score of a row of length 1, about."""
        return _coordinate_deviation(self.noise) * self.step

    def minimizer_steps(self, rows: GridRows, labels: Integers) -> list[int]:
        """Return the minimizer, in steps of the grid of weights: private."""
        found = certified_minimum(
            self.slopes,
            rows,
            signs_of(labels),
            ridge=self.regularization,
            linear=(Fraction(0),) * self.grid.columns,
            tolerance=self.tolerance,
        )
        return [round(one / self.step) for one in found.weights]

    def release_steps(self, rows: GridRows, labels: Integers) -> Floats:
        """Return the weights, one column, in the units of the data, for rows that are on the grid."""
        steps = self.minimizer_steps(rows, labels)
        if isinstance(self.noise, EuclideanNoise):
            moved = self.noise.release(steps)
        else:
            moved = np.asarray(self.noise.release(np.array(steps, dtype=np.int64))).tolist()
        unit = self.step * self.grid.row_steps / (self.grid.steps * self.grid.largest)
        found: Floats = current().mark(np.array([[float(one * unit)] for one in moved]))
        return found


def _noise(budget: TrainingBudget, sensitivity: Fraction, size: int) -> EuclideanNoise | Gaussian | Laplace:
    """Return the noise of a budget for integers that move by `sensitivity` in L2."""
    if isinstance(budget, PureBudget):
        return EuclideanNoise(sensitivity=sensitivity, epsilon=budget.epsilon, size=size)
    squared = (sensitivity**2).__floor__()  # integers move by integers, so their square is one
    most = isqrt(squared)
    return budget.noise(
        Sensitivity(
            l0=size,
            l1=max(isqrt(size * squared), most),
            squared_l2=squared,
            linf=most,
            neighbors=ADD_REMOVE_PERSON,
        ),
        size,
    )


def _coordinate_deviation(noise: EuclideanNoise | Gaussian | Laplace) -> Fraction:
    """Return the standard deviation of a coordinate of the noise, in steps, about."""
    if isinstance(noise, EuclideanNoise):
        return euclidean_deviation(noise.size, noise.scale)
    return sqrt_interval(Fraction(noise.error.variance))[1]
