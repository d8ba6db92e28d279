"""What a browser sends: fields of a form, read once, each with a name that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from discreet.server.catalogue import ServiceRefusal

__all__ = ["MOST_FIELDS", "question_body", "question_fields", "read_fields", "stated_numbers"]

MOST_FIELDS = 32
"""How many fields a form has, unless it says otherwise."""

_TERMS = ("epsilon", "delta", "confidence", "rows")
_BOUGHT = {"": (), "bounds": ("bounds",), "limits": ("limits",), "both": ("bounds", "limits")}


def read_fields(body: bytes, known: Iterable[str], *, most: int = MOST_FIELDS) -> dict[str, str]:
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
            max_num_fields=most,
        )
    except ValueError:
        raise ServiceRefusal("malformed") from None
    fields = dict(pairs)
    if len(fields) < len(pairs) or not fields.keys() <= {*known}:
        raise ServiceRefusal("malformed")
    return {name: fields.get(name, "") for name in known}


def question_body(fields: dict[str, str]) -> dict[str, Any]:
    """Return what is sent to ``/v1/preview`` and ``/v1/ask`` for the fields of the editor.

    A margin that is wanted stands instead of an epsilon, and "auto" for what is bought. Numbers go on as
    they were typed: who reads them there says what is wrong with them.
    """
    body: dict[str, Any] = {"question": fields["question"].replace("\r\n", "\n").strip()}
    stated = {name: fields[name].strip() for name in _TERMS if fields[name].strip()}
    if errors := stated_numbers(fields["error"], "the wanted error is written as: n=100, mean_cost=5"):
        stated.pop("epsilon", None)
        body["error"] = errors
    if (buy := fields["buy"]) not in _BOUGHT:
        raise ServiceRefusal("malformed")
    body |= dict.fromkeys(_BOUGHT[buy], "auto")
    if "rows" in stated:
        body["rows"] = _whole(stated.pop("rows"))
    return {**body, **stated}


def question_fields(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of the editor that send a body."""
    errors = ", ".join(f"{name}={one}" for name, one in body.get("error", {}).items())
    bought = tuple(one for one in _BOUGHT["both"] if one in body)
    buy = next(name for name, terms in _BOUGHT.items() if terms == bought)
    stated = {name: str(body.get(name, "")) for name in ("question", *_TERMS)}
    return {**stated, "error": errors, "buy": buy}


def stated_numbers(text: str, example: str) -> dict[str, str]:
    """Return the number that is stated for each name, of ``n=100, mean_cost=5``."""
    found: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in text.replace("\n", ",").split(","))):
        name, equals, number = (one.strip() for one in pair.rpartition("="))
        if not equals or not name or name in found:
            raise ServiceRefusal("malformed", example)
        found[name] = number
    return found


def _whole(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise ServiceRefusal("malformed", "the number of rows is written as: 20000")
    return int(digits)
