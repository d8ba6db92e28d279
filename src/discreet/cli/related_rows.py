"""Two related synthetic tables: both in one text for people or in JSON, or a file for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.cli.synthetic_rows import csv_of, json_of, lines_of, objects_of, parquet_of, shown_of
from discreet.visible import visible

if TYPE_CHECKING:
    from discreet.synthesis.asking.related_release import RelatedRelease

__all__ = ["render_related"]


def render_related(
    found: RelatedRelease, form: str, *, seed: int, bill: Mapping[str, object]
) -> tuple[bytes, bytes]:
    """Return the file of persons and that of events; of forms that hold both tables, the first does."""
    if form == "parquet":
        persons, events = (parquet_of(table, found.label) for table in found.to_arrow(seed=seed).values())
        return persons, events
    tables = found.data.columns(found.rows, seed=seed)
    lines = {name: lines_of(columns) for name, columns in tables.items()}
    if form == "csv":
        persons, events = (csv_of(columns, lines[name]) for name, columns in tables.items())
        return persons, events
    if form == "json":
        rows = {name: objects_of(columns, lines[name]) for name, columns in tables.items()}
        return json_of({**bill, "synthetic": rows, "seed": seed, "label": found.label}), b""
    shown = [f"{visible(name)}\n{shown_of(list(columns), lines[name])}" for name, columns in tables.items()]
    text = "\n\n".join([*shown, repr(found.data)])
    return f"{text}\n".encode(), b""
