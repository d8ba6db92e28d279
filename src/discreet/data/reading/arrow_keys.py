"""Lists of declared keys as Arrow arrays, made of buffers: see `arrow_numbers` for why."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow

from discreet.data.language.types import Type
from discreet.data.reading.arrow_types import ARROW_TYPES

if TYPE_CHECKING:
    from discreet.data.language.declarations import KeyValue

__all__ = ["key_array"]

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_WIDTHS = {Type.INTEGER: np.int64, Type.DATE: np.int32}
_MOST_BYTES = 1 << 30
"""Longer lists of text than this are left to Arrow, which knows what to do beyond 32 bits."""


def key_array(values: Sequence[KeyValue], kind: Type) -> pyarrow.Array:
    """Return keys of one type, in their order; None is NULL.

    Parameters
    ----------
    values : sequence
        As `Keys` has them.
    kind : Type
        TEXT, INTEGER, BOOLEAN or DATE.
    """
    present = np.array([value is not None for value in values], np.bool_)
    buffers = [None if present.all() else _bits(present)]
    if kind is Type.TEXT:
        texts = [b"" if value is None else str(value).encode("utf-8") for value in values]
        content = b"".join(texts)
        if len(content) > _MOST_BYTES:
            return pyarrow.array(values, ARROW_TYPES[kind])
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        buffers += [pyarrow.py_buffer(ends), pyarrow.py_buffer(content)]
    elif kind is Type.BOOLEAN:
        buffers.append(_bits(np.array([value is True for value in values], np.bool_)))
    else:
        numbers = [_number(value) for value in values]
        buffers.append(pyarrow.py_buffer(np.array(numbers, _WIDTHS[kind])))
    return pyarrow.Array.from_buffers(ARROW_TYPES[kind], len(values), buffers)


def _number(value: KeyValue) -> int:
    """Return an integer as it is, a day as those since 1970 began, and 0 for NULL."""
    if isinstance(value, datetime.date):
        return value.toordinal() - _EPOCH
    return value if isinstance(value, int) else 0


def _bits(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pyarrow.Buffer:
    return pyarrow.py_buffer(np.packbits(chosen, bitorder="little"))
