"""Canonical text: one text for each value, so that a hash of the text is a hash of the value.

Values are those of JSON without floats: objects, lists, strings, integers of 64 bits, true, false
and null. A fraction is a string ("1/3"), as in events and filters. Keys are sorted, nothing is
padded, and everything that is not ASCII is escaped.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MOST_CHARACTERS", "Body", "Value", "canonical", "check_body", "read_canonical"]

Value: TypeAlias = "str | int | Sequence[Value] | Mapping[str, Value] | None"
"""What a body may hold. A bool is an int."""

Body: TypeAlias = "Mapping[str, Value]"
"""What an entry says: public facts only, never a value from the data."""

MOST_CHARACTERS = 1 << 20
"""The longest body, as canonical text."""

_DEEPEST = 64
_MOST_INTEGER = 1 << 63
_SURROGATE = re.compile("[\ud800-\udfff]")


def canonical(value: Value) -> str:
    """Write a value as its one canonical text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def check_body(body: Body) -> str:
    """Return the canonical text of a body.

    Raises
    ------
    ParameterError
        If it is not an object, holds something that is not a value, or is too long or too deep. The message
        names types only.
    """
    if not isinstance(body, dict):
        raise ParameterError("body", f"is a {type(body).__name__}", "a dict")
    _check(body, _DEEPEST)
    text = canonical(body)
    if len(text) > MOST_CHARACTERS:
        raise ParameterError("body", "is too long", f"at most {MOST_CHARACTERS} characters of JSON")
    return text


def read_canonical(text: str) -> dict[str, Value]:
    """Read an object back.

    Raises
    ------
    ValueError
        If the text is not the canonical text of an object.
    """
    try:
        content = json.loads(text, parse_float=_no_float, parse_constant=_no_float)
        if isinstance(content, dict) and canonical(content) == text:
            return content
    except RecursionError:
        pass
    raise ValueError("not canonical")


def _check(value: object, depth: int) -> None:
    """Refuse values without a canonical text of their own."""
    if depth == 0:
        raise ParameterError("body", "is too deep", f"at most {_DEEPEST} levels")
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise ParameterError("body", "holds half of a surrogate pair", "whole characters")
    elif isinstance(value, int):
        if not -_MOST_INTEGER <= value < _MOST_INTEGER:
            raise ParameterError("body", "holds an integer beyond 64 bits", "large numbers as strings")
    elif isinstance(value, list | tuple):
        for part in value:
            _check(part, depth - 1)
    elif isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                raise ParameterError("body", f"has a key of type {type(key).__name__}", "strings as keys")
            _check(key, depth)
            _check(part, depth - 1)
    elif value is not None:
        raise ParameterError(
            "body", f"holds a {type(value).__name__}", "strings, integers, booleans, None, lists, objects"
        )


def _no_float(_: str) -> float:
    raise ValueError("a float")
