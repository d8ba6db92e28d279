"""Answers to many counts as charts: cells of each table, or what lies below each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.server.pages.answer_charts import MOST_GROUPS, Chart, answer_columns_of, chart_of
from discreet.server.pages.count_forms import CountAxis, edge_of

__all__ = ["count_charts_of", "curve_chart_of", "curve_conditions"]


def count_charts_of(content: Mapping[str, Any], axes: Sequence[CountAxis]) -> list[Chart]:
    """Return a chart for each table of counts; ranges have one, marginals one for each set of columns."""
    keys, (output,) = answer_columns_of(content)
    named = {axis.column: axis for axis in axes}
    heading = next((key for key in keys if key not in named), None)
    tables: dict[str, list[Mapping[str, Any]]] = {}
    for row in content["rows"]:
        tables.setdefault("" if heading is None else str(row[heading]), []).append(row)
    charts = []
    for title, rows in tables.items():
        shown = [axis for axis in axes if rows[0][axis.column] is not None or heading is None]
        named_rows = [
            (", ".join(axis.name_of(row[axis.column]) for axis in shown) if place < MOST_GROUPS else "", row)
            for place, row in enumerate(rows)
        ]
        chart = chart_of(title or ", ".join(axis.column for axis in shown), output, named_rows)
        charts += [] if chart is None else [chart]
    return charts


def curve_conditions(axes: Sequence[CountAxis]) -> list[dict[str, object]]:
    """Return the counts that make a distribution function: below each number, and of all."""
    axis = axes[0]
    step = -(-len(axis.cells) // MOST_GROUPS)
    below: list[dict[str, object]] = [{axis.column: [None, edge_of(one)]} for one in axis.cells[1::step]]
    return [*below, {}]


def curve_chart_of(axes: Sequence[CountAxis], counts: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Return how many lie below each number, of what ``/v1/counts`` says to `curve_conditions`."""
    points = [(one["about"], _point(one)) for one in counts]
    chart = chart_of(f"{axes[0].column}, counted from the lowest", "n", points)
    return [] if chart is None else [chart]


def _point(count: Mapping[str, Any]) -> dict[str, Any]:
    lower, upper = count["interval"]
    return {"n": count["value"], "n_lower": lower, "n_upper": upper}
