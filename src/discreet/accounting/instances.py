"""Per-instance losses of any release with added noise, exactly: one number, vectors, several releases.

Removing one person moves what is measured by a known vector. Independent noise on each entry makes the two
laws products, one factor for each entry, and each factor is the worst pair of the same noise on one number
that moves by so much. So the loss is that of a composition of known events, and the accountant's bounds hold
from both sides (docs/proofs/per_instance.md, proposition 5). Losses are private, for the curator alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.epsilon_and_delta import epsilon
from discreet.errors import ParameterError
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace, Event, RoundedGaussian, compose
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.rational import Number, probability, rational
from discreet.stability.entries import reals
from discreet.stability.per_instance import PerInstanceReport

__all__ = ["AddedNoise", "instance_event", "instance_losses", "largest_shift_guarantee"]

AddedNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian | RoundedGaussian


def instance_event(event: AddedNoise, shift: Iterable[Number]) -> Event:
    """Return the event of a release whose values moved by exactly a shift, in place of the most they may.

    Parameters
    ----------
    event : DiscreteLaplace, DiscreteGaussian or RoundedGaussian
        The noise that was drawn.
    shift : numbers
        By how much each value moves when a person goes, in data units. Values that the release rounds to its
        grid are charged in whole steps.
    """
    if not isinstance(event, DiscreteLaplace | DiscreteGaussian | RoundedGaussian):
        raise ParameterError(
            "event", "is not added noise", "discrete Laplace, or discrete or rounded Gaussian"
        )
    steps = Counter(_steps(rational(one, "shift"), event.grid) for one in shift)
    del steps[0]
    grid, relation = event.grid, event.neighbors
    if isinstance(event, RoundedGaussian):
        squared = grid**2 * sum(size**2 * times for size, times in steps.items())
        if not squared:
            return compose([])
        return RoundedGaussian(
            squared_sensitivity=squared, variance=event.variance, grid=grid, neighbors=relation
        )
    return compose(
        (
            DiscreteLaplace(sensitivity=size * grid, scale=event.scale, grid=grid, size=1, neighbors=relation)
            if isinstance(event, DiscreteLaplace)
            else DiscreteGaussian(
                squared_sensitivity=(size * grid) ** 2,
                variance=event.variance,
                grid=grid,
                size=1,
                neighbors=relation,
            )
        )
        * times
        for size, times in steps.items()
    )


def instance_losses(shifts: ArrayLike, *, event: AddedNoise, delta: Number = 0) -> PerInstanceReport:
    """Return the epsilon of each person in a release, for numbers and for vectors.

    Exact for discrete Laplace and Gaussian noise. That of rounded Gaussian noise is the loss of the normal
    noise that was rounded, which is more, by a percent or two at a deviation of two steps of the grid.

    Parameters
    ----------
    shifts : array of n numbers, or of n rows of numbers
        By how much each value moves when each person goes, one row for each person. Where one is not
        known (not a number), the loss is infinite.
    event : DiscreteLaplace, DiscreteGaussian or RoundedGaussian
        The noise: a mechanism's `event`.
    delta : number
        From 0 to below 1. At 0, Gaussian noise has no finite loss.
    """
    failure = probability(delta, "delta", one=False)
    held = np.abs(reals(shifts, "shifts"))
    if held.ndim not in {1, 2}:
        raise ParameterError("shifts", "is not a list of numbers or of vectors", "one row for each person")
    rows = np.sort(held.reshape(len(held), held.shape[1] if held.ndim == 2 else 1), axis=1)
    distinct, places = np.unique(rows, axis=0, return_inverse=True)
    found = np.array([_loss(row.tolist(), event, failure) for row in distinct])
    losses = found[np.ravel(places)] if len(found) else np.zeros(0)
    return PerInstanceReport(losses=losses, delta=failure)


def largest_shift_guarantee(shift: Number, *, event: AddedNoise, delta: Number = 0) -> PureDP | ApproximateDP:
    """Return the guarantee that follows from the largest shift of any person in any data set.

    The event of the same noise at this sensitivity covers every shift within it, so the supremum of all
    per-instance losses, over data sets without number, is at most its loss, and is its loss where the shift
    is attained by one number. `sum_shift_bound` and its like say how far a person can move a statistic.

    Parameters
    ----------
    shift : number
        How far the values move at most: in the L1 norm for Laplace noise, in the L2 norm for Gaussian noise,
        of values that are on the grid. One number is charged in whole steps.
    event, delta
        As for `instance_losses`.
    """
    failure = probability(delta, "delta", one=False)
    most = rational(shift, "shift", positive=True)
    if event.size == 1:
        most = _steps(most, event.grid) * event.grid
    covering = _covering(event, most)
    if not failure:
        if covering.pure_epsilon is None:
            raise ParameterError("delta", "is 0, at which this noise has no finite loss", "above 0")
        return PureDP(epsilon=covering.pure_epsilon, neighbors=event.neighbors)
    worst = epsilon(covering, delta=failure).upper
    return ApproximateDP(epsilon=Fraction(worst), delta=failure, neighbors=event.neighbors)


def _covering(event: AddedNoise, most: Fraction) -> Event:
    if isinstance(event, DiscreteLaplace):
        return DiscreteLaplace(
            sensitivity=most,
            scale=event.scale,
            grid=event.grid,
            size=event.size,
            neighbors=event.neighbors,
        )
    return type(event)(
        squared_sensitivity=most**2,
        variance=event.variance,
        grid=event.grid,
        size=event.size,
        neighbors=event.neighbors,
    )


def _loss(row: list[float], event: AddedNoise, delta: Fraction) -> float:
    if not all(np.isfinite(row)):
        return inf
    return epsilon(instance_event(event, map(Fraction, row)), delta=delta).upper


def _steps(shift: Fraction, grid: Fraction) -> int:
    """Return how many steps of a grid two numbers so far apart may come to lie apart once rounded to it."""
    return -int(-abs(shift) // grid)
