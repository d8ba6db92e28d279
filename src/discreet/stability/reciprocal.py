"""The reciprocal of a count, 1 / max(count, least): local sensitivity at every distance, exactly."""

from __future__ import annotations

import operator
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors
from discreet.privacy.rational import whole
from discreet.stability.profile import Profile, check_step

__all__ = ["MOST_ROWS", "private_count", "public_total", "reciprocal"]

MOST_ROWS = 2**62
"""More rows than any table has. A private count beyond counts as this many."""


def public_total(total: int | None, relation: Neighbors) -> int | None:
    """Check that the number of rows is given where it is public, and only there."""
    if relation.change is Change.ADD_REMOVE:
        if total is not None:
            raise ParameterError("total", "is given where the number of rows is private", "left out")
        return None
    if total is None:
        raise ParameterError("total", "is missing where a row is replaced", "the public number of rows")
    return whole(total, "total", least=0, most=MOST_ROWS)


def private_count(count: int, name: str, most: int | None) -> int:
    """Return a count from 0 to `most`; what is beyond is brought into the range, without a word."""
    try:
        number = operator.index(count)
    except TypeError:
        raise ParameterError(name, "is not an integer", "a number of rows") from None
    return max(number, 0) if most is None else min(max(number, 0), most)


def reciprocal(
    count: int,
    *,
    least: int = 1,
    total: int | None = None,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
) -> Profile:
    """Return 1 / max(count, least) of a number of rows, with its sensitivity profile.

    Parameters
    ----------
    count : int
        How many rows satisfy a condition. Private; below 0 it is taken as 0, above `total`, or 2^62, as that.
    least : int
        The count below which the answer no longer grows, at least 1: a public convention that
        gives the empty table an answer.
    total : int, optional
        Under replace, the public number of rows, of which `count` satisfy the condition.
    relation : Neighbors
        What one step changes.
    rows : int
        How many rows one person has at most; under add/remove of persons only.

    Returns
    -------
    Profile
        Exact. f is convex and falls from `least` on, so the largest drop over at most r rows
        starts as low as it can: between max(least, c - (k + 1) r) and r more if that many are
        within reach, or between the least count within reach and r more (proof: docs/proofs/counts.md).

    Examples
    --------
    >>> from discreet.stability.reciprocal import reciprocal
    >>> profile = reciprocal(100)
    >>> profile.value, profile.local_at(0)
    (Fraction(1, 100), Fraction(1, 9900))
    """
    step = check_step(relation, rows)
    low = whole(least, "least", least=1, most=MOST_ROWS)
    highest = public_total(total, relation)
    held = private_count(count, "count", MOST_ROWS if highest is None else highest)

    def answer(at: int) -> Fraction:
        return Fraction(1, max(at, low))

    def sensitivity(distance: int) -> Fraction:
        fewest, most = held - distance * step, held + distance * step
        if highest is not None:
            most = min(most, highest)
        lower = max(low, fewest - step)
        drop = answer(lower) - answer(min(lower + step, most))  # the larger count is at the distance
        start = min(most, max(low, fewest))
        if start != highest:
            drop = max(drop, answer(start) - answer(start + step))  # the smaller count is
        return max(drop, Fraction(0))

    return Profile(
        value=answer(held),
        reach=-(-abs(held - low) // step),
        sensitivity=sensitivity,
        relation=relation,
        rows=step,
    )
