"""The constants that a request states: what a literal holds, and the type that it has."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery
from discreet.privacy.rational import rational

__all__ = ["LiteralValue", "literal_type", "literal_value"]

LiteralValue: TypeAlias = bool | int | Fraction | str | datetime.date | datetime.datetime | None
"""What a literal holds: whole numbers are ints, other numbers fractions."""

_TYPES: tuple[tuple[type, Type], ...] = (
    (type(None), Type.NULL),
    (bool, Type.BOOLEAN),
    (int, Type.INTEGER),
    (Fraction, Type.DECIMAL),
    (str, Type.TEXT),
    (datetime.datetime, Type.TIMESTAMP),
    (datetime.date, Type.DATE),
)


def literal_value(value: object) -> LiteralValue:
    """Return what was typed as the plain value that a literal holds.

    Floats and Decimals mean the exact decimal that was typed, NumPy's scalars what they hold, and a
    datetime with a time zone its instant in UTC. The message of a refusal never contains the value.
    """
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal | Fraction):
        number = rational(value, "a literal")
        return number.numerator if number.denominator == 1 else number
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, datetime.datetime):
        # A subclass, such as that of pandas, may hold more than microseconds.
        plain = datetime.datetime.combine(value.date(), value.time(), value.tzinfo)
        return plain if plain.tzinfo is None else plain.astimezone(datetime.UTC)
    if isinstance(value, datetime.date):
        return value
    raise UnsupportedQuery(
        f"a literal of type {type(value).__name__} is not supported; "
        "write a number, text, a date, a datetime, True, False or None"
    )


def literal_type(value: LiteralValue) -> Type:
    """Return the type of a literal that holds a value."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return Type.INSTANT
    for kind, found in _TYPES:
        if isinstance(value, kind):
            return found
    raise UnsupportedQuery("a literal has an unknown type; make it with discreet.data.literal")


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
        encodable = "\0" not in value
    except UnicodeEncodeError:
        encodable = False
    if not encodable:
        raise UnsupportedQuery(
            "a text literal contains a NUL or an incomplete character; write well-formed text"
        )
    return str(value)
