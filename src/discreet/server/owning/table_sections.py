"""A table as an owner states it, and the section of the declaration that says so.

What was stated becomes plain values, and those become TOML: every text in quotes, every number as typed. What
they mean is judged by the reader of declarations, as if they had been typed into the file.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from discreet.data import EACH_ROW, Csv, Schema, Table, Type
from discreet.errors import ParameterError
from discreet.front.declaring.toml_text import number_text, toml_key, toml_value
from discreet.server.owning.owner_options import OwnerOptions, is_csv

__all__ = ["StatedTable", "described", "section_text"]

StatedTable: TypeAlias = Mapping[str, Any]
"""What an owner states of a table: the fields of `TableBody`."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_BOUNDS = ("lower", "upper", "step")
_LIMITS = ("rows", "groups", "rows_per_group")


def described(stated: StatedTable, options: OwnerOptions) -> Schema:
    """Return names and types of the columns of a source; no value of it.

    The first line of a CSV file is read as names only if the owner says that it holds them.
    """
    return Table(_source(stated, options), person=EACH_ROW).schema


def section_text(stated: StatedTable, options: OwnerOptions, beside: Path) -> str:
    """Return the section that declares a table.

    Parameters
    ----------
    stated : mapping
        What the owner states.
    options : OwnerOptions
        Where tables may come from.
    beside : Path
        The declaration, at whose folder relative paths begin.
    """
    name = stated["name"]
    if not _NAME.fullmatch(name):
        raise ParameterError("name", "is not the name of a table", "letters, digits and _, a letter first")
    schema = described(stated, options)
    lines = [f"[tables.{toml_key(name)}]", *_place(stated, options, beside), *_person(stated)]
    lines.append(f"version = {toml_value(stated['version'])}")
    if stated["prepare"]:
        lines.append("prepare = true")
    lines += ["", f"[tables.{toml_key(name)}.columns]"]
    lines += [f"{toml_key(one)} = {_column(one, facts, schema)}" for one, facts in stated["columns"].items()]
    return "\n".join([*lines, ""])


def _source(stated: StatedTable, options: OwnerOptions) -> Path | str | Csv:
    if (stated["file"] is None) == (stated["variable"] is None):
        raise ParameterError("file", "and variable are both given or both missing", "one of them")
    if stated["variable"] is not None:
        return options.variable(stated["variable"])
    path = options.file(stated["file"])
    return Csv(path, **_form(stated)) if is_csv(stated["file"]) else path


def _form(stated: StatedTable) -> dict[str, Any]:
    """Return how a CSV file is written, and refuse to take its first line for names unless that is said."""
    stated_form = stated["csv"] or {}
    form = {name: one for name, one in stated_form.items() if one and name != "first_line_has_names"}
    if bool(form.get("names")) == bool(stated_form.get("first_line_has_names")):
        raise ParameterError(
            "csv", "does not say what the first line holds", "that it has the names of columns, or the names"
        )
    return form


def _place(stated: StatedTable, options: OwnerOptions, beside: Path) -> list[str]:
    if stated["variable"] is not None:
        return [f"source_env = {toml_value(stated['variable'])}"]
    path = options.file(stated["file"])
    home = Path(os.path.realpath(beside.parent))
    near = path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)
    lines = [f"source = {toml_value(str(path) if near.startswith('~') else near)}"]
    if is_csv(stated["file"]) and (form := _form(stated)):
        lines.append(f"csv = {toml_value(form)}")
    return lines


def _person(stated: StatedTable) -> list[str]:
    if stated["person"] is None:
        return ["each_row = true"]
    limits = {name: stated[name] for name in _LIMITS if stated[name] is not None}
    return [f"person = {toml_value(stated['person'])}", f"limits = {toml_value(limits)}"]


def _column(name: str, facts: Mapping[str, Any], schema: Schema) -> str:
    if facts["keys"] is not None:
        keys = [_key(one, schema.get(name), numbered=facts["numbered"]) for one in facts["keys"]]
        return toml_value({"keys": keys, **({"null_key": True} if facts["null_key"] else {})})
    if facts["first"] is not None or facts["last"] is not None:
        days = {one: _day(facts[one], one) for one in ("first", "last")}
        return toml_value({"dates": days})
    if facts["type"] is not None:
        return toml_value({"type": facts["type"]})
    ends = {one: facts[one] for one in _BOUNDS if facts[one] is not None}
    if not ends:
        raise ParameterError("columns", f"declares nothing about {name!r}", "bounds, keys, dates or a type")
    return f"{{ {', '.join(f'{one} = {number_text(value)}' for one, value in ends.items())} }}"


def _key(text: str, kind: Type | None, *, numbered: bool) -> object:
    """Return a key as the column holds it: a number, a truth value, a day or a text."""
    if (kind is Type.INTEGER or numbered) and _WHOLE.fullmatch(text):
        return int(text)
    if kind is Type.BOOLEAN and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    return _day(text, "keys") if kind is Type.DATE else text


def _day(text: str | None, name: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text or "")
    except ValueError:
        raise ParameterError(name, "is not a day", "a day such as 2026-01-31") from None
