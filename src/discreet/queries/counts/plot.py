"""Figures of tables of counts, distribution functions and marginals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.data import Axis, Bounds
from discreet.errors import ParameterError
from discreet.figures import (
    Axes,
    Panels,
    Style,
    band,
    draw_curve,
    draw_points,
    group_places,
    label_axes,
    next_style,
    panels,
)
from discreet.queries.counts.cells import highest, labels, lowest

if TYPE_CHECKING:
    from discreet.queries.counts.column_release import ColumnRelease
    from discreet.queries.counts.marginal_release import MarginalRelease
    from discreet.queries.counts.range_release import RangeRelease

__all__ = ["plot_cells", "plot_cumulative", "plot_marginal"]

_MOST_LABELS = 12
_MOST_CURVES = 5
"""So many groups share one panel: each has its own color. More have a panel each."""

_Draw = Callable[[Axes, Style, dict[str, object], "str | None"], None]


def plot_cells(release: RangeRelease, ax: Panels | None, label: str | None) -> Axes:
    """Draw the cells of every group: one column as steps with intervals, two as a map."""
    if len(release.axes) > 2:
        raise ParameterError(
            "release", "has more than two columns", "an answer of one or two, or counts of it"
        )
    if len(release.axes) == 2:
        return _maps(release, ax, label)
    (axis,) = release.axes
    edges = np.array(labels(axis), np.float64)
    edges = np.append(edges, _end(axis, edges[-1]))
    column, count = release.outputs[0], axis.cells
    groups = _groups(release)

    def draw(panel: Axes, style: Style, group: dict[str, object], name: str | None) -> None:
        place = groups.index(group)
        cells = release.released[place].cells.reshape(-1)
        draw_curve(panel, edges, [*cells, cells[-1]], style, label=name, steps="post")
        if column.lower is not None and column.upper is not None:
            part = slice(place * count, (place + 1) * count)
            lower, upper = column.lower[part], column.upper[part]
            band(panel, edges, [*lower, lower[-1]], [*upper, upper[-1]], style, steps="post")

    return _by_group(
        release,
        draw,
        ax,
        label,
        y=f"rows ({float(release.request.confidence):.0%} intervals)",
        title=f"Rows by {axis.column}",
    )


def _end(axis: Axis, last: float) -> float:
    """Return where the last cell ends: one step behind its highest number, which may be all that it holds."""
    if isinstance(axis.values, Bounds):
        return float(highest(axis, axis.cells - 1) + axis.values.step)
    return last + 1.0


def plot_cumulative(release: ColumnRelease, ax: Panels | None, label: str | None) -> Axes:
    """Draw the share up to every number, a curve that never falls, with its intervals; for every group."""
    (axis,) = release.axes
    steps: Literal["post"] | None = "post" if axis.width == 1 else None

    def draw(panel: Axes, style: Style, group: dict[str, object], name: str | None) -> None:
        table = release.curve(**group)
        (column,), (ends,) = table.outputs, table.keys.values()
        places = np.array([float(lowest(axis, 0)), *ends], np.float64)
        draw_curve(panel, places, [0.0, *column.values], style, label=name, steps=steps)
        if column.lower is not None and column.upper is not None:
            band(panel, places[1:], column.lower, column.upper, style, steps=steps)
        panel.set_ylim(-0.02, 1.02)

    return _by_group(
        release,
        draw,
        ax,
        label,
        y=f"share at most ({float(release.request.confidence):.0%} intervals)",
        title=f"Distribution of {axis.column}",
    )


def plot_marginal(
    release: MarginalRelease, columns: tuple[str, ...], ax: Panels | None, label: str | None
) -> Axes:
    """Draw one marginal: of one column as points with intervals, of two as a map."""
    if not 1 <= len(columns) <= 2:
        raise ParameterError("columns", "are empty, or more than two", "one or two columns of a marginal")
    cells, margin = release.cells(*columns)
    names = [labels(release.axis(column)) for column in columns]
    drawn = panels(ax, size=(7.0, 4.0))[0]
    if len(columns) == 2:
        _map(drawn, cells, names)
        about = label or ""
        title = f"Rows by {columns[0]} and {columns[1]}"
        return label_axes(drawn, x=columns[0], y=columns[1], title=title, about=about, grid=False)
    style, places = next_style(drawn), group_places(drawn, [str(name) for name in names[0]])
    draw_points(drawn, places, cells, style, spread=margin, label=label)
    bars = f"rows ({float(release.request.confidence):.0%} intervals)"
    return label_axes(drawn, x=columns[0], y=bars, title=f"Rows by {columns[0]}")


def _groups(release: RangeRelease) -> list[dict[str, object]]:
    """Return the groups of an answer as conditions, in the order of their tables."""
    values = product(*(key.values.values for key in release.groups))
    return [dict(zip((key.column for key in release.groups), group, strict=True)) for group in values]


def _named(group: dict[str, object], label: str | None) -> str | None:
    words = ", ".join(map(str, group.values()))
    return f"{label}, {words}" if label and words else label or words or None


def _by_group(
    release: RangeRelease, draw: _Draw, ax: Panels | None, label: str | None, *, y: str, title: str
) -> Axes:
    """Draw a curve for every group: a few in one panel, many in one each."""
    groups, (axis,) = _groups(release), release.axes
    apart = len(groups) > _MOST_CURVES
    drawn = panels(ax, len(groups) if apart else 1, size=(7.0, 4.0))
    by = " by " + ", ".join(key.column for key in release.groups) if release.groups else ""
    alone = len(drawn) > 1  # then the title says which group it is
    for place, group in enumerate(groups):
        panel = drawn[place if alone else 0]
        draw(panel, next_style(panel), group, label if alone else _named(group, label))
        if alone:
            about = ", ".join(f"{column} {value}" for column, value in group.items())
            label_axes(panel, x=axis.column, y=y, title=title, about=about)
    return drawn[0] if alone else label_axes(drawn[0], x=axis.column, y=y, title=title + by)


def _maps(release: RangeRelease, ax: Panels | None, label: str | None) -> Axes:
    """Draw a map for every group."""
    groups, (across, up) = _groups(release), release.axes
    drawn = panels(ax, len(groups), size=(7.0, 4.5))
    if len(drawn) < len(groups):
        raise ParameterError("ax", f"is one axes, and there are {len(groups)} maps", f"{len(groups)} axes")
    for panel, group, released in zip(drawn, groups, release.released, strict=True):
        _map(panel, released.cells.reshape(across.cells, up.cells), [labels(across), labels(up)])
        title = f"Rows by {across.column} and {up.column}"
        label_axes(
            panel, x=across.column, y=up.column, title=title, about=_named(group, label) or "", grid=False
        )
    return drawn[0]


def _map(panel: Axes, cells: Any, names: list[list[Any]]) -> None:
    image = panel.imshow(np.asarray(cells).T, origin="lower", aspect="auto", cmap="cividis")
    panel.figure.colorbar(image, ax=panel, label="rows")
    for set_ticks, listed in zip((panel.set_xticks, panel.set_yticks), names, strict=True):
        _ticks(set_ticks, listed)


def _ticks(set_ticks: Any, names: list[Any]) -> None:
    shown = range(0, len(names), max(1, -(-len(names) // _MOST_LABELS)))
    set_ticks(list(shown), [str(names[place]) for place in shown])
