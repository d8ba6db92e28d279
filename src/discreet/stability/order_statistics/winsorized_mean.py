"""The winsorized mean with its sensitivity profile."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.levels import LevelWeights, falling, minus
from discreet.stability.order_statistics.moved import largest_integral
from discreet.stability.order_statistics.nearby import exact_sensitivity, mean_changes, within_steps
from discreet.stability.order_statistics.ordered import OrderedValues, ordered
from discreet.stability.order_statistics.quantile import rank_profile
from discreet.stability.order_statistics.ranks import RankRule
from discreet.stability.order_statistics.trimming import Trimming, trimming
from discreet.stability.profile import Profile, check_step, last_distance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number

__all__ = ["winsorized_levels", "winsorized_mean"]

MOST_CELLS = 2**21
"""How many members of the family are tried under replace, at most: below a second."""


def winsorized_mean(
    values: ArrayLike,
    *,
    trim: Number,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the mean in which the m = floor(trim n) values at either end become the next one inward.

    Of no values it is the lower bound.

    Parameters
    ----------
    values : array of integers
        The data, in any order; clipped to the bounds. Private.
    trim : number
        Which part of the values is changed at either end, below 1/2.
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
        Exact at short distances k: with (k + 1)^3 <= 2^21 under replace, and rows (k rows + 1) <= 64 under
        add/remove, which are 127 and 63 for one value a person. Beyond, a smooth upper bound: the change of
        the mean is split into those of its two ends, which count m times, and that of what lies between
        (proof: docs/proofs/profiles.md).
    """
    if step is not None:
        return on_grid(
            partial(winsorized_mean, trim=trim, relation=relation, rows=rows), values, lower, upper, step
        )
    rows = check_step(relation, rows)
    rule = trimming(trim)
    data = ordered(values, lower=lower, upper=upper)
    cut, size = rule.cut(data.size), data.size
    value = Fraction(data.at(0))
    if size:
        ends = cut * (data.at(cut + 1) + data.at(size - cut))
        value = Fraction(blocks(data).total(cut + 1, size - cut) + ends, size)
    replacing = relation.change is Change.REPLACE
    exact, bound = (
        _exact(data, rule, replacing, rows),
        (_replaced(data, cut) if replacing else _shifted(data, rule, relation, rows)),
    )

    def short(distance: int) -> bool:
        return (distance + 1) ** 3 <= MOST_CELLS if replacing else within_steps(rows, distance)

    @cache
    def sensitivity(distance: int) -> Fraction:
        return exact(distance) if short(distance) else bound(distance)

    reach = size if replacing else -(-size // rows)
    return Profile(
        value=value,
        reach=reach,
        sensitivity=sensitivity,
        relation=relation,
        rows=rows,
        exact_to=last_distance(short, reach),
    )


def winsorized_levels(rule: Trimming, size: int, shift: int) -> LevelWeights:
    """Return the weights of the winsorized mean of so many values, with others below that do not count."""
    return falling(size, rule.cut(size), size, whole=size, bottom=size, shift=shift)


def _exact(data: OrderedValues, rule: Trimming, replacing: bool, rows: int) -> Callable[[int], Fraction]:
    sums, mirrored, size = blocks(data), blocks(data.reflected()), data.size
    levels = partial(winsorized_levels, rule)

    def replaced(distance: int) -> Fraction:
        if not size:
            return Fraction(0)
        moves = min(distance, size), min(distance, size)
        upward = minus(levels(size, 1), levels(size, 0), size)  # the smallest becomes the upper bound
        rise = largest_integral(sums, mirrored, upward, moves, Fraction(0))
        return largest_integral(mirrored, sums, upward, moves, rise)

    def shifted(distance: int) -> Fraction:
        if distance * rows >= size:
            return Fraction(data.spread)
        return exact_sensitivity(
            sums, mirrored, lambda near: mean_changes(levels, near, rows), rows, distance
        )

    return replaced if replacing else shifted


def _replaced(data: OrderedValues, cut: int) -> Callable[[int], Fraction]:
    kept = data.size - 2 * cut

    def sensitivity(distance: int) -> Fraction:
        def widest(rank: int, length: int) -> int:
            return data.widest(rank - distance, rank, length + distance)

        if not kept:
            return Fraction(0)
        rise, fall = (
            cut * widest(first, 1) + widest(first, kept) + cut * widest(first + kept - 1, 1)
            for first in (cut + 1, cut)
        )
        return min(Fraction(max(rise, fall), data.size), Fraction(data.spread))

    return sensitivity


def _shifted(
    data: OrderedValues, rule: Trimming, relation: Neighbors, rows: int
) -> Callable[[int], Fraction]:
    low, high = (
        rank_profile(data, ends, relation=relation, rows=rows)
        for ends in (RankRule(level=rule.part, above=True), RankRule(level=1 - rule.part, above=False))
    )

    def sensitivity(distance: int) -> Fraction:
        moves = distance * rows
        if data.size - moves - rows <= 0:
            return Fraction(data.spread)
        ends = low.sensitivity(distance), high.sensitivity(distance)
        width = int(data.gaps(*rule.windows(data.size, moves, 0)).max())
        between = Fraction(rows, data.size - moves) * (width + max(ends))
        return min(rule.part * sum(ends, Fraction(0)) + between, Fraction(data.spread))

    return sensitivity
