"""Least-squares objectives: f(x) = 1/2 sum w_i ((A x)_i - y_i)^2.

Scaled so that a gradient has the units of a cell. Each knows its gradient, its curvature and its proximal
step, argmin f(x) + rate / 2 norm(x - center)^2.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Operator, Real
from discreet.workloads.algebra.conjugate_gradients import minimum_norm, positive_solution

__all__ = ["DenseFit", "Distance", "Fit", "ImplicitFit", "Quadratic"]

_POWER_STEPS = 40
_TOLERANCE = 1e-13


class Quadratic(Protocol):
    """A convex quadratic function of cells."""

    @property
    def size(self) -> int:
        """How many cells there are."""
        ...

    def gradient(self, x: Real) -> Real:
        """Return its gradient."""
        ...

    def curvature(self, direction: Real) -> Real:
        """Return its second derivative, A^T W A, along a direction."""
        ...


class Fit(Quadratic, Protocol):
    """A least-squares objective, with its minimum and its proximal step."""

    def proximal(self, center: Real, rate: float, start: Real) -> Real:
        """Return argmin f(x) + rate / 2 norm(x - center)^2, searching from `start` where it must search."""
        ...

    def minimum(self) -> Real:
        """Return the shortest x that minimizes it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distance:
    """A = 1: the weighted distance to the answers."""

    answers: Real
    weights: Real

    @property
    def size(self) -> int:
        """One cell for each answer."""
        return self.answers.size

    def gradient(self, x: Real) -> Real:
        """W (x - y)."""
        return self.weights * (x - self.answers)

    def curvature(self, direction: Real) -> Real:
        """W v."""
        return self.weights * direction

    def proximal(self, center: Real, rate: float, start: Real) -> Real:
        """(w y + rate c) / (w + rate), entry by entry."""
        del start
        return (self.weights * self.answers + rate * center) / (self.weights + rate)

    def minimum(self) -> Real:
        """The answers."""
        return self.answers.copy()


class DenseFit:
    """A small matrix A, by the singular values of W^(1/2) A; scaled so that the largest is 1."""

    def __init__(self, matrix: Real, answers: Real, weights: Real) -> None:
        root = np.sqrt(weights)
        left, values, right = np.linalg.svd(matrix * root[:, None], full_matrices=False)
        scale = float(values.max(initial=0.0)) or 1.0
        self._matrix, self._answers, self._weights = matrix, answers, weights / scale**2
        self._basis = right
        self._squares = (values / scale) ** 2
        kept = values > scale * max(matrix.shape) * np.finfo(float).eps
        rotated = np.divide(left.T @ (root * answers), values, out=np.zeros_like(values), where=kept)
        self._shortest = right.T @ rotated
        self._target = matrix.T @ (self._weights * answers)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self._matrix.shape[1])

    def gradient(self, x: Real) -> Real:
        """A^T W (A x - y)."""
        moved: Real = self._matrix.T @ (self._weights * (self._matrix @ x - self._answers))
        return moved

    def curvature(self, direction: Real) -> Real:
        """A^T W A v."""
        moved: Real = self._basis.T @ (self._squares * (self._basis @ direction))
        return moved

    def proximal(self, center: Real, rate: float, start: Real) -> Real:
        """(A^T W A + rate)^-1 (A^T W y + rate c), in the singular basis."""
        del start
        right = self._target + rate * center
        inside = self._basis @ right
        shrunk = self._squares / (self._squares + rate)
        moved: Real = (right - self._basis.T @ (shrunk * inside)) / rate
        return moved

    def minimum(self) -> Real:
        """The shortest least-squares solution."""
        shortest: Real = self._shortest.copy()
        return shortest


class ImplicitFit:
    """An operator A, by conjugate gradients; scaled by its largest singular value, found by power steps."""

    def __init__(self, operator: Operator, answers: Real, weights: Real) -> None:
        self._operator, self._answers = operator, answers
        vector = 1 + np.arange(self.size) % 7 / 7.0
        scale = 1.0
        for _ in range(_POWER_STEPS):
            vector = operator.rmatvec(weights * operator.matvec(vector))
            scale = float(np.linalg.norm(vector)) or 1.0
            vector = vector / scale
        self._weights = weights / scale
        self._target = operator.rmatvec(self._weights * answers)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self._operator.shape[1]

    def curvature(self, direction: Real) -> Real:
        """A^T W A v."""
        moved: Real = self._operator.rmatvec(self._weights * self._operator.matvec(direction))
        return moved

    def gradient(self, x: Real) -> Real:
        """A^T W (A x - y)."""
        moved: Real = self.curvature(x) - self._target
        return moved

    def proximal(self, center: Real, rate: float, start: Real) -> Real:
        """(A^T W A + rate)^-1 (A^T W y + rate c), by conjugate gradients."""
        return positive_solution(
            lambda x: self.curvature(x) + rate * x,
            self._target + rate * center,
            start,
            _TOLERANCE,
            most=4 * self.size + 20,
        )

    def minimum(self) -> Real:
        """The shortest least-squares solution."""
        root = np.sqrt(self._weights)
        return minimum_norm(
            lambda x: root * self._operator.matvec(x),
            lambda y: self._operator.rmatvec(root * y),
            root * self._answers,
            self.size,
        )[0]
