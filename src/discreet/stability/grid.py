"""Real values on a declared grid: rounded to it one by one, measured as integers, and scaled back.

Rounding is a function of each value alone, so neighbors stay neighbors; all that follows is exact (proof:
docs/proofs/profiles.md).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational, show
from discreet.stability.entries import reals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from discreet.stability.profile import Profile

__all__ = ["on_grid", "rounded_to_grid", "whole_steps"]


class _Statistic(Protocol):
    def __call__(self, values: NDArray[np.int64], /, *, lower: int, upper: int) -> Profile: ...


def on_grid(
    statistic: _Statistic, values: ArrayLike, lower: Number, upper: Number, step: Number, *, power: int = 1
) -> Profile:
    """Return the profile of a statistic of real values that are rounded to the multiples of a step.

    Parameters
    ----------
    statistic : callable
        What gives the profile of integers within integer bounds.
    values : array of numbers
        The data; rounded to the nearest multiple of `step` and clipped to the bounds. What is not a number
        counts as the lower bound. Private.
    lower, upper : number
        The public bounds: multiples of `step`.
    step : number
        The public grid.
    power : int
        The statistic of c times the data is c^power times the statistic.
    """
    unit = rational(step, "step", positive=True)
    low, high = (whole_steps(bound, unit, name) for bound, name in ((lower, "lower"), (upper, "upper")))
    found = statistic(rounded_to_grid(values, "values", unit, (low, high)), lower=low, upper=high)
    factor = unit**power
    return replace(
        found, value=found.value * factor, sensitivity=lambda distance: found.sensitivity(distance) * factor
    )


def rounded_to_grid(
    values: ArrayLike, name: str, unit: Fraction, bounds: tuple[int, int], *, missing: int | None = None
) -> NDArray[np.int64]:
    """Return values in steps, rounded and clipped; what is not a number is `missing`, or the least."""
    low, high = bounds
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a unit may be 0 as a float
        rounded = np.rint(reals(values, name) / float(unit))
    instead = low if missing is None else missing
    held = np.nan_to_num(rounded, nan=instead, posinf=high, neginf=low)
    return np.asarray(np.clip(held, low, high)).astype(np.int64)


def whole_steps(bound: Number, unit: Fraction, name: str) -> int:
    """Return a public number in steps of a unit, of which it is a multiple."""
    steps = rational(bound, name) / unit
    if steps.denominator != 1 or abs(steps) > 2**53:
        raise ParameterError(
            name, "is not a multiple of step", f"a multiple of {show(unit)}, of at most 2^53 steps"
        )
    return int(steps)
