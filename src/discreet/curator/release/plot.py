"""Figures of what was released: the outputs of an answer, group by group, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.figures import draw_points, group_places, label_axes, next_style, panels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.curator.release.release import Release
    from discreet.curator.request.request import AnswerColumn
    from discreet.figures import Axes, Panels

__all__ = ["plot_release"]


def plot_release(release: Release, output: str | None, ax: Panels | None, label: str | None) -> Axes:
    """Draw the values of outputs as points with their intervals, one for each group.

    Parameters
    ----------
    release : Release
        What was released.
    output : str or None
        The name of an output; by default every output of numbers has a panel of its own.
    ax : Axes, sequence of Axes, or None
        Where to draw: one for each output that is drawn; by default a new figure.
    label : str or None
        What the series is called in the legend.

    Returns
    -------
    Axes
        Of the first output; its ``figure.axes`` are those of all.
    """
    names = [column.name for column in release.outputs]
    if output is not None and output not in names:
        raise ParameterError("output", "is not an output of this answer", ", ".join(names))
    chosen = [column for column in release.outputs if output in (None, column.name) and _is_drawn(column)]
    if not chosen:
        raise ParameterError("output", "holds keys, which cannot be drawn", "an output of numbers")
    drawn = panels(ax, len(chosen), size=(7.0, 4.0))
    if len(drawn) < len(chosen):
        listed = " or ".join(f'output="{column.name}"' for column in chosen)
        raise ParameterError(
            "ax", f"is one axes, and the answer has {len(chosen)} outputs", f"{listed}; or as many axes"
        )
    for panel, column in zip(drawn, chosen, strict=True):
        _draw(panel, release, column, label)
    return drawn[0]


def _is_drawn(column: AnswerColumn) -> bool:
    return column.lower is not None or np.asarray(column.values).dtype.kind in "iuf"


def _draw(panel: Axes, release: Release, column: AnswerColumn, label: str | None) -> None:
    groups = [", ".join(map(str, group)) for group in zip(*release.keys.values(), strict=True)] or ["all"]
    style, places = next_style(panel), group_places(panel, groups)
    values = np.asarray(column.values, np.float64)
    draw_points(panel, places, values, style, spread=_spread(column, values), label=label)
    bars = "" if column.lower is None else f" ({float(release.request.confidence):.0%} intervals)"
    by = ", ".join(release.keys)
    label_axes(
        panel,
        x=by,
        y=f"{column.name}{bars}",
        title=f"{column.name} by {by}" if by else column.name,
    )


def _spread(column: AnswerColumn, values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return how far intervals reach below and above; a value outside its own has a bar on one side."""
    if column.lower is None or column.upper is None:
        return None
    lower, upper = np.asarray(column.lower, np.float64), np.asarray(column.upper, np.float64)
    return np.stack([np.maximum(values - lower, 0), np.maximum(upper - values, 0)])
