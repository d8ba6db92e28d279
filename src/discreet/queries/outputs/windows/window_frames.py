"""Which groups a window takes together for each group, by released values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cmp_to_key
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.question.answer_windows import Frame
from discreet.records import dataclass

__all__ = ["Frames", "Partition", "SortedBy", "framed", "partitioned"]

_Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SortedBy:
    """Released values to sort by, one for each group."""

    values: Sequence[Any]
    descending: bool
    missing_first: bool

    def compared(self, one: int, other: int) -> int:
        """Return whether a group comes before another (-1), after it (1), or is its peer (0)."""
        left, right = self.values[one], self.values[other]
        if left is None or right is None:
            return (int(left is None) - int(right is None)) * (-1 if self.missing_first else 1)
        return (int(left > right) - int(left < right)) * (-1 if self.descending else 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Groups that are taken together.

    Attributes
    ----------
    rows : array of integers
        The groups in order.
    first_peer, end_of_peers : arrays of integers
        For each place in that order, where the groups begin and end that sort like it.
    """

    rows: _Places
    first_peer: _Places
    end_of_peers: _Places


def partitioned(
    rows: Sequence[int], together: Sequence[Sequence[Hashable]], order: Sequence[SortedBy]
) -> list[Partition]:
    """Return groups in partitions, each in its order; ties stay in the order of the answer.

    Parameters
    ----------
    rows : sequence of int
        The groups that are left.
    together : sequence of sequences
        Groups that agree in all of these are in one partition.
    order : sequence of SortedBy
        How a partition is sorted.
    """
    members: dict[tuple[Hashable, ...], list[int]] = {}
    for row in rows:
        members.setdefault(tuple(values[row] for values in together), []).append(row)
    return [_sorted(one, order) for one in members.values()]


def _sorted(rows: list[int], order: Sequence[SortedBy]) -> Partition:
    def compared(one: int, other: int) -> int:
        return next((found for part in order if (found := part.compared(one, other))), 0)

    listed = sorted(rows, key=cmp_to_key(compared)) if order else rows
    begins = [place == 0 or compared(listed[place - 1], one) != 0 for place, one in enumerate(listed)]
    starts = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    ends = np.append(starts[1:], len(listed))
    return Partition(
        rows=np.array(listed, np.int64),
        first_peer=starts[number].astype(np.int64),
        end_of_peers=ends[number].astype(np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frames:
    """The frames of all groups of some partitions, one partition after the other.

    Attributes
    ----------
    rows : array of integers
        The groups, in the order of their partitions.
    start, end : arrays of integers
        Where the frame of each place begins and ends (exclusive); it is empty if they are equal.
    first, beyond : arrays of integers
        Where the partition of each place begins and ends.
    """

    rows: _Places
    start: _Places
    end: _Places
    first: _Places
    beyond: _Places


def framed(partitions: Sequence[Partition], frame: Frame) -> Frames:
    """Return the frames of partitions."""
    rows, starts, ends, firsts, beyonds = ([np.zeros(0, np.int64)] for _ in range(5))
    offset = 0
    for one in partitions:
        size = len(one.rows)
        start, end = _ends(one, frame)
        rows.append(one.rows)
        starts.append(start + offset)
        ends.append(end + offset)
        firsts.append(np.full(size, offset))
        offset += size
        beyonds.append(np.full(size, offset))
    return Frames(
        rows=np.concatenate(rows),
        start=np.concatenate(starts),
        end=np.concatenate(ends),
        first=np.concatenate(firsts),
        beyond=np.concatenate(beyonds),
    )


def _ends(partition: Partition, frame: Frame) -> tuple[_Places, _Places]:
    size = len(partition.rows)
    place = np.arange(size)
    if frame.peers:
        start = np.zeros(size, np.int64) if frame.start is None else partition.first_peer
        end = np.full(size, size) if frame.end is None else partition.end_of_peers
        return start, end
    start = np.zeros(size, np.int64) if frame.start is None else np.clip(place + frame.start, 0, size)
    end = np.full(size, size) if frame.end is None else np.clip(place + frame.end + 1, 0, size)
    return start, np.maximum(start, end)
