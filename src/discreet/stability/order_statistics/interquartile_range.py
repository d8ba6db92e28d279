"""The interquartile range with its sensitivity profile."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.quantile import rank_profile
from discreet.stability.order_statistics.ranks import rank_rule
from discreet.stability.profile import Profile, check_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number

__all__ = ["interquartile_range"]


def interquartile_range(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the upper quartile less the lower one, of ranks ceil(3n/4) and ceil(n/4), with its profile.

    Parameters
    ----------
    values : array of integers
        The data, in any order; clipped to the bounds. Private.
    lower, upper : int
        The public bounds.
    relation : Neighbors
        What one step changes.
    rows : int
        How many values one person has at most; 1 under replace.
    step : number, optional
        For real values: the public grid. They are rounded to its multiples, of which the bounds must be two;
        what is not a number counts as the lower bound.

    Returns
    -------
    Profile
        A single value that moves both quartiles moves them the same way, so that one step of one value
        changes the range by at most the larger change of the two. Under replace the profile is
        exactly the larger of theirs (0 for n < 2), under add/remove of one value at most that. A
        person of several values may widen it at both ends: there the profile is the sum, a
        smooth upper bound (proof: docs/proofs/profiles.md).
    """
    if step is not None:
        return on_grid(partial(interquartile_range, relation=relation, rows=rows), values, lower, upper, step)
    rows = check_step(relation, rows)
    data = ordered(values, lower=lower, upper=upper)
    low, high = (
        rank_profile(data, rank_rule(level), relation=relation, rows=rows)
        for level in (Fraction(1, 4), Fraction(3, 4))
    )
    still = relation.change is Change.REPLACE and data.size < 2

    def sensitivity(distance: int) -> Fraction:
        if still:
            return Fraction(0)
        ends = low.sensitivity(distance), high.sensitivity(distance)
        return max(ends) if rows == 1 else min(sum(ends, Fraction(0)), Fraction(data.spread))

    return Profile(
        value=high.value - low.value, reach=low.reach, sensitivity=sensitivity, relation=relation, rows=rows
    )
