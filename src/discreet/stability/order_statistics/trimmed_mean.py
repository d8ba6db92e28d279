"""The trimmed mean with its sensitivity profile."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.stability.grid import on_grid
from discreet.stability.order_statistics.blocks import Blocks, blocks
from discreet.stability.order_statistics.ordered import OrderedValues, ordered
from discreet.stability.order_statistics.trimmed_steps import trimmed_sensitivity, within_cells
from discreet.stability.order_statistics.trimming import Trimming, trimming
from discreet.stability.profile import Profile, check_step, last_distance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number

__all__ = ["trimmed_mean", "trimmed_profile"]


def trimmed_mean(
    values: ArrayLike,
    *,
    trim: Number,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the mean without the floor(trim n) smallest and as many largest values, with its profile.

    Of no values it is the lower bound.

    Parameters
    ----------
    values : array of integers
        The data, in any order; clipped to the bounds. Private.
    trim : number
        Which part of the values is trimmed at either end, below 1/2.
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
        Under replace it is exact: with m = floor(trim n) and h = n - 2m,
        A_k = max { X(s + h + k) - X(s) : m - k <= s <= m + 1 } / h (Bun & Steinke 2019). Under add/remove
        it is exact for up to 64 rows and a distance k with rows (k rows + 1)^2 <= 2^22, which is 2047 for one
        value a person (`trimmed_steps`). Beyond, it is a smooth upper bound: the weight that one person
        moves, times how far the last value that may remain lies from the mean of the others (proof:
        docs/proofs/profiles.md).
    """
    if step is not None:
        return on_grid(
            partial(trimmed_mean, trim=trim, relation=relation, rows=rows), values, lower, upper, step
        )
    data = ordered(values, lower=lower, upper=upper)
    return trimmed_profile(data, trimming(trim), relation=relation, rows=check_step(relation, rows))


def trimmed_profile(data: OrderedValues, rule: Trimming, *, relation: Neighbors, rows: int) -> Profile:
    """Return the profile of the trimmed mean of values in order."""
    sums = blocks(data)
    cut = rule.cut(data.size)
    value = (
        Fraction(sums.total(cut + 1, data.size - cut), data.size - 2 * cut)
        if data.size
        else Fraction(data.at(0))
    )
    if relation.change is Change.REPLACE:

        def replaced(distance: int) -> Fraction:
            kept = data.size - 2 * cut
            return (
                Fraction(data.widest(cut - distance, cut + 1, kept + distance), kept) if kept else Fraction(0)
            )

        return Profile(value=value, reach=data.size, sensitivity=replaced, relation=relation, rows=1)
    mirrored = blocks(data.reflected())

    @cache
    def shifted(distance: int) -> Fraction:
        if within_cells(rows, distance):
            return trimmed_sensitivity(sums, mirrored, rule, rows, distance)
        return max(
            _rise(one, other, rule, rows, distance) for one, other in ((sums, mirrored), (mirrored, sums))
        )

    reach = -(-data.size // rows)
    return Profile(
        value=value,
        reach=reach,
        sensitivity=shifted,
        relation=relation,
        rows=rows,
        exact_to=last_distance(partial(within_cells, rows), reach),
    )


def _rise(sums: Blocks, mirrored: Blocks, rule: Trimming, rows: int, distance: int) -> Fraction:
    """Bound how much the mean of data within a distance rises in one step."""
    data: OrderedValues = sums.data
    size, moves = data.size, distance * rows
    fewest = size - moves - rows
    if fewest <= 0:
        return Fraction(data.spread)
    starts, ends = rule.windows(size, moves, rows)
    weight = Fraction(rows - rule.cut(rows), rule.least_kept(size - moves))
    above = sums.rise(starts, ends, rule.least_kept(size - moves))
    below = mirrored.rise(size + 1 - ends, size + 1 - starts, rule.least_kept(fewest))
    return min(weight * max(above, below), Fraction(data.spread))
