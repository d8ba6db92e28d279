"""What a browser sends: fields of a form, read once, each with a name that is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from discreet.server.catalogue import ServiceRefusal

__all__ = ["question_body", "read_fields", "stated_errors"]

_MOST_FIELDS = 32
_TERMS = ("epsilon", "delta", "confidence", "rows")


def read_fields(body: bytes, known: Iterable[str]) -> dict[str, str]:
    """Return the fields of a form; missing ones are empty.

    Raises
    ------
    ServiceRefusal
        If it is not a form, or has a field that is not known, or one twice.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise ServiceRefusal("malformed") from None
    fields = dict(pairs)
    if len(fields) < len(pairs) or not fields.keys() <= {*known}:
        raise ServiceRefusal("malformed")
    return {name: fields.get(name, "") for name in known}


def question_body(fields: dict[str, str]) -> dict[str, Any]:
    """Return what is sent to ``/v1/preview`` and ``/v1/ask`` for the fields of the editor.

    A margin that is wanted stands instead of an epsilon. Numbers go on as they were typed: who reads them
    there says what is wrong with them.
    """
    body: dict[str, Any] = {"question": fields["question"].replace("\r\n", "\n").strip()}
    stated = {name: fields[name].strip() for name in _TERMS if fields[name].strip()}
    if errors := stated_errors(fields["error"]):
        stated.pop("epsilon", None)
        body["error"] = errors
    if "rows" in stated:
        body["rows"] = _whole(stated.pop("rows"))
    return {**body, **stated}


def stated_errors(text: str) -> dict[str, str]:
    """Return the margin that is wanted for each output, of ``n=100, mean_cost=5``."""
    found: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in text.replace("\n", ",").split(","))):
        name, equals, number = (one.strip() for one in pair.rpartition("="))
        if not equals or not name or name in found:
            raise ServiceRefusal("malformed", "the wanted error is written as: n=100, mean_cost=5")
        found[name] = number
    return found


def _whole(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise ServiceRefusal("malformed", "the number of rows is written as: 20000")
    return int(digits)
