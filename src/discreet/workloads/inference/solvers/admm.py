"""Least squares inside several convex sets at once, by alternating directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discreet.workloads.algebra.arrays import Real
from discreet.workloads.inference.sets.base import ConvexSet
from discreet.workloads.inference.solvers.objective import Fit

__all__ = ["Solution", "alternate"]

_RELAXED = 1.6
_CHECK = 10
_BALANCE = 20
_MOST_BALANCING = 4000
_LOPSIDED = 3.0


class Solution(NamedTuple):
    """The best point found, what it misses the optimum by, the number of steps, how far sets are apart."""

    point: Real
    residual: float
    steps: int
    apart: float = 0.0


def alternate(
    objective: Fit, sets: Sequence[ConvexSet], start: Real, *, tolerance: float, most: int
) -> Solution:
    """Minimize a quadratic over the intersection of convex sets.

    The alternating direction method of multipliers (Boyd and others 2011), with one copy for each set.

    Each set K_j has its copy z_j of x and its multiplier u_j. In turn x moves by a proximal step
    toward the mean of z_j - u_j, each z_j is the projection of x + u_j on K_j, and u_j gathers
    x + u_j - z_j. So rate u_j is always normal to K_j at z_j, and

        residual = max(norm(x - z_j), norm(gradient f(z_1) + rate sum u_j))

    in the largest entry says by how much the conditions for the optimum are missed: nothing else can
    be wrong (proof: docs/proofs/inference.md). Iterates are kept until none is better; the point
    returned is z_1, which lies in the first set to the last digit.
    """
    copies = [start.copy() for _ in sets]
    duals = [np.zeros(start.size) for _ in sets]
    point, rate = start.copy(), 1.0
    best = Solution(start, np.inf, 0)
    first = float(np.linalg.norm(objective.gradient(np.zeros(start.size))))
    for step in range(1, most + 1):
        center = np.mean([copy - dual for copy, dual in zip(copies, duals, strict=True)], axis=0)
        point = objective.proximal(center, rate * len(sets), point)
        before = copies
        copies = []
        for index, member in enumerate(sets):
            mixed = _RELAXED * point + (1 - _RELAXED) * before[index]
            copies.append(member.project(mixed + duals[index]))
            duals[index] = duals[index] + mixed - copies[index]
        if step % _CHECK and step != most:
            continue
        gradient = objective.gradient(copies[0])
        apart = max(float(np.abs(copies[0] - copy).max(initial=0.0)) for copy in copies)
        unbalanced = float(np.abs(gradient + rate * np.sum(duals, axis=0)).max(initial=0.0))
        residual = max(apart, unbalanced)
        if residual < best.residual:
            best = Solution(copies[0], residual, step, apart)
        if best.residual <= tolerance:
            break
        if step % _BALANCE == 0 and step <= _MOST_BALANCING:
            size = max(float(np.linalg.norm(vector)) for vector in (start, point, *copies))
            primal = max(float(np.linalg.norm(point - copy)) for copy in copies)
            dual = rate * max(
                float(np.linalg.norm(new - old)) for new, old in zip(copies, before, strict=True)
            )
            force = max(first, float(np.linalg.norm(gradient)))
            factor = _rebalanced(primal, size, dual, force)
            rate *= factor
            duals = [multiplier / factor for multiplier in duals]
    return best


def _rebalanced(primal: float, size: float, dual: float, force: float) -> float:
    """Return the factor by which the rate changes: up when sets disagree more than copies move."""
    if min(primal, size, dual, force) <= 0:
        return 1.0
    factor = float(np.sqrt(primal / size * force / dual))
    return min(max(factor, 0.1), 10.0) if not 1 / _LOPSIDED < factor < _LOPSIDED else 1.0
