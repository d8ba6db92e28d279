"""The normal forms of values that arrive as Arrow: frames, records of CSV files, public tables.

Each column is converted by its type or, if it has none, by its declaration; each value by
itself. Nothing here fails on any value. What a library would convert in ways that may fail (times in
seconds to microseconds, decimals of 76 digits) is converted here, so that DuckDB never has to.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping

import pyarrow
import pyarrow.compute as pc
from pyarrow import types

from discreet.data.language.types import Type
from discreet.data.reading.arrow_numbers import integer, missing
from discreet.data.reading.arrow_types import ARROW_TYPES
from discreet.data.reading.normal_forms import LONGEST_TEXT, PRESENT

__all__ = ["lost_values", "normal", "text_form"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6}
_EPOCH = datetime.datetime(1970, 1, 1)
_SECOND = datetime.timedelta(seconds=1)
_FIRST = (datetime.datetime.min - _EPOCH) // _SECOND
_LAST = (datetime.datetime.max - _EPOCH) // _SECOND
_DAY = 86_400


def normal(table: pyarrow.Table, declared: Mapping[str, Type]) -> pyarrow.Table:
    """Return a table with every column in its normal form; a column of no type takes the one declared."""
    columns = [
        _form(table.column(place), declared.get(name, Type.TEXT))
        for place, name in enumerate(table.column_names)
    ]
    return pyarrow.table(columns, names=table.column_names)


def lost_values(before: pyarrow.Table, after: pyarrow.Table) -> dict[str, int]:
    """Return how many values of each column became NULL: private, for the owner only."""
    return {
        name: lost
        for place, name in enumerate(before.column_names)
        if (lost := after.column(place).null_count - _missing(before.column(place)))
    }


def _missing(column: pyarrow.ChunkedArray) -> int:
    """Return how many values are NULL, also through a dictionary."""
    return int(pc.sum(pc.is_null(column)).as_py() or 0)


def _form(column: pyarrow.ChunkedArray, declared: Type) -> pyarrow.ChunkedArray:
    kind = column.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        return column if isinstance(kind, pyarrow.UuidType) else _form(_stored(column), declared)
    if types.is_dictionary(kind):
        # Its values would become part of the schema.
        return _form(_spelled_out(column), declared)
    if types.is_null(kind):
        return column.cast(ARROW_TYPES[declared])
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return text_form(_as_bytes(column))
    if types.is_timestamp(kind):
        return _timestamp(column)
    if types.is_date(kind):
        return _date(column)
    if types.is_decimal(kind):
        return _decimal(column)
    if types.is_float16(kind):
        return column.cast(pyarrow.float32())
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return column
    return _presence(column)


def _stored(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    return pyarrow.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _spelled_out(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    kind = column.type.value_type
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    kind = pyarrow.large_binary() if is_text else kind
    chunks = [
        (_as_bytes(chunk.dictionary) if is_text else chunk.dictionary).cast(kind).take(chunk.indices)
        for chunk in column.chunks
    ]
    spelled = pyarrow.chunked_array(chunks, kind)
    return text_form(spelled).cast(pyarrow.string()) if is_text else spelled


def _as_bytes(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    if types.is_string_view(column.type):
        column = column.cast(pyarrow.binary_view())
    return column.cast(pyarrow.large_binary())


def text_form(content: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return bytes as text, NULL if they are not UTF-8 or too many."""
    is_short = pc.less_equal(pc.binary_length(content), integer(LONGEST_TEXT))
    short = pc.if_else(is_short, content, missing(content.type))
    try:
        return short.cast(pyarrow.string())
    except pyarrow.ArrowInvalid:
        # Arrow judges a whole column at once: here each value counts by itself.
        texts = [_decoded(value) for value in short.to_pylist()]
        return pyarrow.chunked_array([pyarrow.array(texts, pyarrow.string())])


def _decoded(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _timestamp(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return times in microseconds, NULL outside the years 1 to 9999; nanoseconds all lie within them."""
    unit, zone = column.type.unit, column.type.tz
    if unit == "ns":
        return column
    per_second = _PER_SECOND[unit]
    inside = _between(column.cast(pyarrow.int64()), _FIRST * per_second, (_LAST + 1) * per_second - 1)
    micro = pyarrow.timestamp("us", None if zone is None else "UTC")
    return pc.multiply(inside, integer(10**6 // per_second)).cast(micro)


def _date(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    if types.is_date64(column.type):
        milliseconds = _between(column.cast(pyarrow.int64()), _FIRST * 1000, _LAST * 1000)
        return milliseconds.cast(pyarrow.timestamp("ms")).cast(pyarrow.date32(), safe=False)
    days = _between(column.cast(pyarrow.int32()), _FIRST // _DAY, _LAST // _DAY)
    return days.cast(pyarrow.int32()).cast(pyarrow.date32())


def _between(count: pyarrow.ChunkedArray, least: int, most: int) -> pyarrow.ChunkedArray:
    inside = pc.and_(pc.greater_equal(count, integer(least)), pc.less_equal(count, integer(most)))
    return pc.if_else(inside, count, missing(count.type))


def _decimal(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return decimals of at most 38 digits as they are, others as the doubles next to them."""
    kind = column.type
    if kind.precision > 38 or not 0 <= kind.scale <= kind.precision:
        return column.cast(pyarrow.float64())
    return column.cast(pyarrow.decimal128(kind.precision, kind.scale))


def _presence(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    return pc.if_else(pc.is_valid(column), pyarrow.scalar(PRESENT), pyarrow.scalar(None, pyarrow.binary()))
