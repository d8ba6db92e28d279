"""Convex losses of linear scores, by tables of integers: a row's slopes depend on this row alone.

A loss enters a gradient only by its slopes, the derivatives by the scores. Scores arrive in steps of 2^-10,
slopes leave in steps of 2^-15, and between them are tables and divisions of integers: no row's slope depends
on how an exponential function rounds its last bit, or on which rows were beside it in a vector register.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from discreet.array_types import Floats, Integers

__all__ = [
    "HUBER_HINGE",
    "LOGISTIC",
    "SCORE_BITS",
    "SLOPE_STEPS",
    "MarginLoss",
    "OneAgainstOthers",
    "ScoreLoss",
    "Softmax",
]

SCORE_BITS = 10
"""A score of 1 has 2^10 steps."""
SLOPE_STEPS = 2**15
"""A slope of 1 has as many steps."""
_FARTHEST = 40 << SCORE_BITS  # beyond, slopes are 0 or 1 to the last step, and exponentials 0
_WEIGHT = 2**40  # of the most likely class: times the steps of a slope, below 2^63
_HALF_WIDTH = 0.5


class ScoreLoss(Protocol):
    """What a learner needs to know of a loss."""

    @property
    def name(self) -> str:
        """In words."""

    @property
    def scores(self) -> int:
        """How many scores a row has."""

    @property
    def curvature(self) -> float:
        """A bound on the second derivatives: the largest eigenvalue of their matrix."""

    @property
    def squared_length(self) -> int:
        """A bound on the sum of squared slopes of a row, in steps."""

    @property
    def total(self) -> int:
        """A bound on the sum of absolute slopes of a row, in steps."""

    def slopes(self, scores: Floats, labels: Integers) -> Integers:
        """Return the negative derivatives by the scores, in steps.

        Parameters
        ----------
        scores : array (rows, scores)
            Whole numbers, in steps.
        labels : array (rows,)
            The number of the class of each row, from 0.
        """


@dataclass(frozen=True, eq=False)
class MarginLoss:
    """A loss l(z) of the margin z of two classes: the score for class 1, its negative for class 0.

    Parameters
    ----------
    name : str
    curvature : float
        The largest second derivative.
    slope : callable
        -l'(z) for an array of margins: falls from 1 to 0.
    """

    name: str
    curvature: float
    slope: Callable[[Floats], Floats]

    @property
    def scores(self) -> int:
        """One."""
        return 1

    @property
    def squared_length(self) -> int:
        """That of a slope of 1."""
        return SLOPE_STEPS**2

    @property
    def total(self) -> int:
        """A slope of 1."""
        return SLOPE_STEPS

    @cached_property
    def _table(self) -> Integers:
        margins = np.arange(-_FARTHEST, _FARTHEST + 1) / 2**SCORE_BITS
        return np.rint(np.clip(self.slope(margins), 0.0, 1.0) * SLOPE_STEPS).astype(np.int64)

    def slopes(self, scores: Floats, labels: Integers) -> Integers:
        """Return the negative derivatives by the scores, in steps."""
        return self.signed(scores, 2 * labels[:, None] - 1)

    def signed(self, scores: Floats, signs: Integers) -> Integers:
        """Return the same where the margin of each score has its own sign."""
        places = np.clip(scores, -_FARTHEST, _FARTHEST).astype(np.int64) * signs + _FARTHEST
        return np.asarray(self._table[places] * signs, dtype=np.int64)


@dataclass(frozen=True)
class OneAgainstOthers:
    """A loss of margins for several classes: each class has a score, and a margin against all others."""

    loss: MarginLoss
    classes: int

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.loss.name}, each of {self.classes} classes against the others"

    @property
    def scores(self) -> int:
        """One for each class."""
        return self.classes

    @property
    def curvature(self) -> float:
        """That of one margin: no second derivative mixes scores."""
        return self.loss.curvature

    @property
    def squared_length(self) -> int:
        """That of one margin, for each class."""
        return self.classes * self.loss.squared_length

    @property
    def total(self) -> int:
        """That of one margin, for each class."""
        return self.classes * self.loss.total

    def slopes(self, scores: Floats, labels: Integers) -> Integers:
        """Return the negative derivatives by the scores, in steps."""
        return self.loss.signed(scores, 2 * (labels[:, None] == np.arange(self.classes)) - 1)


@dataclass(frozen=True)
class Softmax:
    """The logistic loss of several classes: -log p_y, with p_k in proportion to exp(score of class k).

    Its slopes are 1 - p_y for the class of the row, and -p_k for the others. In steps each p_k is rounded
    down, so they add up to at most 1, and the squares of the slopes to (1 - p_y)^2 + sum of the other p_k^2,
    which is at most 2 (1 - p_y)^2 <= 2. The matrix of second derivatives is at most 1/2 (Bohning 1992).
    """

    classes: int

    @property
    def name(self) -> str:
        """In words."""
        return f"logistic, {self.classes} classes"

    @property
    def scores(self) -> int:
        """One for each class."""
        return self.classes

    @property
    def curvature(self) -> float:
        """A half."""
        return 0.5

    @property
    def squared_length(self) -> int:
        """Twice that of a slope of 1."""
        return 2 * SLOPE_STEPS**2

    @property
    def total(self) -> int:
        """Two: what the class of the row lacks is what the others have."""
        return 2 * SLOPE_STEPS

    def slopes(self, scores: Floats, labels: Integers) -> Integers:
        """Return the negative derivatives by the scores, in steps."""
        behind = np.clip(scores.max(axis=1, keepdims=True) - scores, 0, _FARTHEST).astype(np.int64)
        weights = _EXPONENTIALS[behind]
        slopes = -(weights * SLOPE_STEPS // weights.sum(axis=1, keepdims=True))
        slopes[np.arange(len(slopes)), labels] += SLOPE_STEPS
        return np.asarray(slopes, dtype=np.int64)


def _logistic(margins: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(margins))


def _huber_hinge(margins: Floats) -> Floats:
    return np.clip((1.0 + _HALF_WIDTH - margins) / (2.0 * _HALF_WIDTH), 0.0, 1.0)


_EXPONENTIALS = np.rint(_WEIGHT * np.exp(-np.arange(_FARTHEST + 1) / 2**SCORE_BITS)).astype(np.int64)
LOGISTIC = MarginLoss("logistic", 0.25, _logistic)
"""log(1 + e^-z)."""
HUBER_HINGE = MarginLoss("Huber hinge", 1.0 / (2.0 * _HALF_WIDTH), _huber_hinge)
"""The hinge 1 - z, with a parabola between z = 1/2 and z = 3/2."""
