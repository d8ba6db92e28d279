"""Linear systems by matrix-vector products alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.workloads.algebra.arrays import Real

__all__ = ["minimum_norm", "positive_solution"]

_TOLERANCE = 1e-14
_RESTARTS = 3


def minimum_norm(
    apply: Callable[[Real], Real], transpose: Callable[[Real], Real], right: Real, size: int
) -> tuple[Real, int]:
    """Return the shortest of the x that minimize norm(B x - right), and the number of steps.

    Conjugate gradients on B^T B x = B^T right from x = 0, so that every iterate lies in the range of
    B^T. In exact arithmetic there are as many steps as B has distinct singular values; restarting from the
    computed residual repairs what rounding loses.
    """
    point, steps = np.zeros(size), 0
    for _ in range(_RESTARTS):
        left = right - apply(point)
        gradient = transpose(left)
        direction, square = gradient.copy(), float(gradient @ gradient)
        goal = _TOLERANCE**2 * max(square, float(np.linalg.norm(transpose(right)) ** 2))
        for _ in range(2 * min(size, right.size) + 10):
            image = apply(direction)
            curvature = float(image @ image)
            if square <= goal or curvature == 0.0:
                break
            length = square / curvature
            point = point + length * direction
            left -= length * image
            gradient = transpose(left)
            square, before = float(gradient @ gradient), square
            direction = gradient + (square / before) * direction
            steps += 1
    return point, steps


def positive_solution(
    apply: Callable[[Real], Real], right: Real, start: Real, tolerance: float, most: int
) -> Real:
    """Return x with A x = right for a symmetric A > 0, by conjugate gradients from `start`.

    Stops when the residual is at most `tolerance` times norm(right), or after `most` steps.
    """
    point = start.copy()
    left = right - apply(point)
    direction, square = left.copy(), float(left @ left)
    goal = (tolerance * float(np.linalg.norm(right))) ** 2
    for _ in range(most):
        if square <= goal:
            break
        image = apply(direction)
        length = square / float(direction @ image)
        point += length * direction
        left -= length * image
        square, before = float(left @ left), square
        direction = left + (square / before) * direction
    return point
