"""Synthetic rows as a table for people, and as CSV, JSON or Parquet for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.cli.rendering import grid
from discreet.visible import visible, visible_json

if TYPE_CHECKING:
    import pyarrow

    from discreet.synthesis.asking.synthesis_release import SynthesisRelease

__all__ = ["csv_of", "json_of", "lines_of", "objects_of", "parquet_of", "render_rows", "shown_of"]

_SHOWN = 10


def render_rows(found: SynthesisRelease, form: str, *, seed: int, bill: Mapping[str, object]) -> bytes:
    """Return synthetic rows as the bytes of a file; a table for people shows the first ten."""
    if form == "parquet":
        return parquet_of(found.to_arrow(seed=seed), found.label)
    columns = found.data.columns(found.rows, seed=seed)
    lines = lines_of(columns)
    if form == "csv":
        return csv_of(columns, lines)
    if form == "json":
        content = {**bill, "synthetic": objects_of(columns, lines), "seed": seed, "label": found.label}
        return json_of(content)
    return f"{shown_of(list(columns), lines)}\n{found.data!r}\n".encode()


def lines_of(columns: Mapping[str, Sequence[object]]) -> list[list[object]]:
    """Return rows of plain values."""
    from discreet.curator.release.json_form import json_value

    return [[json_value(value) for value in row] for row in zip(*columns.values(), strict=True)]


def objects_of(names: Iterable[str], lines: Sequence[Sequence[object]]) -> list[dict[str, object]]:
    """Return rows by the names of columns."""
    listed = list(names)
    return [dict(zip(listed, line, strict=True)) for line in lines]


def csv_of(names: Iterable[str], lines: Sequence[Sequence[object]]) -> bytes:
    """Write rows as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return stream.getvalue().encode()


def json_of(content: Mapping[str, object]) -> bytes:
    """Write content as JSON that a terminal may show."""
    written = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{visible_json(written)}\n".encode()


def shown_of(names: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Write the first rows for people, and how many there are."""
    shown = [["" if value is None else visible(str(value)) for value in line] for line in lines[:_SHOWN]]
    more = f"synthetic rows: {len(lines):,}"
    if len(lines) > _SHOWN:
        more += f", of which {_SHOWN} are shown; --output FILE writes all of them"
    return "\n".join([grid([[visible(name) for name in names], *shown]), more])


def parquet_of(table: pyarrow.Table, stated: Mapping[str, object]) -> bytes:
    """Write a Parquet file that carries its label in the metadata of its schema."""
    import pyarrow.parquet

    label = json.dumps(stated, ensure_ascii=False)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table.replace_schema_metadata({"discreet.label": label}), stream)
    return stream.getvalue()
