"""The styles of the series of an axes: colors, lines and markers that can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.records import dataclass

if TYPE_CHECKING:
    import matplotlib.axes

__all__ = ["GRAY", "LIMIT", "STYLES", "Axes", "Panels", "Style", "is_new", "mark", "next_style", "series_of"]

Axes: TypeAlias = "matplotlib.axes.Axes"
"""Where a figure is drawn."""
Panels: TypeAlias = "Axes | Sequence[Axes]"
"""Where the panels of a figure are drawn: one axes, or one for each."""

# Those of the colors of Okabe & Ito (2008) that have a contrast of at least 3 to white. Any two differ by
# 16.9 in CIELAB with normal vision and with each of the three dichromacies, and the first three by
# 57: measured in tests/test_figures.py.
_COLORS = ("#0072b2", "#d55e00", "#000000", "#009e73", "#cc79a7")
_LINES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRAY = "#767676"
"""For what is drawn to compare with."""
LIMIT = "#b22222"
"""For what is never exceeded; such lines are long dashes."""

_SERIES = "discreet series"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How one series is drawn."""

    color: str
    linestyle: str
    marker: str


STYLES = tuple(
    Style(
        color=_COLORS[place % len(_COLORS)],
        linestyle=_LINES[place % len(_LINES)],
        marker=_MARKERS[place % len(_MARKERS)],
    )
    for place in range(len(_COLORS) * len(_LINES))  # 4 and 5 have no common factor: 20 different pairs
)
"""The styles of the series of an axes, in order."""


def next_style(ax: Axes, after: int = 0) -> Style:
    """Return the style of the next series of an axes, or of one that comes after some others."""
    return STYLES[(series_of(ax) + after) % len(STYLES)]


def is_new(ax: Axes) -> bool:
    """Return whether no series was drawn yet."""
    return not series_of(ax)


def mark(artist: Any) -> None:
    """Count an artist as a series of its axes, so that the next one looks different."""
    artist.set_gid(_SERIES)


def series_of(ax: Axes) -> int:
    """Return how many series an axes holds."""
    return sum(artist.get_gid() == _SERIES for artist in ax.get_children())
