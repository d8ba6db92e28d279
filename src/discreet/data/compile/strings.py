"""Functions of text in Ibis, by code points and ASCII letters, so that engines and locales agree."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import ibis
from ibis.expr.types import BooleanValue, IntegerValue, StringValue

from discreet.data.language.expressions import Function
from discreet.data.reading.normal_forms import LONGEST_RESULT

__all__ = ["FUNCTIONS", "stripped", "without"]

_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase


@ibis.udf.scalar.builtin(name="trim")  # type: ignore[untyped-decorator]
def _trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Return a text without some characters at both ends."""


@ibis.udf.scalar.builtin(name="left")  # type: ignore[untyped-decorator]
def _left(text: str, length: int) -> str:  # type: ignore[empty-body]
    """Return this many code points from the start of a text."""


def stripped(text: StringValue) -> StringValue:
    """Return a text without the spaces at both ends."""
    return _trim(text, " ")


def without(text: StringValue, characters: str) -> StringValue:
    """Return a text without some ASCII characters, wherever they are."""
    # Where one character is replaced by itself no engine sees an empty list of replacements.
    return text.translate(" " + characters, " ")


def _lower(text: StringValue) -> StringValue:
    return text.translate(_UPPER, _LOWER)


def _upper(text: StringValue) -> StringValue:
    return text.translate(_LOWER, _UPPER)


def _length(text: StringValue) -> IntegerValue:
    return text.length().cast("int64")


def _substring(text: StringValue, start: int, length: int | None = None) -> StringValue:
    return text.substr(start - 1) if length is None else text.substr(start - 1, length)


def _cut(text: StringValue) -> StringValue:
    """Return the beginning of a concatenated text, so that no text becomes too long for an engine."""
    return _left(text, LONGEST_RESULT)


def _concat(*parts: Any) -> StringValue:
    """Join texts as a balanced tree: the beginning of a whole is that of its parts' beginnings."""
    if len(parts) == 1:
        return ibis.literal(parts[0]) if isinstance(parts[0], str) else parts[0]
    half = len(parts) // 2
    return _cut(_concat(*parts[:half]) + _concat(*parts[half:]))


def _starts_with(text: StringValue, start: Any) -> BooleanValue:
    return text.startswith(start)


def _ends_with(text: StringValue, end: Any) -> BooleanValue:
    return text.endswith(end)


def _contains(text: StringValue, part: Any) -> BooleanValue:
    return text.contains(part)


def _like(text: StringValue, pattern: str) -> BooleanValue:
    return text.like(pattern)


def _replace(text: StringValue, old: str, new: str) -> StringValue:
    replaced = text.replace(old, new)
    return replaced if len(new) <= len(old) else _cut(replaced)


FUNCTIONS: dict[Function, Callable[..., Any]] = {
    Function.LOWER: _lower,
    Function.UPPER: _upper,
    Function.TRIM: stripped,
    Function.LENGTH: _length,
    Function.SUBSTRING: _substring,
    Function.CONCAT: _concat,
    Function.STARTS_WITH: _starts_with,
    Function.ENDS_WITH: _ends_with,
    Function.CONTAINS: _contains,
    Function.LIKE: _like,
    Function.REPLACE: _replace,
}
