"""Columns of Python objects, as pandas has them, in the type that was declared.

How a library converts such a column depends on all of its values: one text among numbers, and it is refused
or becomes text. Here the type is the declared one, or text, and each value is converted by itself: it is NULL
if it has another type.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

import pyarrow

from discreet.data.language.types import Type
from discreet.data.reading.arrow_types import ARROW_TYPES

__all__ = ["from_pandas", "of_objects"]

_LARGEST = 1 << 63


def from_pandas(frame: Any, types: Mapping[str, Type]) -> pyarrow.Table:
    """Return a frame of pandas; its columns of objects in the types declared, or as text."""
    names = [str(name) for name in frame.columns]
    columns = []
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        categories = getattr(series.dtype, "categories", None)
        kind = series.dtype if categories is None else getattr(categories, "dtype", None)
        if getattr(kind, "kind", "") == "O" and kind == "object":
            columns.append(of_objects(series.tolist(), types.get(name, Type.TEXT)))
        elif getattr(kind, "storage", None) == "python":
            columns.append(of_objects(series.tolist(), Type.TEXT))
        else:
            columns.append(pyarrow.Array.from_pandas(series))
    return pyarrow.table(columns, names=names)


def of_objects(values: Iterable[object], kind: Type) -> pyarrow.Array:
    """Return objects as a column of a type, NULL if one has no counterpart.

    Text is text; integers, dates and UUIDs are spelled out in it, since they may name persons. No other
    type holds text.
    """
    form = _FORMS[kind]
    return pyarrow.array([_total(form, value) for value in values], ARROW_TYPES[kind])


def _total(form: Callable[[object], object], value: object) -> object:
    try:
        # A missing value of pandas compares to nothing, not even to itself.
        return None if value is None or not bool(value == value) else form(value)  # noqa: PLR0124
    except Exception:  # anything that the methods of an object may raise
        return None


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value.encode("utf-8").decode("utf-8")
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else None


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    whole = int(value)  # type: ignore[arg-type]
    return whole if whole == value and -_LARGEST <= whole < _LARGEST else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def _boolean(value: object) -> bool | None:
    return bool(value) if type(value).__name__ in {"bool", "bool_"} else None


def _date(value: object) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date()
    return value if isinstance(value, datetime.date) else None


def _timestamp(value: object) -> datetime.datetime | None:
    return _moment(value) if isinstance(value, datetime.datetime) and value.tzinfo is None else None


def _instant(value: object) -> datetime.datetime | None:
    aware = isinstance(value, datetime.datetime) and value.tzinfo is not None
    return _moment(value.astimezone(datetime.UTC)) if aware else None  # type: ignore[attr-defined]


def _moment(value: datetime.datetime) -> datetime.datetime:
    """Return a date and time without what a subclass adds."""
    return datetime.datetime.combine(value.date(), value.time(), value.tzinfo)


_FORMS: dict[Type, Callable[[object], object]] = {
    Type.BOOLEAN: _boolean,
    Type.INTEGER: _integer,
    Type.FLOAT: _float,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.TIMESTAMP: _timestamp,
    Type.INSTANT: _instant,
}
