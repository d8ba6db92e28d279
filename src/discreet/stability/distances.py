"""How many persons must change before a statistic becomes sensitive, or its answer another.

A distance moves by at most 1 between neighbors, which is all that a test of stability relies on.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, overload

import numpy as np

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.privacy.rational import non_negative, rational, whole
from discreet.stability.grid import rounded_to_grid, whole_steps
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.profile import Profile, check_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from discreet.privacy.rational import Number

__all__ = ["NEVER", "distance_to_sensitive", "distance_to_unstable_mode", "mode", "slow_bound"]

NEVER = 2**62
"""The distance where there is no such data set at all, as a public number that no data reach."""


def distance_to_sensitive(profile: Profile, bound: Number) -> int:
    """Return how many persons must change until the local sensitivity exceeds a proposed bound.

    It is the least k with A_k > bound. Where the profile is an upper bound, the distance is a lower bound,
    and it still moves by at most 1 between neighbors, since A_k(x') <= A_{k+1}(x).
    """
    proposed = non_negative(bound, "bound")
    if profile.local_at(profile.reach) <= proposed:
        return NEVER
    below, above = -1, 1  # A at `below` is within the bound; `above` grows until A exceeds it there
    while above < profile.reach and profile.local_at(above) <= proposed:
        below, above = above, 2 * above
    above = min(above, profile.reach)
    while above - below > 1:
        middle = (below + above) // 2
        if profile.local_at(middle) <= proposed:
            below = middle
        else:
            above = middle
    return above


def slow_bound(profile: Profile, change: int) -> int:
    """Return the least whole bound on the local sensitivity that moves by at most `change` between neighbors.

    It is the largest ceil(A_k) - change k over all distances k: at least ceil(A_0); and A_k(x') <= A_{k+1}(x)
    makes it move by `change` at most. Any other such bound is at least ceil(A_k) at some data k steps away,
    so at least this here. For `BoundedRelease` and `PrivateLocalSensitivity`, where the local sensitivity
    itself may jump. Private.
    """
    step = whole(change, "change", least=1)
    most = ceil(profile.local_at(profile.reach))
    farthest = min(profile.reach, most // step)
    return max(ceil(profile.local_at(k)) - step * k for k in range(farthest + 1))


@overload
def mode(values: ArrayLike, *, lower: int, upper: int, step: None = None) -> int: ...


@overload
def mode(values: ArrayLike, *, lower: Number, upper: Number, step: Number) -> Fraction: ...


def mode(values: ArrayLike, *, lower: Number, upper: Number, step: Number | None = None) -> int | Fraction:
    """Return the most frequent value; among equally frequent ones, and of no values, the smallest.

    Parameters
    ----------
    values : integers, or numbers with a `step`
        The data; clipped to the bounds. Private.
    lower, upper : int, or number with a `step`
        The public bounds.
    step : number, optional
        The public grid of real values, of which the bounds are multiples: the most frequent multiple is
        returned, exactly. What is not a number counts as the lower bound.

    Examples
    --------
    >>> from discreet.stability import mode
    >>> mode([0.1, 0.24, 0.26, 1.5], lower=0, upper=2, step=0.25)
    Fraction(1, 4)
    """
    if step is not None:
        unit, entered, low, high = _entered(values, lower, upper, step)
        return unit * mode(entered, lower=low, upper=high)
    data = ordered(values, lower=lower, upper=upper)
    found, counts = np.unique(data.padded[1:-1], return_counts=True)
    return int(found[np.argmax(counts)] if data.size else data.points[0])


def distance_to_unstable_mode(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> int:
    """Return how many persons must change until some neighbor has another mode.

    Let the lead of the mode over a value v be the difference of their counts, less 1 if v < mode, since
    v then wins a draw, and g the least lead over all integers within the bounds. Another value is the mode
    as soon as the lead over it is below 0. One person who comes with `rows` copies of v, or goes with as
    many of the mode, takes `rows` of the lead, and a replacement takes 2: the data are unstable where g is
    less than that, and the distance to the nearest unstable data is floor(g / rows), or floor(g / 2).

    Parameters
    ----------
    values, lower, upper, step
        As for `mode`: with a `step`, the values compete that are multiples of it.
    relation : Neighbors
        What one person changes.
    rows : int
        How many values one person has at most; under add/remove of persons only.
    """
    if step is not None:
        _, entered, low, high = _entered(values, lower, upper, step)
        return distance_to_unstable_mode(entered, lower=low, upper=high, relation=relation, rows=rows)
    rows = check_step(relation, rows)
    data = ordered(values, lower=lower, upper=upper)
    if not data.spread or (relation.change is Change.REPLACE and not data.size):
        return NEVER
    taken = 2 if relation.change is Change.REPLACE else rows
    found, counts = np.unique(data.padded[1:-1], return_counts=True)
    if not data.size:
        return 0
    best = int(np.argmax(counts))
    leader, votes = int(found[best]), int(counts[best])
    leads = []
    if leader > data.points[0]:
        leads.append(votes - int(counts[:best].max(initial=0)) - 1)
    if leader < data.points[-1]:
        leads.append(votes - int(counts[best + 1 :].max(initial=0)))
    return min(leads) // taken


def _entered(
    values: ArrayLike, lower: Number, upper: Number, step: Number
) -> tuple[Fraction, NDArray[np.int64], int, int]:
    """Return the step, the values in steps, and the bounds in steps."""
    unit = rational(step, "step", positive=True)
    low, high = whole_steps(lower, unit, "lower"), whole_steps(upper, unit, "upper")
    return unit, rounded_to_grid(values, "values", unit, (low, high)), low, high
