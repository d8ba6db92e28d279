"""Rows part by part: few at a time, so that they stay near the processor and their sums are exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats

__all__ = ["MOST_ROWS", "blocks_of", "one_array", "row_parts"]

MOST_ROWS = 2**14
"""How many rows a part has at most: proofs that sums of doubles are exact count on it."""
_ENTRIES = 2**17  # a megabyte of doubles


def row_parts(count: int, columns: int) -> Iterator[slice]:
    """Give the parts of so many rows; how long they are depends on the number of columns alone."""
    size = max(1, min(MOST_ROWS, _ENTRIES // max(columns, 1)))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def blocks_of(rows: NDArray[np.int16]) -> Iterator[tuple[slice, Floats]]:
    """Give rows of integers part by part, as doubles: sums of them below 2^53 are exact in any order."""
    for part in row_parts(*rows.shape):
        yield part, rows[part].astype(np.float64)


def one_array(values: Sequence[NDArray[Any]]) -> NDArray[Any] | None:
    """Return columns as one array of two dimensions, if that is what they are columns of; or None.

    They have to be views of the same memory, of one type, and equally far apart. Nothing is copied, and no
    entry is looked at.
    """
    if len(values) < 2 or any(one.dtype != values[0].dtype for one in values):
        return None
    first, second = values[0], values[1]
    if first.base is None or any(one.base is not first.base for one in values):
        return None
    starts = [one.__array_interface__["data"][0] for one in values]
    gap = starts[1] - starts[0]
    if starts != list(range(starts[0], starts[0] + gap * len(values), gap or 1)):
        return None
    if any((one.shape, one.strides) != (second.shape, second.strides) for one in values):
        return None
    return np.lib.stride_tricks.as_strided(
        first, (len(first), len(values)), (first.strides[0], gap), writeable=False
    )
