"""Answers as a table for people, and as CSV, JSON or Parquet for programs."""

from __future__ import annotations

import csv
import io
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.new_files import refuse_taken
from discreet.errors import ParameterError
from discreet.front.shell_words import in_shell
from discreet.visible import visible_json

if TYPE_CHECKING:
    from discreet.curator import Release

__all__ = [
    "FORMATS",
    "add_output_options",
    "check_output",
    "format_of",
    "grid",
    "render",
    "shell_remarks",
]

FORMATS = ("table", "csv", "json", "parquet")
_ENDINGS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table", ".table": "table"}


def add_output_options(parser: ArgumentParser) -> None:
    """Add the options that say in which form the answer comes, and where it goes."""
    output = parser.add_argument_group("the answer")
    output.add_argument("--format", choices=FORMATS, help="by default that of the file's name, or a table")
    output.add_argument("--output", metavar="FILE", help="write the answer to a new file")
    output.add_argument("--label", metavar="FILE", help="write what the answer promises to a new JSON file")
    output.add_argument("--overwrite", action="store_true", help="the files may exist, and are replaced")


def format_of(options: Namespace) -> str:
    """Return the form that is wanted: as stated, or by the ending of the file's name."""
    if options.format is not None:
        return str(options.format)
    suffix = Path(options.output).suffix.lower() if options.output else ""
    if suffix and suffix not in _ENDINGS:
        known = ", ".join(one for one in _ENDINGS)
        raise ParameterError(
            "output",
            f"ends in {suffix}, which is no form of an answer",
            f"a file that ends in {known}; or --format {'|'.join(FORMATS)}",
        )
    return _ENDINGS.get(suffix, "table")


def check_output(options: Namespace) -> None:
    """Refuse files that cannot be written, before anything is charged."""
    for name in ("output", "label"):
        refuse_taken(name, getattr(options, name), overwrite=options.overwrite)
    if options.output is not None and options.label is not None and _same(options.output, options.label):
        raise ParameterError("label", "is the file of the answer", "another file")
    if format_of(options) == "parquet" and options.output is None:
        raise ParameterError("output", "is missing, which Parquet needs", "--output FILE")


def render(release: Release, form: str, *, bill: Mapping[str, object] | None = None) -> bytes:
    """Return an answer as the bytes of a file; JSON begins with the bill."""
    if form == "parquet":
        return _parquet(release)
    if form == "json":
        return f"{_json(release, bill or {})}\n".encode()
    return f"{_csv(release) if form == 'csv' else _table(release)}\n".encode()


def grid(lines: Sequence[Sequence[str]], *, left: int = 0) -> str:
    """Write lines of cells in columns, the first `left` of them to the left, the others to the right."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _table(release: Release) -> str:
    """Write every group as Python prints it, and what has to be said below."""
    header, rows = release.texts()
    left = next((place for place, name in enumerate(release.shown) if name not in release.keys), len(header))
    return "\n".join([grid([header, *rows], left=left), *shell_remarks(release)])


def shell_remarks(release: Release) -> list[str]:
    """Return what has to be said below an answer."""
    return [in_shell(one) for one in release.remarks()]


def _csv(release: Release) -> str:
    from discreet.curator.release.json_form import json_value

    columns = release.known_columns()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([json_value(value) for value in row] for row in zip(*columns.values(), strict=True))
    return stream.getvalue().removesuffix("\n")


def _json(release: Release, bill: Mapping[str, object]) -> str:
    from discreet.curator.release.json_form import release_object

    content = {**bill, **release_object(release)}
    return visible_json(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def _parquet(release: Release) -> bytes:
    """Write a Parquet file that carries its label in the metadata of its schema."""
    import pyarrow.parquet

    table = release.to_arrow()
    label = json.dumps(release.label, ensure_ascii=False)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table.replace_schema_metadata({"discreet.label": label}), stream)
    return stream.getvalue()


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()
