"""Whether a column's value is one of some declared keys, and which, inside the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import pyarrow
from ibis.expr.types import BooleanColumn, Column, IntegerColumn

from discreet.data.engines.listed import is_among, listed_table
from discreet.data.language.declarations import Keys, KeyValue
from discreet.data.reading.arrow_keys import key_array

__all__ = ["is_listed", "place"]

_LISTED_INLINE = 256
_COMPARED_ONE_BY_ONE = 16


def is_listed(column: Column, keys: Keys) -> BooleanColumn:
    """Return whether the value is a declared key; NULL is one only if it was declared.

    Few keys are written into the statement, many are joined.
    """
    present = [value for value in keys.values if value is not None]
    kind = column.type()
    if len(present) > _LISTED_INLINE:
        declared = column.isin(listed_table(_key_table(keys, present))["value"])
    elif present and (kind.is_string() or kind.is_int64() or kind.is_boolean()):
        declared = is_among(column, present)
    else:
        declared = column.isin([_key_literal(value, column) for value in present])
    return declared | column.isnull() if keys.has_null else declared


def place(column: Column, keys: Keys) -> IntegerColumn:
    """Return which of the declared keys the value is, counted from 0; NULL if it is not one of them.

    Few keys are compared one after the other, many are halved until few are left: all types of keys have one
    order on every engine, that of Python.
    """
    places = {value: ibis.literal(number, type="int64") for number, value in enumerate(keys.values)}
    present = sorted(value for value in keys.values if value is not None)
    found = _found(column, present, places)
    return ibis.ifelse(column.isnull(), places[None], found) if keys.has_null else found


def _found(
    column: Column, values: Sequence[KeyValue], places: Mapping[KeyValue, ibis.Value]
) -> IntegerColumn:
    """Return the place of the column's value among some, in ascending order."""
    if not values:
        return ibis.null("int64")
    if len(values) <= _COMPARED_ONE_BY_ONE:
        branches = [(_key_literal(value, column), places[value]) for value in values]
        return column.cases(*branches, else_=ibis.null("int64"))
    half = len(values) // 2
    below, others = (_found(column, part, places) for part in (values[:half], values[half:]))
    return ibis.ifelse(column < _key_literal(values[half], column), below, others)


def _key_literal(value: object, column: Column) -> ibis.Value:
    if column.type().is_date():
        return ibis.literal(str(value)).cast("date")
    return ibis.literal(value, type=column.type())


def _key_table(keys: Keys, present: Sequence[KeyValue]) -> pyarrow.Table:
    return pyarrow.table({"value": key_array(present, keys.type)})
