"""Ranks over an answer, and which ranks the exact statistics can have.

Let all exact values lie within their ends. Then a group is surely before another if its ends are, and may be
before it if they touch. The rank is 1 plus the number of groups before it, so it is at least 1 plus the
number of those that surely are and at most 1 plus the number of those that may be (proof: windows, lemma 3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.queries.outputs.windows.window_frames import Partition
from discreet.queries.question.answer_windows import AnswerFunction
from discreet.records import dataclass

__all__ = ["RankedBy", "possible_ranks", "ranks"]

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedBy:
    """The first thing in an order that noise has a part in, for each place of a partition.

    Attributes
    ----------
    classes : array of integers
        Numbers of classes that come one after the other for certain: those of what is sorted by before.
    low, high : arrays
        What the exact value can be, with the sign for which small values come first. Where it may be
        missing, all numbers.
    ties : bool
        Whether values that are equal may be sorted further.
    """

    classes: NDArray[np.int64]
    low: _Floats
    high: _Floats
    ties: bool


def ranks(
    function: AnswerFunction, parts: int, partition: Partition, by: RankedBy | None
) -> tuple[_Floats, _Floats, _Floats]:
    """Return, for each place of a partition, the least rank, the released one and the largest.

    Parameters
    ----------
    function : AnswerFunction
        Which kind of rank.
    parts : int
        How many parts NTILE makes.
    partition : Partition
        In its released order.
    by : RankedBy or None
        What noise has a part in; None if the order is certain.
    """
    size = len(partition.rows)
    place = np.arange(size, dtype=np.float64)
    before: _Floats = partition.first_peer.astype(np.float64)
    ties = False
    if function is AnswerFunction.ROW_NUMBER or function is AnswerFunction.NTILE:
        before, ties = place, True
    elif function is AnswerFunction.DENSE_RANK:
        before = np.unique(partition.first_peer, return_inverse=True)[1].astype(np.float64)
    elif function is AnswerFunction.CUME_DIST:
        before, ties = partition.end_of_peers.astype(np.float64) - 1, True
    least, most = before, before
    if by is not None:
        least, most = _bounds(function, by, ties=ties or by.ties)
    return tuple(_as(function, parts, one, size) for one in (least, before, most))  # type: ignore[return-value]


def _bounds(function: AnswerFunction, by: RankedBy, *, ties: bool) -> tuple[_Floats, _Floats]:
    """Return how many groups are before each one at least and at most; of dense ranks, how many values."""
    least, most = np.zeros(len(by.low)), np.zeros(len(by.low))
    passed = values = 0
    for one in np.unique(by.classes):
        inside = by.classes == one
        low, high = by.low[inside], by.high[inside]
        lows, highs = np.sort(low), np.sort(high)
        surely = np.searchsorted(highs, low, side="left")
        possibly = np.searchsorted(lows, high, side="right" if ties else "left")
        itself = (low < high) | ties  # an interval of one number is not below its own end
        possibly = possibly - itself
        if function is AnswerFunction.DENSE_RANK:
            points = _least_points(low, high)
            surely = np.searchsorted(points, low, side="left")
            least[inside], most[inside] = values + surely, passed + possibly
            values += len(points)
        else:
            least[inside], most[inside] = passed + surely, passed + possibly
        passed += int(inside.sum())
    return least, most


def _least_points(low: _Floats, high: _Floats) -> _Floats:
    """Return upper ends, as many as intervals can be found no two of which meet, from the left on.

    Values in them differ, and of those within the intervals below a number at least as many differ as
    there are such ends below it.
    """
    points: list[float] = []
    for place in np.argsort(high):
        if not points or low[place] > points[-1]:
            points.append(float(high[place]))
    return np.array(points)


def _as(function: AnswerFunction, parts: int, before: _Floats, size: int) -> _Floats:
    """Return the rank that so many groups before one mean."""
    if function is AnswerFunction.PERCENT_RANK:
        return before / max(size - 1, 1)
    if function is AnswerFunction.CUME_DIST:
        return (before + 1) / max(size, 1)
    if function is not AnswerFunction.NTILE:
        return before + 1
    # The first `longer` parts have one group more than the others.
    short, longer = divmod(size, parts)
    edge = longer * (short + 1)
    return (
        np.where(
            before < edge,
            np.floor(before / (short + 1)),
            longer + np.floor((before - edge) / max(short, 1)),
        )
        + 1
    )


def possible_ranks(low: _Floats, value: _Floats, high: _Floats, *, whole: bool) -> PossibleNumbers:
    """Return ranks as numbers of an answer."""
    return PossibleNumbers(
        low=np.minimum(low, value),
        value=value,
        high=np.maximum(high, value),
        null=np.zeros(value.shape, np.bool_),
        whole=whole,
    )
