"""The median and other quantiles, with their local sensitivity at every distance."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.ordered import OrderedValues, ordered
from discreet.stability.order_statistics.rank_shift import reach_of_shifts, shifted_sensitivity
from discreet.stability.order_statistics.ranks import RankRule, rank_rule
from discreet.stability.profile import Profile, check_step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number

__all__ = ["median", "quantile", "rank_profile"]


def quantile(
    values: ArrayLike,
    *,
    level: Number,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return a quantile of integers with its sensitivity profile.

    The quantile at a level q is the value of rank ceil(q n) in order, the minimum for q = 0. Of
    no values it is the lower bound (for q = 0 the upper one).

    Parameters
    ----------
    values : array of integers
        The data, in any order; clipped to the bounds. Private.
    level : number
        From 0 to 1.
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
        The local sensitivities are exact. With m = ceil(q n), under replace,
        A_k = max { X(m + t) - X(m + t - k - 1) : 0 <= t <= k + 1 } (Nissim, Raskhodnikova & Smith 2007);
        under add/remove see `rank_shift`.
    """
    if step is not None:
        return on_grid(
            partial(quantile, level=level, relation=relation, rows=rows), values, lower, upper, step
        )
    data = ordered(values, lower=lower, upper=upper)
    return rank_profile(data, rank_rule(level), relation=relation, rows=check_step(relation, rows))


def median(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the median of integers, of rank ceil(n / 2), with its sensitivity profile: see `quantile`."""
    return quantile(
        values, level=Fraction(1, 2), lower=lower, upper=upper, relation=relation, rows=rows, step=step
    )


def rank_profile(data: OrderedValues, rule: RankRule, *, relation: Neighbors, rows: int) -> Profile:
    """Return the profile of the value whose rank a rule gives."""
    rank = rule.at(data.size)

    def replaced(distance: int) -> Fraction:
        return Fraction(data.widest(rank - distance - 1, rank, distance + 1) if data.size else 0)

    def shifted(distance: int) -> Fraction:
        return Fraction(shifted_sensitivity(data, rule, rows, distance))

    replacing = relation.change is Change.REPLACE
    return Profile(
        value=Fraction(data.at(rank)),
        reach=data.size if replacing else reach_of_shifts(data.size, rows),
        sensitivity=replaced if replacing else shifted,
        relation=relation,
        rows=rows,
    )
