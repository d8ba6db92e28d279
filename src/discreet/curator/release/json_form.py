"""Answers and previews as JSON, in one form for every program that reads them: from the shell or a server."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from discreet.privacy.decimals import json_number

if TYPE_CHECKING:
    from discreet.curator.release.preview import Preview
    from discreet.curator.release.release import Release

__all__ = ["json_value", "preview_object", "release_object"]


def release_object(release: Release) -> dict[str, object]:
    """Return the rows of an answer, one object for each group, the confidence and the label."""
    return {
        "rows": list(_rows(release)),
        "confidence": float(release.request.confidence),
        "label": release.label,
    }


def preview_object(found: Preview) -> dict[str, object]:
    """Return what a question would cost and how wrong its answer would be; amounts are exact fractions."""
    return {
        "event": found.event.to_object(),
        "epsilon": found.epsilon,
        "outputs": [
            {
                "name": one.name,
                "margin": json_number(one.margin),
                "standard_deviation": json_number(one.standard_deviation),
                "assumes": one.assumes,
                "means": one.means,
            }
            for one in found.expectations
        ],
        "chosen_keys": [
            {"column": one.column, "shown_by_half": one.half, "shown_by_most": one.most, "unit": one.unit}
            for one in found.keys
        ],
        "bought": list(found.bought),
        "counted": found.counted,
        "groups": found.groups,
        "remark": found.remark,
        "confidence": float(found.confidence),
        "cap": found.cap,
        "budget": [
            {
                "limit": name,
                "cost": None if cost is None else str(cost),
                "left": str(left),
                "of": str(whole),
            }
            for name, cost, left, whole in found.costs
        ],
        "left": str(found.left),
        "fits": found.fits,
        "answered": found.answered,
    }


def json_value(value: object) -> object:
    """Return a cell for CSV and JSON: nothing if it is unknown."""
    if isinstance(value, float):
        return value + 0.0 if isfinite(value) else None  # no -0.0
    if isinstance(value, list):
        return [json_value(one) for one in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def _rows(release: Release) -> Iterator[dict[str, object]]:
    columns = release.known_columns()
    for row in zip(*columns.values(), strict=True):
        yield {name: json_value(value) for name, value in zip(columns, row, strict=True)}
