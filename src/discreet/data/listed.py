"""Whether a column's value is one of some declared keys, and which, inside the engine."""

from __future__ import annotations

from collections.abc import Sequence

import ibis
import pyarrow
from ibis.expr.types import BooleanColumn, Column, IntegerColumn

from discreet.data.declarations import Keys
from discreet.data.schema import Type

__all__ = ["is_listed", "place"]

_LISTED_INLINE = 256


def is_listed(column: Column, keys: Keys) -> BooleanColumn:
    """Return whether the value is a declared key; NULL is one only if it was declared.

    Few keys are written into the statement, many are joined.
    """
    present = [value for value in keys.values if value is not None]
    if len(present) <= _LISTED_INLINE:
        declared = column.isin([_key_literal(value, column) for value in present])
    else:
        declared = column.isin(ibis.memtable(_key_table(keys, present))["value"])
    return declared | column.isnull() if keys.has_null else declared


def place(column: Column, keys: Keys) -> IntegerColumn:
    """Return which of the declared keys the value is, counted from 0; NULL where it is none."""
    places = {value: ibis.literal(number, type="int64") for number, value in enumerate(keys.values)}
    present = [(_key_literal(value, column), number) for value, number in places.items() if value is not None]
    found = column.cases(*present, else_=ibis.null("int64"))
    return ibis.ifelse(column.isnull(), places[None], found) if keys.has_null else found


def _key_literal(value: object, column: Column) -> ibis.Value:
    if column.type().is_date():
        return ibis.literal(str(value)).cast("date")
    return ibis.literal(value)


def _key_table(keys: Keys, present: Sequence[object]) -> pyarrow.Table:
    kinds = {Type.INTEGER: pyarrow.int64(), Type.TEXT: pyarrow.string(), Type.DATE: pyarrow.date32()}
    return pyarrow.table({"value": pyarrow.array(present, kinds[keys.type])})
