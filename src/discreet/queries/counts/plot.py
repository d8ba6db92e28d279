"""Figures of tables of counts, distribution functions and marginals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import MissingExtra, ParameterError
from discreet.queries.counts.cells import labels, lowest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.queries.counts.column_release import ColumnRelease
    from discreet.queries.counts.marginal_release import MarginalRelease
    from discreet.queries.counts.range_release import RangeRelease

__all__ = ["plot_cells", "plot_cumulative", "plot_marginal"]

_MOST_LABELS = 12
_SHADE = 0.25


def plot_cells(release: RangeRelease, ax: Axes | None) -> Axes:
    """Draw the cells of all groups together: one column as steps with intervals, two as a map."""
    ax = _axes(ax)
    cells = np.sum([group.cells for group in release.released], axis=0)
    if len(release.axes) == 2:
        return _map(ax, cells, [labels(axis) for axis in release.axes], [one.column for one in release.axes])
    if len(release.axes) > 2:
        raise ParameterError(
            "release", "has more than two columns", "an answer of one or two, or counts of it"
        )
    (axis,) = release.axes
    edges = np.array(labels(axis), np.float64)
    ax.step(edges, cells, where="post")
    column = release.outputs[0]
    if len(release.released) == 1 and column.lower is not None and column.upper is not None:
        ax.fill_between(edges, column.lower, column.upper, step="post", alpha=_SHADE)
    ax.set_xlabel(axis.column)
    ax.set_ylabel(f"rows ({float(release.request.confidence):.0%} intervals)")
    return ax


def plot_cumulative(release: ColumnRelease, ax: Axes | None) -> Axes:
    """Draw the share up to every number, a curve that never falls, with the intervals of the shares."""
    ax = _axes(ax)
    (axis,) = release.axes
    table = release.curve()
    (column,), (ends,) = table.outputs, table.keys.values()
    places = np.array([float(lowest(axis, 0)), *ends], np.float64)
    shares = np.array([0.0, *column.values])
    if axis.width == 1:
        ax.step(places, shares, where="post")
    else:
        ax.plot(places, shares)
    if column.lower is not None and column.upper is not None:
        between = {"step": "post"} if axis.width == 1 else {}
        ax.fill_between(places[1:], column.lower, column.upper, alpha=_SHADE, **between)  # type: ignore[arg-type]
    ax.set_xlabel(axis.column)
    ax.set_ylabel(f"share at most ({float(release.request.confidence):.0%} intervals)")
    ax.set_ylim(-0.02, 1.02)
    return ax


def plot_marginal(release: MarginalRelease, columns: tuple[str, ...], ax: Axes | None) -> Axes:
    """Draw one marginal: of one column as bars with intervals, of two as a map."""
    ax = _axes(ax)
    if not 1 <= len(columns) <= 2:
        raise ParameterError("columns", "are empty, or more than two", "one or two columns of a marginal")
    cells, margin = release.cells(*columns)
    names = [labels(release.axis(column)) for column in columns]
    if len(columns) == 2:
        return _map(ax, cells, names, list(columns))
    places = np.arange(len(cells))
    ax.errorbar(places, cells, yerr=margin, fmt="o", capsize=3)
    _ticks(ax.set_xticks, names[0])
    ax.set_xlabel(columns[0])
    ax.set_ylabel(f"rows ({float(release.request.confidence):.0%} intervals)")
    return ax


def _map(ax: Axes, cells: Any, names: list[list[Any]], columns: list[str]) -> Axes:
    image = ax.imshow(np.asarray(cells).T, origin="lower", aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="rows")
    for set_ticks, listed in zip((ax.set_xticks, ax.set_yticks), names, strict=True):
        _ticks(set_ticks, listed)
    ax.set_xlabel(columns[0])
    ax.set_ylabel(columns[1])
    return ax


def _ticks(set_ticks: Any, names: list[Any]) -> None:
    shown = range(0, len(names), max(1, -(-len(names) // _MOST_LABELS)))
    set_ticks(list(shown), [str(names[place]) for place in shown])


def _axes(ax: Axes | None) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    return plt.subplots(figsize=(7, 4), layout="constrained")[1] if ax is None else ax
