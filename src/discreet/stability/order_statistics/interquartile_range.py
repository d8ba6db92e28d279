"""The interquartile range with its sensitivity profile."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.nearby import exact_sensitivity, range_changes, within_steps
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.quantile import rank_profile
from discreet.stability.order_statistics.ranks import rank_rule
from discreet.stability.profile import Profile, check_step, last_distance

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
        Under replace exactly the larger of the profiles of the two quartiles (0 for n < 2). Under add/remove
        exact up to a distance k with rows (k rows + 1) <= 64, which is 63 for one value a person. Beyond, a
        smooth upper bound: a single value that moves both quartiles moves them the same way, so the
        larger of the two profiles; a person of several values may widen the range at both ends, so
        their sum (proof: docs/proofs/profiles.md).
    """
    if step is not None:
        return on_grid(partial(interquartile_range, relation=relation, rows=rows), values, lower, upper, step)
    rows = check_step(relation, rows)
    data = ordered(values, lower=lower, upper=upper)
    rules = rank_rule(Fraction(1, 4)), rank_rule(Fraction(3, 4))
    low, high = (rank_profile(data, rule, relation=relation, rows=rows) for rule in rules)
    replacing = relation.change is Change.REPLACE
    sums, mirrored = blocks(data), blocks(data.reflected())

    @cache
    def sensitivity(distance: int) -> Fraction:
        if replacing and data.size < 2:
            return Fraction(0)
        if not replacing and within_steps(rows, distance):
            return exact_sensitivity(
                sums, mirrored, lambda near: range_changes(*rules, near, rows), rows, distance
            )
        ends = low.sensitivity(distance), high.sensitivity(distance)
        return max(ends) if rows == 1 else min(sum(ends, Fraction(0)), Fraction(data.spread))

    # With no one left the range is 0: it takes one value more until another brings all of it.
    reach = low.reach + (not replacing)
    return Profile(
        value=high.value - low.value,
        reach=reach,
        sensitivity=sensitivity,
        relation=relation,
        rows=rows,
        exact_to=None if replacing else last_distance(partial(within_steps, rows), reach),
    )
