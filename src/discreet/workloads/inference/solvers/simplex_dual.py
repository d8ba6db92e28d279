"""Non-negative cells of a known total: the total gets a price, and the price is adjusted until it is met."""

from __future__ import annotations

import numpy as np

from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real
from discreet.workloads.inference.sets.simplex import NonNegative, Simplex
from discreet.workloads.inference.solvers.active_set import descend
from discreet.workloads.inference.solvers.admm import Solution
from discreet.workloads.inference.solvers.objective import Quadratic

__all__ = ["descend_on_simplex"]

_STIFFNESS = 30.0
_MOST_PRICES = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Priced:
    """f(x) + price (sum x - N) + stiffness / (2 n) (sum x - N)^2, scaled to curvatures of at most 1."""

    objective: Quadratic
    total: float
    price: float

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.objective.size

    def gradient(self, x: Real) -> Real:
        """The gradient of f, and one pull on all cells."""
        pull = self.price + _STIFFNESS / self.size * (float(x.sum()) - self.total)
        return (self.objective.gradient(x) + pull) / (1 + _STIFFNESS)

    def curvature(self, direction: Real) -> Real:
        """The curvature of f, and stiffness along the total."""
        pull = _STIFFNESS / self.size * float(direction.sum())
        return (self.objective.curvature(direction) + pull) / (1 + _STIFFNESS)


def descend_on_simplex(
    objective: Quadratic, member: Simplex, start: Real, *, tolerance: float, most: int
) -> Solution:
    """Minimize a quadratic over non-negative cells of a known total (method of multipliers).

    Projecting a long step on the simplex shifts every cell, on the non-negative cells only those that
    crossed zero: so the total is held by a price instead, which gathers what the total is missed by. The last
    steps are on the simplex itself, and certify the result as `descend` does.
    """
    point, price, steps = np.maximum(start, 0.0), 0.0, 0
    for _ in range(_MOST_PRICES):
        priced = _Priced(objective=objective, total=member.total, price=price)
        inner = tolerance / (4 * (1 + _STIFFNESS))
        solution = descend(priced, NonNegative(), point, tolerance=inner, most=most)
        point, steps = solution.point, steps + solution.steps
        missed = float(point.sum()) - member.total
        price += _STIFFNESS / point.size * missed
        if abs(missed) <= tolerance / 4:
            break
    final = descend(objective, member, point, tolerance=tolerance, most=most)
    return Solution(final.point, final.residual, steps + final.steps)
