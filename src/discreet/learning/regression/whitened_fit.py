"""What a whitened regression gives: weights, coefficients and their intervals, from public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from statistics import NormalDist

import numpy as np

from discreet.array_types import Floats
from discreet.curator.request.learner import Drawn
from discreet.learning.design.features import Features
from discreet.learning.regression.row_frame import RowFrame
from discreet.learning.regression.whitened_regression import CLIP_STEPS, WEIGHT_BITS, WhitenedRegression
from discreet.mechanisms.additive.laplace import Laplace
from discreet.privacy.rational import Number, confidence_level

__all__ = ["WhitenedFit"]

_OF_NOISE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhitenedFit:
    """A linear model, made of what a `WhitenedRegression` drew. All of it is public.

    Attributes
    ----------
    features : Features
        The columns within the limits that were found; what is beyond is clipped.
    weights : array
        Of the coordinates of the features, and of the constant, which is the last.
    coefficients : array
        In the units of the columns, and of keys.
    intercept : float
    deviations : array
        The standard deviation of each coefficient and of the intercept: noise and errors together.
    shifts : array
        A bound on what the noise shifts them by on average.
    heavy : bool
        Whether the noise has the tails of Laplace's law.
    """

    features: Features
    weights: Floats
    coefficients: Floats
    intercept: float
    deviations: Floats
    shifts: Floats
    heavy: bool

    @classmethod
    def of(cls, learner: WhitenedRegression, drawn: Drawn, *, penalty: float | None = 0.0) -> WhitenedFit:
        """Return the fit, or that of ridge regression with a penalty on squared coefficients.

        Without a number the penalty is a quarter of what the noise in the second moments is worth: its
        deviation times the root of the number of coordinates, on coordinates that are 1 at their limits.

        theta = theta0 + M (g - P theta0), g the gradient at theta0, M = (G + P + L)^-1, P the penalty.
        """
        grid = learner.grid
        narrow = learner.narrowed(np.asarray(drawn["limits"], dtype=np.int64))
        turn = _turn(learner, drawn, narrow.factors)
        scale, middle = narrow.units
        count, high = len(scale), narrow.target.half_width
        # A weight of 1 in the last coordinates, in the units of the response for each of the features'.
        weights = np.zeros((count + 1, grid.columns))
        weights[: len(turn)] = turn * (2 * high * grid.row_steps / grid.steps)
        inner = weights[:count] / scale[:, None]
        directions = np.vstack([inner, weights[count] - middle @ inner])
        moments = learner.noisy_moments(np.asarray(drawn["moments"], dtype=np.float64))
        if penalty is None:
            alike = turn[:count] / narrow.factors[:count, None]
            size = _OF_NOISE * moments.noise * sqrt(grid.columns) * learner.first_frame.largest**2
            added = size * (alike.T @ alike)
        else:
            added = penalty * (inner.T @ inner) / (2 * high) ** 2
        inverse, raised = moments.inverse(added)
        start = np.ldexp(np.asarray(drawn["start"], dtype=np.float64), -WEIGHT_BITS)
        unit = drawn["clip"] / (CLIP_STEPS * grid.steps**2)
        gradient = np.asarray(drawn["gradient"], dtype=np.float64) * unit
        theta = start + inverse @ (gradient - added @ start)
        found = weights @ theta
        found[count] += narrow.target.middle if learner.intercept else 0.0
        values = directions @ theta
        spread = _Spread(
            matrix=moments.believed,
            inverse=inverse,
            raised=raised,
            moved=inverse @ added @ start,
            theta=theta,
            variance=moments.variance,
            noise=moments.noise,
            gradient_noise=sqrt(learner.gradient.error.variance) * unit,
        )
        deviations, shifts = spread.of(directions)
        return cls(
            features=narrow.features,
            weights=found,
            coefficients=values[:count],
            intercept=float(values[count] + (narrow.target.middle if learner.intercept else 0.0)),
            deviations=deviations,
            shifts=shifts,
            heavy=isinstance(learner.gradient, Laplace),
        )

    def half_widths(self, confidence: Number = 0.95) -> Floats:
        """Return half the width of the interval of each coefficient, and of the intercept.

        They hold the coefficients of a linear model of the clipped columns, with independent errors of one
        variance, with about this probability over noise and errors together (proof page, proposition 6).
        """
        beyond = float(1 - confidence_level(confidence))
        times = NormalDist().inv_cdf(1 - beyond / 2)
        if self.heavy:
            times = max(times, log(1 / beyond) / sqrt(2))  # of one Laplace number; of sums it is less
        return times * self.deviations + self.shifts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Spread:
    """What the deviation of theta consists of."""

    matrix: Floats
    inverse: Floats
    raised: Floats
    moved: Floats
    theta: Floats
    variance: float
    noise: float
    gradient_noise: float

    def of(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return the standard deviation of each direction of theta, and a bound on its mean error.

        Of first order are the noise of the gradient and the errors of the model; of second order the noise
        of the moments, and what was added to small eigenvalues, both times the error of the start.
        """
        reach = directions @ self.inverse
        square = self.noise**2
        first = self.gradient_noise**2 * (reach**2).sum(axis=1) + self.variance * _forms(reach, self.matrix)
        size = 1 + float(self.theta @ self.theta)
        start = self.inverse @ (square * size * np.eye(len(self.theta)) + self.variance * self.matrix)
        start = start @ self.inverse + np.outer(self.moved, self.moved)
        lifted = reach @ self.raised
        second = square * (np.trace(start) * (reach**2).sum(axis=1) + _forms(reach, start))
        second += _forms(lifted, start)
        mean = square * (np.trace(self.inverse) * self.theta + self.inverse @ self.theta)
        shifts = np.abs(reach @ mean) + np.abs(lifted @ (self.inverse @ (self.raised @ self.theta)))
        return np.sqrt(first + second), shifts


def _forms(rows: Floats, matrix: Floats) -> Floats:
    """Return the quadratic form of each row, which is not negative but for rounding."""
    return np.asarray(((rows @ matrix) * rows).sum(axis=1).clip(0.0), dtype=np.float64)


def _turn(learner: WhitenedRegression, drawn: Drawn, factors: Floats) -> Floats:
    """Return by what coordinates are multiplied to become rows no longer than 1."""
    frame = learner.first_frame
    if drawn["turn"] is not None:
        bits, matrix = drawn["turn"]
        frame = RowFrame(matrix=np.asarray(matrix, dtype=np.int64), bits=bits, largest=learner.turned_length)
    found: Floats = factors[:, None] * frame.floats(len(factors)) / frame.largest
    return found
