"""TOML as it is written: every text in quotes, every number as it was typed."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from fractions import Fraction

from discreet.data import Bounds, Limits

__all__ = ["bounds_text", "limits_text", "number_text", "quoted", "toml_key", "toml_value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def quoted(text: str) -> str:
    """Write a text as TOML does; what JSON escapes is escaped alike."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(name: str) -> str:
    """Write a key as TOML does."""
    return name if _BARE.fullmatch(name) else quoted(name)


def number_text(text: str) -> str:
    """Write a number as it was typed; anything else, such as a ratio, as text that its reader judges."""
    return text if _NUMBER.fullmatch(text) else quoted(text)


def toml_value(value: object) -> str:
    """Write a value as TOML does.

    Examples
    --------
    >>> toml_value({"keys": ["north", 3, True]})
    '{ keys = ["north", 3, true] }'
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(name)} = {toml_value(one)}" for name, one in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | datetime.date):
        return str(value)
    if isinstance(value, Fraction):
        return number_text(_decimal(value))
    assert isinstance(value, str)  # noqa: S101
    return quoted(value)


def bounds_text(column: str, bounds: Bounds) -> str:
    """Write the line that declares the bounds of a column."""
    ends = {"lower": bounds.lower, "upper": bounds.upper}
    steps = {} if bounds.step is None else {"step": bounds.step}
    return f"{toml_key(column)} = {toml_value({**ends, **steps})}"


def limits_text(limits: Limits) -> str:
    """Write the line that declares the limits of a table."""
    named = {"rows": limits.rows, "groups": limits.groups, "rows_per_group": limits.rows_per_group}
    return f"limits = {toml_value({name: one for name, one in named.items() if one is not None})}"


def _decimal(number: Fraction) -> str:
    """Return an exact number as a decimal, or as a ratio if no decimal is equal to it."""
    places = 0
    while number.denominator != 1 and (number * 10**places).denominator != 1 and places < 30:
        places += 1
    shifted = number * 10**places
    if shifted.denominator != 1:
        return str(number)
    digits = str(abs(shifted.numerator)).rjust(places + 1, "0")
    written = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{written}" if number < 0 else written
