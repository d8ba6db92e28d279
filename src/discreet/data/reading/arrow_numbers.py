"""Numbers to and from Arrow without pandas.

Arrow imports pandas, where it is installed, as soon as it converts a Python or NumPy object in either
direction: a fifth of a second that somebody who opens a CSV file, or asks a first question, would wait for
nothing. What is made of buffers, or read from them, needs no conversion.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow
from numpy.typing import NDArray

__all__ = ["flags", "integer", "integers", "integers_of", "missing"]


def integer(number: int) -> pyarrow.Scalar:
    """Return an integer of 64 bits."""
    content = pyarrow.py_buffer(number.to_bytes(8, sys.byteorder, signed=True))
    return pyarrow.Array.from_buffers(pyarrow.int64(), 1, [None, content])[0]


def missing(kind: pyarrow.DataType) -> pyarrow.Scalar:
    """Return the NULL of a type."""
    return pyarrow.nulls(1, kind)[0]


def integers(numbers: NDArray[np.int64]) -> pyarrow.Array:
    """Return an array of integers of 64 bits."""
    content = np.ascontiguousarray(numbers, np.int64)
    return pyarrow.Array.from_buffers(pyarrow.int64(), content.size, [None, pyarrow.py_buffer(content)])


def flags(chosen: NDArray[np.bool_]) -> pyarrow.Array:
    """Return an array of booleans; Arrow has eight of them in a byte, the first one in its lowest bit."""
    content = np.packbits(np.asarray(chosen, np.bool_), bitorder="little")
    return pyarrow.Array.from_buffers(pyarrow.bool_(), len(chosen), [None, pyarrow.py_buffer(content)])


def integers_of(column: pyarrow.ChunkedArray | pyarrow.Array) -> NDArray[np.int64]:
    """Return a column of numbers, those of signed integers without NULL in 64 bits; others as Arrow does."""
    found = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if not pyarrow.types.is_signed_integer(found.type) or found.null_count:
        return np.asarray(column.to_numpy())
    kind = np.dtype(f"i{found.type.bit_width // 8}")
    if not len(found):
        return np.zeros(0, np.int64)
    values = np.frombuffer(found.buffers()[1], kind, count=len(found), offset=found.offset * kind.itemsize)
    return values.astype(np.int64, copy=False)
