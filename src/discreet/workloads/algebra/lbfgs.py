"""A minimizer of smooth functions: limited-memory BFGS with a backtracking line search.

Vectors are short here and searches many, so that thread pools of linear algebra cost more than they
bring: inner products are plain sums.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.workloads.queries.base import Vector

__all__ = ["minimize"]

_MEMORY = 20
_DECREASE = 1e-4
_MOST_HALVINGS = 40
_FLAT = 1e-9
_LOOK_BACK = 50


def minimize(
    cost: Callable[[Vector], tuple[float, Vector]], start: Vector, steps: int, *, settled: float = 0.0
) -> tuple[Vector, float]:
    """Return a point of low cost and its cost, found from a starting point.

    Parameters
    ----------
    cost : callable
        Returns the cost at a point and its gradient there.
    start : array
        Where to begin.
    steps : int
        The most steps; the search ends earlier where the cost is flat.
    settled : float
        It also ends where the last 50 steps together lowered the cost by less than this.
    """
    point = np.array(start, dtype=np.float64)
    value, slope = cost(point)
    moves: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)
    values = deque([value], maxlen=_LOOK_BACK + 1)
    for _ in range(steps):
        direction = -_preconditioned(slope, moves)
        descent = _inner(direction, slope)
        if descent >= 0:
            moves.clear()
            direction, descent = -slope, -_inner(slope, slope)
        if -descent < _FLAT**2 * max(1.0, abs(value)):
            break
        found = _line_search(cost, point, value, direction, descent, first=not moves)
        if found is None:
            break
        next_point, next_value, next_slope = found
        move, turn = next_point - point, next_slope - slope
        curvature = _inner(move, turn)
        if curvature > 1e-12 * _inner(turn, turn):
            moves.append((move, turn, 1 / curvature))
        flat = value - next_value < _FLAT * 1e-3 * max(1.0, abs(value))
        point, value, slope = next_point, next_value, next_slope
        values.append(value)
        if flat or (len(values) > _LOOK_BACK and values[0] - value < settled):
            break
    return point, value


def _inner(first: Vector, second: Vector) -> float:
    return float((first * second).sum())


def _preconditioned(slope: Vector, moves: deque[tuple[Vector, Vector, float]]) -> Vector:
    """Multiply the gradient by the estimate of the inverse Hessian: the two loops of Nocedal (1980)."""
    result, factors = slope.copy(), []
    product = np.empty_like(slope)  # new memory for each of so many products costs more than they do
    for move, turn, inverse in reversed(moves):
        factor = inverse * float(np.multiply(move, result, out=product).sum())
        factors.append(factor)
        result -= np.multiply(turn, factor, out=product)
    if moves:
        move, turn, _ = moves[-1]
        result *= _inner(move, turn) / _inner(turn, turn)
    for (move, turn, inverse), factor in zip(moves, reversed(factors), strict=True):
        step = factor - inverse * float(np.multiply(turn, result, out=product).sum())
        result += np.multiply(move, step, out=product)
    return result


def _line_search(
    cost: Callable[[Vector], tuple[float, Vector]],
    point: Vector,
    value: float,
    direction: Vector,
    descent: float,
    *,
    first: bool,
) -> tuple[Vector, float, Vector] | None:
    """Halve the step until the cost falls enough; the very first step has length at most 1."""
    length = min(1.0, 1 / np.sqrt(_inner(direction, direction))) if first else 1.0
    for _ in range(_MOST_HALVINGS):
        candidate = point + length * direction
        found, slope = cost(candidate)
        if np.isfinite(found) and found <= value + _DECREASE * length * descent:
            return candidate, found, slope
        length /= 2
    return None
