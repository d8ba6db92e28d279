"""Convex losses of a margin, as tables of integers: one person's share of a gradient, exact on every machine.

A margin is z = y <x, w>, with y of 1 or -1. A loss enters a gradient only by its slope s(z) = -l'(z), which
lies between 0 and 1: the gradient is -sum of s(z_i) y_i x_i. Slopes are read from a table of the margins in
steps of 2^-10, rounded to steps of 2^-15; so they are functions of integers, whatever an exponential function
makes of the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.array_types import Floats, Integers

__all__ = ["HUBER_HINGE", "LOGISTIC", "MARGIN_BITS", "SLOPE_STEPS", "MarginLoss"]

MARGIN_BITS = 10
"""A margin of 1 has 2^10 steps."""
SLOPE_STEPS = 2**15
"""A slope of 1 has as many steps."""
_FARTHEST = 40 << MARGIN_BITS  # where slopes of the logistic loss are 0 or 1 to the last step
_HALF_WIDTH = 0.5


@dataclass(frozen=True, eq=False)
class MarginLoss:
    """A loss by its slope.

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

    @cached_property
    def _table(self) -> Integers:
        middles = (np.arange(-_FARTHEST, _FARTHEST + 1) + 0.5) / 2**MARGIN_BITS
        return np.rint(np.clip(self.slope(middles), 0.0, 1.0) * SLOPE_STEPS).astype(np.int64)

    def slopes(self, margins: Floats) -> Integers:
        """Return the slopes at margins in steps, which are whole, each between 0 and `SLOPE_STEPS`."""
        places = np.clip(margins, -_FARTHEST, _FARTHEST).astype(np.int64) + _FARTHEST
        return self._table[places]


def _logistic(margins: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(margins))


def _huber_hinge(margins: Floats) -> Floats:
    return np.clip((1.0 + _HALF_WIDTH - margins) / (2.0 * _HALF_WIDTH), 0.0, 1.0)


LOGISTIC = MarginLoss("logistic", 0.25, _logistic)
"""log(1 + e^-z)."""
HUBER_HINGE = MarginLoss("Huber hinge", 1.0 / (2.0 * _HALF_WIDTH), _huber_hinge)
"""The hinge 1 - z, with a parabola between z = 1/2 and z = 3/2."""
