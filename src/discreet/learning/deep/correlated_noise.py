"""Releases with correlated noise: a weighted sum of the last gradients, and what follows for this one."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from torch import Tensor

from discreet.array_types import Floats, Integers
from discreet.learning.deep.clipped_sum import ClippedSum
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.plan import GRID_STEPS
from discreet.noise import current, is_private
from discreet.noise.layered_gaussian import sample_layered_gaussian

__all__ = ["CorrelatedNoise"]


@dataclass(frozen=True, eq=False)
class _Step:
    """One step of the last ones."""

    number: int
    exact: Integers
    """The sum of gradients in grid steps; private."""
    noisy: Floats
    """What was concluded about it; public."""


class CorrelatedNoise:
    """Releases y_t = sum over s <= t of c_(t - s) x_s + z_t, exactly, and solves for x_t.

    Parameters
    ----------
    plan : EpochPlan

    Guarantee
    ---------
    x_s are the integers of the clipped sums, c are integers, and z_t are independent rounded normal numbers
    of the plan's variance. What is given to the optimizer is a function of y_0, …, y_t: the solution of
    c_0 g_t = y_t - sum over s < t of c_(t - s) g_s. Integers are those modulo 2^64, which loses nothing that
    is private. A step without a release counts as zero in both sums.

    Finite precision
    ----------------
    y_t is exact. The solution is in floats, from public numbers.
    """

    def __init__(self, plan: EpochPlan) -> None:
        self._plan = plan
        self._last: deque[_Step] = deque(maxlen=max(1, len(plan.coefficients) - 1))

    def release(self, total: ClippedSum, bound: float, step: int) -> tuple[list[Tensor], float, bool]:
        """Return the noisy mean gradients of a step, the bound, and whether the noise was private."""
        plan, source, exact = self._plan, current(), total.steps()
        released = sample_layered_gaussian(Fraction(plan.variance), plan.drawn, source)
        released += plan.coefficients[0] * exact
        before = [one for one in self._last if step - one.number < len(plan.coefficients)]
        for one in before:
            released += plan.coefficients[step - one.number] * one.exact
        marked = source.mark(released)
        noisy = np.asarray(marked).astype(np.float64)
        for one in before:
            noisy -= plan.coefficients[step - one.number] * one.noisy
        noisy /= plan.coefficients[0]
        self._last.append(_Step(step, exact, noisy))
        return total.shaped(noisy * (bound / (GRID_STEPS * float(plan.batch)))), bound, is_private(marked)
