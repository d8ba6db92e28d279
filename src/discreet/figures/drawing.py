"""What figures are made of: curves, bands, points with bars, stems, and lines to compare with."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.figures.style import GRAY, Axes, Style, mark

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["band", "draw_curve", "draw_points", "reference", "stems"]

_REFERENCE = "discreet reference"
_SHADE = 0.2
_LEGEND = 60
_MOST_BARS = 60


def draw_curve(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    style: Style,
    *,
    label: str | None,
    steps: Literal["post", "mid"] | None = None,
    marked: bool = False,
    counted: bool = True,
) -> None:
    """Draw a line, with markers where they are wanted; a single point as a marker.

    What is not `counted` belongs to the series before it: the next one does not look different for its sake.
    """
    (line,) = ax.plot(
        np.asarray(x),
        np.asarray(y),
        color=style.color,
        linestyle=style.linestyle,
        marker=style.marker if marked or np.size(x) < 2 else None,
        markersize=4,
        drawstyle="default" if steps is None else f"steps-{steps}",
        label=_wrapped(label),
    )
    if counted:
        mark(line)


def stems(
    ax: Axes, x: ArrayLike, y: ArrayLike, style: Style, *, label: str | None, hollow: bool = False
) -> None:
    """Draw numbers of outputs that are not on a line: a marker for each, with a stem from 0."""
    places, heights = np.asarray(x, np.float64), np.asarray(y, np.float64)
    ax.vlines(places, 0, heights, color=style.color, linestyle=style.linestyle, linewidth=1.2)
    (line,) = ax.plot(
        places,
        heights,
        color=style.color,
        linestyle="none",
        marker=style.marker,
        markersize=6,
        markerfacecolor="white" if hollow else style.color,
        label=_wrapped(label),
    )
    mark(line)


def draw_points(
    ax: Axes, x: ArrayLike, y: ArrayLike, style: Style, *, spread: Any, label: str | None
) -> None:
    """Draw points, with bars from `spread`: how far they reach below and above, or None.

    A bar that has no end reaches to the edge of the axes.
    """
    places, heights = np.asarray(x, np.float64), np.asarray(y, np.float64)
    reach = None if spread is None else np.broadcast_to(np.asarray(spread, np.float64), (2, len(places)))
    many = len(places) > _MOST_BARS
    drawn = ax.errorbar(
        places,
        heights,
        yerr=None if reach is None else np.where(np.isinf(reach), 0, reach),
        fmt=style.marker,
        color=style.color,
        capsize=0 if many else 3,
        elinewidth=0.6 if many else 1.4,
        markersize=2 if many else 5,
        label=_wrapped(label),
    )
    mark(drawn.lines[0])
    for side, edge in zip([] if reach is None else np.isinf(reach), ax.get_ylim(), strict=False):
        if side.any():
            ax.vlines(places[side], heights[side], edge, color=style.color)
            ax.margins(y=0)


def band(
    ax: Axes,
    x: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    style: Style,
    *,
    label: str | None = None,
    steps: Literal["post", "mid"] | None = None,
) -> None:
    """Shade what lies between two curves."""
    ax.fill_between(
        np.asarray(x, np.float64),
        np.asarray(lower, np.float64),
        np.asarray(upper, np.float64),
        color=style.color,
        alpha=_SHADE,
        linewidth=0,
        step=steps,
        label=_wrapped(label),
    )


def reference(ax: Axes, x: ArrayLike, y: ArrayLike, *, label: str, color: str = GRAY) -> None:
    """Draw a line to compare with, once: figures in the same axes that have the same line share it."""
    places, heights = np.asarray(x, np.float64), np.asarray(y, np.float64)
    for line in ax.get_lines():
        if line.get_gid() == _REFERENCE and line.get_label() == _wrapped(label):
            return
    (line,) = ax.plot(
        places, heights, color=color, linestyle=(0, (8, 3)), linewidth=1.2, label=_wrapped(label)
    )
    line.set_gid(_REFERENCE)


def _wrapped(label: str | None) -> str | None:
    return label if label is None or len(label) <= _LEGEND else "\n".join(textwrap.wrap(label, _LEGEND))
