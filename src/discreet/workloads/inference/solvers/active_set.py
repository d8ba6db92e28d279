"""Least squares inside one convex set, by projected gradients and conjugate gradients on its faces."""

from __future__ import annotations

import numpy as np

from discreet.workloads.algebra.arrays import Real
from discreet.workloads.inference.sets.base import ConvexSet
from discreet.workloads.inference.solvers.admm import Solution
from discreet.workloads.inference.solvers.objective import Quadratic

__all__ = ["descend"]

_GRADIENT_STEPS = 3
_HALVINGS = 40
_PROGRESS = 1e-4
_COARSE = 0.05
_FINE = 1e-14
_ROUNDING = 1e-9


def descend(objective: Quadratic, member: ConvexSet, start: Real, *, tolerance: float, most: int) -> Solution:
    """Minimize a quadratic, scaled to curvatures of at most 1, over a set with an exact projection.

    In turn a few steps x <- P(x - gradient) find a face, and conjugate gradients minimize over it; what
    leaves the set is projected back, and shortened until the objective falls (Moré & Toraldo 1991). A
    face that comes again is searched to the last digit.

    With z = P(x - g), v = x - g - z is normal to the set at z, so the largest entry of gradient f(z) + v
    says by how much z misses the optimum, however it was found (proof: docs/proofs/inference.md).
    """
    point = member.project(start)
    gradient = objective.gradient(point)
    best = Solution(point, np.inf, 0)
    settled = False
    for step in range(1, most + 1):
        before = point
        for _ in range(_GRADIENT_STEPS):
            moved = member.project(point - gradient)
            slope = objective.gradient(moved)
            residual = float(np.abs(slope + (point - gradient - moved)).max(initial=0.0))
            point, gradient = moved, slope
            if residual < best.residual:
                best = Solution(point, residual, step)
            if residual <= tolerance:
                return best
        direction = _face_minimum(objective, member, point, gradient, settled=settled)
        point, gradient = _shortened(objective, member, point, gradient, direction)
        settled = _in_face(member, point, point - before)
    return best


def _in_face(member: ConvexSet, point: Real, change: Real) -> bool:
    """Return whether a change stayed within the face of the point that it led to, up to rounding."""
    outside = np.abs(member.along(point, change) - change).max(initial=0.0)
    return bool(outside <= _ROUNDING * np.abs(change).max(initial=0.0))


def _face_minimum(
    objective: Quadratic, member: ConvexSet, point: Real, gradient: Real, *, settled: bool
) -> Real:
    """Return a step to the minimum over the face of a point, by conjugate gradients.

    On a face that may not be the last, until a step gains little in comparison with the best one.
    """
    left = -member.along(point, gradient)
    step, direction = np.zeros(point.size), left.copy()
    square = float(left @ left)
    goal = _FINE**2 * square
    most = 0.0
    for _ in range(2 * point.size + 20):
        if square <= goal:
            break
        image = member.along(point, objective.curvature(direction))
        bend = float(direction @ image)
        if bend <= 0:
            break
        length = square / bend
        step += length * direction
        left -= length * image
        gained = length * square
        most = max(most, gained)
        if not settled and gained < _COARSE * most:
            break
        square, former = float(left @ left), square
        direction = left + (square / former) * direction
    return step


def _shortened(
    objective: Quadratic, member: ConvexSet, point: Real, gradient: Real, direction: Real
) -> tuple[Real, Real]:
    """Return the projection of the longest of the halved steps that lowers the objective, and its gradient.

    Between two points the quadratic falls by half the sum of their gradients times the difference.
    """
    length = 1.0
    for _ in range(_HALVINGS):
        moved = member.project(point + length * direction)
        slope = objective.gradient(moved)
        change = moved - point
        if 0.5 * float(change @ (gradient + slope)) <= _PROGRESS * min(float(gradient @ change), 0.0):
            return moved, slope
        length /= 2
    return point, gradient
