"""Answers as a table for people or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import fill
from typing import TYPE_CHECKING

from discreet.privacy.decimals import json_number
from discreet.visible import visible_json, visible_lines

if TYPE_CHECKING:
    from discreet.accounting import Interval

__all__ = ["as_json", "as_table", "interval"]

_WIDTH = 100


def as_table(lines: Mapping[str, str]) -> str:
    """Write names and values in two columns; what is empty is left out, what is long is wrapped."""
    width = max(len(name) for name in lines) + 2
    return "\n".join(
        fill(
            name.ljust(width) + visible_lines(text),
            width=_WIDTH,
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name, text in lines.items()
        if text
    )


def as_json(content: Mapping[str, object]) -> str:
    """Write an object; infinity, which JSON lacks, is the text "infinity"."""
    return visible_json(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def interval(found: Interval) -> dict[str, object]:
    """Return the JSON value of an interval."""
    return {"lower": json_number(found.lower), "upper": json_number(found.upper)}
