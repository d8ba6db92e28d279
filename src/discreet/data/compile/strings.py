"""Functions of text in Ibis, by code points and ASCII letters, so that engines and locales agree."""

from __future__ import annotations

import string
from typing import Any

import ibis
from ibis.expr.types import BooleanValue, IntegerValue, StringValue

from discreet.data.compile.calls import CallLine, of_texts
from discreet.data.reading.normal_forms import LONGEST_RESULT

__all__ = ["FUNCTIONS", "concat_texts", "replace", "stripped", "without"]

_LOWER, _UPPER = string.ascii_lowercase, string.ascii_uppercase


@ibis.udf.scalar.builtin(name="trim")  # type: ignore[untyped-decorator]
def _trim(text: str, characters: str) -> str:  # type: ignore[empty-body]
    """Return a text without some characters at both ends."""


@ibis.udf.scalar.builtin(name="left")  # type: ignore[untyped-decorator]
def _left(text: str, length: int) -> str:  # type: ignore[empty-body]
    """Return this many code points from the start of a text."""


@ibis.udf.scalar.builtin(name="right")  # type: ignore[untyped-decorator]
def _right(text: str, length: int) -> str:  # type: ignore[empty-body]
    """Return this many code points from the end of a text."""


@ibis.udf.scalar.builtin(name="lpad")  # type: ignore[untyped-decorator]
def _lpad(text: str, length: int, fill: str) -> str:  # type: ignore[empty-body]
    """Return a text filled up before its start, or cut at its end, to a length."""


@ibis.udf.scalar.builtin(name="rpad")  # type: ignore[untyped-decorator]
def _rpad(text: str, length: int, fill: str) -> str:  # type: ignore[empty-body]
    """Return a text filled up behind its end, or cut there, to a length."""


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


def concat_texts(*parts: Any) -> StringValue:
    """Join texts as a balanced tree: the beginning of a whole is that of its parts' beginnings."""
    if len(parts) == 1:
        return ibis.literal(parts[0]) if isinstance(parts[0], str) else parts[0]
    half = len(parts) // 2
    return _cut(concat_texts(*parts[:half]) + concat_texts(*parts[half:]))


def _position(text: StringValue, part: Any) -> IntegerValue:
    return text.find(part).cast("int64") + ibis.literal(1, type="int64")


def _starts_with(text: StringValue, start: Any) -> BooleanValue:
    return text.startswith(start)


def _ends_with(text: StringValue, end: Any) -> BooleanValue:
    return text.endswith(end)


def _contains(text: StringValue, part: Any) -> BooleanValue:
    return text.contains(part)


def _like(text: StringValue, pattern: str) -> BooleanValue:
    return text.like(pattern)


def replace(text: StringValue, old: str, new: str) -> StringValue:
    """Return a text with every occurrence of another replaced, cut where it would become too long."""
    replaced = text.replace(old, new)
    return replaced if len(new) <= len(old) else _cut(replaced)


FUNCTIONS: dict[str, CallLine] = {
    "lower": of_texts(_lower),
    "upper": of_texts(_upper),
    "trim": of_texts(stripped),
    "length": of_texts(_length),
    "substring": of_texts(_substring),
    "right": of_texts(_right),
    "lpad": of_texts(_lpad),
    "rpad": of_texts(_rpad),
    "position": of_texts(_position),
    "concat": of_texts(concat_texts),
    "starts_with": of_texts(_starts_with),
    "ends_with": of_texts(_ends_with),
    "contains": of_texts(_contains),
    "like": of_texts(_like),
    "replace": of_texts(replace),
}
