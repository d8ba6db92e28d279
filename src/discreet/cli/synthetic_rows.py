"""Synthetic rows as a table for people, and as CSV, JSON or Parquet for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.cli.rendering import grid
from discreet.visible import visible, visible_json

if TYPE_CHECKING:
    from discreet.synthesis.asking.synthesis_release import SynthesisRelease

__all__ = ["render_rows"]

_SHOWN = 10


def render_rows(found: SynthesisRelease, form: str, *, seed: int, bill: Mapping[str, object]) -> bytes:
    """Return synthetic rows as the bytes of a file; a table for people shows the first ten."""
    from discreet.curator.release.json_form import json_value

    if form == "parquet":
        return _parquet(found, seed)
    columns = found.data.columns(found.rows, seed=seed)
    lines = [[json_value(value) for value in row] for row in zip(*columns.values(), strict=True)]
    if form == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)
        return stream.getvalue().encode()
    if form == "json":
        rows = [dict(zip(columns, line, strict=True)) for line in lines]
        content = {**bill, "synthetic": rows, "seed": seed, "label": found.label}
        written = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        return f"{visible_json(written)}\n".encode()
    return f"{_table(list(columns), lines, found)}\n".encode()


def _table(names: Sequence[str], lines: Sequence[Sequence[object]], found: SynthesisRelease) -> str:
    shown = [["" if value is None else visible(str(value)) for value in line] for line in lines[:_SHOWN]]
    more = f"synthetic rows: {len(lines):,}"
    if len(lines) > _SHOWN:
        more += f", of which {_SHOWN} are shown; --output FILE writes all of them"
    return "\n".join([grid([[visible(name) for name in names], *shown]), more, repr(found.data)])


def _parquet(found: SynthesisRelease, seed: int) -> bytes:
    """Write a Parquet file that carries its label in the metadata of its schema."""
    import pyarrow.parquet

    label = json.dumps(found.label, ensure_ascii=False)
    stream = io.BytesIO()
    table = found.to_arrow(seed=seed).replace_schema_metadata({"discreet.label": label})
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()
