"""The local sensitivity of a quantile where persons come and go, so that ranks shift.

Let r be the rank rule, y a set of N values, and R the most values of a person. Adding R high values
makes the quantile Y(r(N+R)), adding R low ones Y(r(N+R) - R); removing p = min(R, N) makes it at least
Y(r(N-p)) and at most Y(r(N-p) + p). These are four windows of y that start or end at r(N).

From x to y, a values are added and b removed, which takes ceil(a/R) + ceil(b/R) persons. A window [i, j]
of y, i < j, then has at most the gap

    max { X(s + j - i + b) - X(s) : i - a <= s <= i },

and some y attains it (proof: docs/proofs/profiles.md). So A_k is the widest gap over a *list of
windows of x that depends on public quantities and n alone*. Most are inside others. For a level of at
most 1/2, spending one person more on adding and one less on removing helps only windows that start
further left; only those are listed. Levels above 1/2 are mirrored.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.stability.order_statistics.ordered import OrderedValues
from discreet.stability.order_statistics.ranks import RankRule

__all__ = ["reach_of_shifts", "shifted_sensitivity"]

Ranks: TypeAlias = NDArray[np.int64]


def reach_of_shifts(size: int, rows: int) -> int:
    """Return after how many persons no one may be left, so that the next makes any value the quantile."""
    return -(-size // rows)


def shifted_sensitivity(data: OrderedValues, rule: RankRule, rows: int, distance: int) -> int:
    """Return the local sensitivity of a quantile at a distance, for persons of up to `rows` values."""
    if distance >= reach_of_shifts(data.size, rows):
        return data.spread
    if rule.level > Fraction(1, 2):
        data, rule = data.reflected(), rule.reflected()
    widest = 0
    for starts, ends in windows(data.size, rule, rows, distance):
        if len(starts):
            widest = max(widest, int(data.gaps(starts, ends).max()))
    return widest


def windows(size: int, rule: RankRule, rows: int, distance: int) -> Iterator[tuple[Ranks, Ranks]]:
    """Yield windows of x, as starts and ends, among which are all that are inside no other reachable one.

    The level of the rule is at most 1/2, and the distance too short for everybody to be removed.
    """
    adding = np.arange(distance + 1, dtype=np.int64)
    added, removed = adding * rows, (distance - adding) * rows
    sizes = size + added - removed
    # Window lengths repeat with the denominator of the level, except for sizes up to that of a person.
    margin = rule.level.denominator + rows + 1
    for window in (_high_added, _low_added, _high_removed, _low_removed):
        first, _ = window(sizes, rule, rows)
        start = first - added
        # From here on a start is listed in a longer window, with one person fewer added and one more removed.
        listed = np.concatenate((start[:1] + 1, start[:-1]))
        emptied = np.concatenate(([False], sizes[:-1] <= rows))
        listed[emptied] = first[emptied] + 1
        fresh = np.flatnonzero(listed > start)
        lowest = max(sizes[fresh[0]] - margin, size - distance * rows)
        highest = min(sizes[fresh[-1]] + margin, size + distance * rows)
        near = np.arange(lowest, highest + 1, dtype=np.int64)
        first, last = window(near, rule, rows)
        length = last - first
        for split, more, fewer in _records(length, sizes[fresh] - lowest, added[fresh], removed[fresh]):
            chosen = fresh[split]
            at = sizes[chosen] - lowest + more - fewer
            stop = np.where(length[at] > 0, np.minimum(listed[chosen] - 1, first[at]), start[chosen] - 1)
            yield _starting(first[at] - added[chosen] + fewer, stop, length[at] + removed[chosen] - more)


def _high_added(sizes: Ranks, rule: RankRule, rows: int) -> tuple[Ranks, Ranks]:
    return rule.of(sizes), rule.of(sizes + rows)


def _low_added(sizes: Ranks, rule: RankRule, rows: int) -> tuple[Ranks, Ranks]:
    return rule.of(sizes + rows) - rows, rule.of(sizes)


def _high_removed(sizes: Ranks, rule: RankRule, rows: int) -> tuple[Ranks, Ranks]:
    return rule.of(sizes - np.minimum(rows, sizes)), rule.of(sizes)


def _low_removed(sizes: Ranks, rule: RankRule, rows: int) -> tuple[Ranks, Ranks]:
    gone = np.minimum(rows, sizes)
    return rule.of(sizes), rule.of(sizes - gone) + gone


def _records(
    length: Ranks, place: Ranks, added: Ranks, removed: Ranks
) -> Iterator[tuple[NDArray[np.intp], Ranks, Ranks]]:
    """Yield which splits to try with how many values fewer removed, or fewer added, than the persons may.

    Fewer helps only where the window of y is then longer than with every smaller number, which
    rounding in the rank rule may cause.
    """
    everyone = np.arange(len(place))
    none = np.zeros(len(place), dtype=np.int64)
    yield everyone, none, none
    for sign, room in ((1, removed), (-1, added)):
        following = _next_longer(length, sign)
        kept, at = everyone, place
        while True:
            there = following[at]
            kept, at = kept[there >= 0], there[there >= 0]
            change = (at - place[kept]) * sign
            within = change <= room[kept]
            kept, at, change = kept[within], at[within], change[within]
            if not len(kept):
                break
            still = np.zeros(len(kept), dtype=np.int64)
            yield (kept, change, still) if sign > 0 else (kept, still, change)


def _next_longer(length: Ranks, sign: int) -> Ranks:
    """Return, for each index, the next one in a direction with a larger entry; -1 if there is none."""
    entries = length[::sign]
    count = len(entries)
    following = np.full(count, -1, dtype=np.int64)
    for level in np.unique(entries)[:-1]:
        longer = np.where(entries > level, np.arange(count), count)
        nearest = np.minimum.accumulate(longer[::-1])[::-1]
        here = (entries == level) & (nearest < count)
        following[here] = nearest[here]
    if sign < 0:
        return np.where(following[::-1] >= 0, count - 1 - following[::-1], -1)
    return following


def _starting(first: Ranks, last: Ranks, length: Ranks) -> tuple[Ranks, Ranks]:
    """List the windows of given lengths that start from `first` to `last`."""
    counts = np.maximum(last - first + 1, 0)
    offsets = np.cumsum(counts) - counts
    starts = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(first - offsets, counts)
    return starts, starts + np.repeat(length, counts)
