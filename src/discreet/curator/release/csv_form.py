"""Answers as CSV: one line for each group, with its intervals and how sure they are."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from discreet.curator.release.json_form import json_value

if TYPE_CHECKING:
    from discreet.curator.release.release import Release

__all__ = ["csv_text"]

_CONFIDENCE = "confidence"


def csv_text(release: Release) -> str:
    """Return keys, values and intervals; where there are any, the last column is their confidence.

    A number that is not known is empty. What an answer promises beyond that is in its label, as JSON.
    """
    columns = release.known_columns()
    if any(column.lower is not None for column in release.outputs) and _CONFIDENCE not in columns:
        columns[_CONFIDENCE] = [float(release.request.confidence)] * len(release)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([json_value(value) for value in row] for row in zip(*columns.values(), strict=True))
    return stream.getvalue()
