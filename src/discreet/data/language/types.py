"""The types of columns, as far as a request may know them: public facts about a table.

Engines have dozens of types; requests have ten. Two numbers of any types
can be compared, two texts compare by code point, and a date is the midnight it begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeAlias

from discreet.errors import UndeclaredColumn

__all__ = [
    "MOST_DECIMAL_DIGITS",
    "ORDERED_TOGETHER",
    "Schema",
    "Type",
    "column_type",
    "comparable",
    "suggestion",
    "united_digits",
]


class Type(StrEnum):
    """What a column or an expression holds. Every one of them may also hold NULL."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    """Exact decimal fractions."""
    FLOAT = "float"
    """Binary floating point, with NaN and infinities."""
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    """A date and time of day without a time zone, to the microsecond."""
    INSTANT = "instant"
    """A point in time: a date and time of day in UTC, to the microsecond."""
    NULL = "null"
    """The type of the literal NULL."""
    OTHER = "other"
    """Anything else: lists, records, bytes. It can only be tested for NULL."""

    @property
    def is_number(self) -> bool:
        """Whether values of this type can be added and compared with numbers."""
        return self in _NUMBERS


_NUMBERS = frozenset({Type.INTEGER, Type.DECIMAL, Type.FLOAT})

ORDERED_TOGETHER: tuple[frozenset[Type], ...] = (
    _NUMBERS,
    frozenset({Type.TEXT}),
    frozenset({Type.BOOLEAN}),
    frozenset({Type.DATE, Type.TIMESTAMP}),
    frozenset({Type.INSTANT}),
)
"""The families within which values compare."""

MOST_DECIMAL_DIGITS = 38
"""The most digits of a decimal on every engine."""
_DIGITS_OF_INTEGERS = 19

Schema: TypeAlias = Mapping[str, Type]
"""The columns of a table, by name, in order."""


def comparable(left: Type, right: Type) -> bool:
    """Return whether values of two types may be compared."""
    return any(left in family and right in family for family in ORDERED_TOGETHER)


def united_digits(digits: Iterable[tuple[int, int] | None]) -> tuple[int, int] | None:
    """Return the digits, and how many of them are fraction, of a decimal that holds numbers of all of these.

    None stands for an integer of 64 bits among the arguments. The result is None if 38 digits do not
    suffice.
    """
    listed = [(_DIGITS_OF_INTEGERS, 0) if one is None else one for one in digits]
    scale = max(scale for _, scale in listed)
    precision = max(precision - scale for precision, scale in listed) + scale
    return None if precision > MOST_DECIMAL_DIGITS else (precision, scale)


def column_type(name: str, schema: Schema) -> Type:
    """Return the type of a column, or say which columns there are."""
    if name in schema:
        return schema[name]
    known = f"known columns: {suggestion(name, schema)}{_unquoted(name, schema)}"
    raise UndeclaredColumn(f"there is no column {name!r}; {known}")


def suggestion(name: str, schema: Schema) -> str:
    """Name the columns that a mistyped name may have meant."""
    names = get_close_matches(name, schema, n=3, cutoff=0.6) or list(schema)
    shown = ", ".join(repr(name) for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def _unquoted(name: str, schema: Schema) -> str:
    """Say how SQL writes the columns of which a name is one word, as in Patient-Nr, a difference in SQL."""
    whole = [one for one in schema if _is_word_at_an_end(name, one)][:3]
    written = " or ".join('"{}"'.format(one.replace('"', '""')) for one in whole)
    return f"; in SQL, such a name is written in double quotes: {written}" if whole else ""


def _is_word_at_an_end(name: str, whole: str) -> bool:
    if not name or len(whole) <= len(name):
        return False
    before, after = whole[-len(name) - 1], whole[len(name)]
    begins = whole.startswith(name) and not (after.isalnum() or after == "_")
    return begins or (whole.endswith(name) and not (before.isalnum() or before == "_"))
