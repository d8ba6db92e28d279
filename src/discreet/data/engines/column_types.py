"""One engine type for each type of a request, and how values of two types are combined.

Facts know ten types, engines dozens. What is inferred from facts (two columns are equal, a public row is
the only one, a person is one person) holds in the engine only if both sides of an equality are of one type
there, and if that type distinguishes all their values. So every column is converted to one form when its
table is opened:

==================================  =====================================================
stored                              read as
==================================  =====================================================
integers that 64 bits hold          INTEGER, a signed integer of 64 bits
unsigned integers of 64 bits        DECIMAL of 20 digits; INTEGER if declared so
integers of 128 bits                DECIMAL of 38 digits, NULL beyond; INTEGER if declared so
decimals of up to 38 digits         DECIMAL, of their own digits; without fraction INTEGER if declared so
floats of any width                 FLOAT, a double
==================================  =====================================================

A number that is read as INTEGER because it was declared so, by `Keys` or as a `Type`, is NULL beyond 64
bits; one with `Bounds` is clipped to 64 bits, which hold the bounds. Exact numbers are combined as
integers or decimals that hold both, never as doubles; what no decimal of 38 digits holds is refused
before anything is charged (`check_together`). Doubles are used only if one of two columns is a
FLOAT. (Proof: contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Table, Value

from discreet.data.language.types import united_digits

__all__ = ["alike", "common", "to_agreed_types"]

_UNSIGNED = dt.Decimal(20, 0)
_LEAST, _LARGEST = -(1 << 63), (1 << 63) - 1


def to_agreed_types(table: Table, whole: Mapping[str, bool]) -> Table:
    """Return a table in the types above.

    Parameters
    ----------
    table : Ibis table
        With the columns of a stored table.
    whole : mapping of names to booleans
        The columns that were declared to be integers, and whether those beyond 64 bits are clipped.
    """
    changed = {}
    for name, kind in table.schema().items():
        column = table[name]
        if kind.is_integer() and not kind.is_int64():
            column = column.cast(_UNSIGNED if kind.is_uint64() else dt.int64)
        elif kind.is_floating() and not kind.is_float64():
            column = column.cast(dt.float64)
        if name in whole and column.type().is_decimal() and column.type().scale == 0:
            column = _integer(column, is_clipped=whole[name])
        if column.type() != kind:
            changed[name] = column
    return table.mutate(**changed) if changed else table


def _integer(value: Value, *, is_clipped: bool) -> Value:
    """Return a decimal without fraction as an integer of 64 bits; NULL or clipped beyond."""
    kind = value.type()
    ends = [min(max(end, 1 - 10**kind.precision), 10**kind.precision - 1) for end in (_LEAST, _LARGEST)]
    least, largest = (ibis.literal(str(end)).cast(kind) for end in ends)
    if is_clipped:
        clipped = ibis.greatest(ibis.least(value, largest), least)
        return ibis.ifelse(value.notnull(), clipped, ibis.null(kind)).cast(dt.int64)
    held = (value >= least) & (value <= largest)
    return ibis.ifelse(held, value, ibis.null(kind)).cast(dt.int64)


def common(kinds: Sequence[dt.DataType]) -> dt.DataType:
    """Return the type in which values of some types are compared and united.

    Raises
    ------
    TypeError
        For types that facts do not allow together: a bug in this program.
    """
    plain = {_form(kind) for kind in kinds}
    if len(plain) == 1:
        return plain.pop()
    if all(kind.is_int64() or kind.is_decimal() for kind in plain):
        digits = united_digits((kind.precision, kind.scale) if kind.is_decimal() else None for kind in plain)
        if digits is not None:
            return dt.Decimal(*digits)
    elif all(kind.is_int64() or kind.is_decimal() or kind.is_float64() for kind in plain):
        return dt.float64
    elif all(kind.is_timestamp() for kind in plain) and len({kind.timezone is None for kind in plain}) == 1:
        return dt.Timestamp(timezone=kinds[0].timezone, scale=6)
    raise TypeError("types that do not meet")


def _form(kind: dt.DataType) -> dt.DataType:
    """Return the type that calculated values of a type are taken in."""
    if kind.is_integer() and not kind.is_uint64():
        return dt.int64
    if kind.is_floating():
        return dt.float64
    return dt.string if kind.is_string() else kind.copy(nullable=True)


def alike(one: Value, other: Value) -> tuple[Value, Value]:
    """Return two values that will be compared as values of one type."""
    kind = common([one.type(), other.type()])
    return one.cast(kind), other.cast(kind)
