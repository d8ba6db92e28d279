"""Functions of text in Ibis, by code points and ASCII letters, so that engines and locales agree."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

import ibis
from ibis.expr.types import BooleanValue, IntegerValue, StringValue

from discreet.data.expressions import Function

__all__ = ["FUNCTIONS", "stripped", "without"]

_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase


@ibis.udf.scalar.builtin(name="trim")  # type: ignore[untyped-decorator]
def _trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Return a text without some characters at both ends."""


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


def _concat(*parts: Any) -> StringValue:
    joined = parts[0]
    for part in parts[1:]:
        joined += ibis.literal(part) if isinstance(part, str) else part
    return joined


def _starts_with(text: StringValue, start: Any) -> BooleanValue:
    return text.startswith(start)


def _ends_with(text: StringValue, end: Any) -> BooleanValue:
    return text.endswith(end)


def _contains(text: StringValue, part: Any) -> BooleanValue:
    return text.contains(part)


def _like(text: StringValue, pattern: str) -> BooleanValue:
    return text.like(pattern)


def _replace(text: StringValue, old: str, new: str) -> StringValue:
    return text.replace(old, new)


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
