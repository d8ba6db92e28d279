"""The share of rows that satisfy a condition, a / max(b, 1): local sensitivity at every distance, exactly."""

from __future__ import annotations

from fractions import Fraction

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.stability.profile import Profile, check_step
from discreet.stability.reciprocal import MOST_ROWS, private_count, public_total

__all__ = ["ratio"]


def ratio(
    part: int,
    whole: int,
    *,
    total: int | None = None,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
) -> Profile:
    """Return part / max(whole, 1) of two numbers of rows, with its sensitivity profile.

    The rows counted in `part` are among those counted in `whole`, so that the ratio lies
    between 0 and 1; of nothing it is 0.

    Parameters
    ----------
    part, whole : int
        How many rows satisfy both conditions, and how many the first. Private; brought into
        0 <= part <= whole (<= total) where they are not.
    total : int, optional
        Under replace, the public number of all rows.
    relation : Neighbors
        What one step changes.
    rows : int
        How many rows one person has at most; under add/remove of persons only.

    Returns
    -------
    Profile
        Exact. Under replace A_k = 1 / max(whole - k, 1). Under add/remove the rows of the
        rarer kind go first, then the others (proof: docs/proofs/counts.md).

    Examples
    --------
    >>> from discreet.stability.ratio import ratio
    >>> ratio(30, 100).local_at(0)
    Fraction(7, 990)
    """
    step = check_step(relation, rows)
    highest = public_total(total, relation)
    held, others = _both_kinds(part, whole, highest)
    base = held + others

    def replaced(distance: int) -> Fraction:
        return Fraction(1, max(base - distance, 1)) if highest else Fraction(0)

    def changed(distance: int) -> Fraction:
        return _added_or_removed(held, base, step, distance)

    return Profile(
        value=Fraction(held, max(base, 1)),
        reach=-(-base // step),
        sensitivity=changed if highest is None else replaced,
        relation=relation,
        rows=step,
    )


def _both_kinds(part: int, whole: int, total: int | None) -> tuple[int, int]:
    """Return how many rows of the whole are in the part and how many are not, brought into their range.

    Where the total is private each of the two is clamped by itself: one person more is then still at most
    that person's rows more, of either kind.
    """
    base = private_count(whole, "whole", total)
    held = private_count(part, "part", base)
    return min(held, MOST_ROWS), min(base - held, MOST_ROWS)


def _added_or_removed(part: int, base: int, step: int, distance: int) -> Fraction:
    """Return the largest change of the share between tables that differ by a person, near a table."""
    gone = distance * step
    left = base - gone
    if left <= 0:
        return Fraction(1)
    kinds = (part, base - part)
    # The smaller table is at the distance: a person with `step` rows of the rarer kind joins it.
    best = Fraction(step * (left - max(min(kinds) - gone, 0)), left * (left + step))
    # The larger table is at the distance: a person with rows of one kind leaves, some of the other stay.
    for leaves, stays in (kinds, kinds[::-1]):
        if stays:
            leaving = min(step, leaves)
            larger = max(left, leaving + 1)
            smaller = larger - leaving
            common = smaller - max(leaves - leaving - gone, 0)
            best = max(best, Fraction(leaving * common, smaller * larger))
    if left <= step:  # everyone leaves
        best = max(best, Fraction(min(part, left), left))
    return best
