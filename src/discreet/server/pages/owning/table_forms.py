"""What a browser sends of a table that is to be declared: a source, a person, limits, and its columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.server.catalogue import ServiceRefusal

__all__ = ["KINDS", "MOST_COLUMNS", "SOURCE_FIELDS", "TABLE_FIELDS", "source_of", "table_of"]

MOST_COLUMNS = 300
"""How many columns a form shows."""

KINDS = {
    "": "in conditions only",
    "bounds": "numbers, with bounds",
    "keys": "groups, with keys",
    "numbered": "groups, with keys that are whole numbers",
    "dates": "days, with the first and the last",
    "integer": "whole numbers, in conditions",
    "float": "numbers, in conditions",
    "boolean": "true or false, in conditions",
    "date": "days, in conditions",
    "timestamp": "times, in conditions",
}
"""What may be declared about a column, and what it is called."""

_TYPES = ("integer", "float", "boolean", "date", "timestamp")
_FORM = ("delimiter", "decimal", "thousands", "encoding", "dates", "times")
_LIMITS = ("rows", "groups", "rows_per_group")
_PARTS = re.compile(r"\s*(?:,|;|\bto\b|\bstep\b|\.\.)\s*")

SOURCE_FIELDS = ("name", "source", "first_line", "names", *(f"csv_{name}" for name in _FORM))
"""Where a table is, and how it is written."""

TABLE_FIELDS = (
    *SOURCE_FIELDS,
    *("person", *_LIMITS, "version", "prepare", "confirmed", "reason", "digest", "drafted"),
    *(f"{what}{place}" for place in range(MOST_COLUMNS) for what in ("column", "kind", "stated")),
)
"""All that is stated of a table."""


def source_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the source for ``/v1/owner/schema``."""
    kind, _, name = fields["source"].partition(":")
    if kind not in {"file", "variable"} or not name:
        raise ServiceRefusal("malformed", "no file is chosen: choose where the rows of the table are")
    form = {part: typed for part in _FORM if (typed := fields[f"csv_{part}"])}
    if form.get("delimiter") == "tab":
        form["delimiter"] = "\t"
    names = _listed(fields["names"])
    stated: dict[str, Any] = {
        **form,
        **({"names": names} if fields["first_line"] == "values" and names else {}),
    }
    if fields["first_line"] == "names":
        stated["first_line_has_names"] = True
    return {kind: name, "csv": stated or None}


def table_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the table for ``/v1/owner/draft``.

    Raises
    ------
    ServiceRefusal
        If it is not said who a person is, or that persons are the same in all tables.
    """
    who, _, column = fields["person"].partition(":")
    if who not in {"column", "row"}:
        raise ServiceRefusal("malformed", "no person is chosen: choose the column that says whose a row is")
    if not fields["confirmed"]:
        raise ServiceRefusal(
            "malformed",
            "tick that persons have the same name in all tables: the promise of the budget needs it",
        )
    limits = {name: _whole(fields[name], name) for name in _LIMITS} if who == "column" else {}
    return {
        "name": fields["name"].strip(),
        **source_of(fields),
        "person": column if who == "column" else None,
        **limits,
        "version": fields["version"].strip() or "1",
        "prepare": bool(fields["prepare"]),
        "columns": {
            fields[f"column{place}"]: _column(fields[f"kind{place}"], fields[f"stated{place}"])
            for place in range(MOST_COLUMNS)
            if fields[f"column{place}"] and fields[f"kind{place}"]
        },
    }


def _column(kind: str, typed: str) -> dict[str, Any]:
    if kind in {"keys", "numbered"}:
        return {"keys": _listed(typed), "numbered": kind == "numbered"}
    if kind in _TYPES:
        return {"type": kind}
    parts = [one for one in _PARTS.split(typed.strip()) if one]
    if kind == "bounds":
        return _named(("lower", "upper", "step"), parts, "bounds are written as: 0 to 5000 step 0.01")
    if kind == "dates":
        return _named(("first", "last"), parts, "days are written as: 2020-01-01 to 2024-12-31")
    raise ServiceRefusal("malformed")


def _named(names: Sequence[str], parts: Sequence[str], example: str) -> dict[str, str]:
    if not 2 <= len(parts) <= len(names):
        raise ServiceRefusal("malformed", example)
    return dict(zip(names, parts, strict=False))


def _listed(typed: str) -> list[str]:
    """Return what is listed, between commas or in lines; what holds a comma stands in quotation marks."""
    try:
        rows = list(csv.reader(typed.replace("\r", "").split("\n"), skipinitialspace=True, strict=True))
    except csv.Error:
        raise ServiceRefusal("malformed", 'a list is written as: north, south, "east, upper"') from None
    return [one.strip() for row in rows for one in row if one.strip()]


def _whole(typed: str, name: str) -> int | None:
    digits = typed.strip()
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise ServiceRefusal("malformed", f"{name.replace('_', ' ')}: a limit is a whole number, such as 10")
    return int(digits)
