"""Where figures are drawn, and what is written around them: panels, places, titles, labels, legends."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from discreet.errors import MissingExtra, ParameterError
from discreet.figures.fonts import read_wide
from discreet.figures.style import Axes, Panels, is_new, series_of
from discreet.records import dataclass

__all__ = ["group_places", "label_axes", "panels", "time_places"]

_MOST_COLUMNS = 3
_MOST_NAMES = 30
_NAME = 24
_CHARACTER = (
    5.6  # points that a character of the legend takes, on average: measured with DejaVu Sans at 9 points
)
_LETTER = 6.0
"""The same of a label of an axis, at 10 points."""
_GAP = 0.08
"""Inches between the labels of an axis and the legend."""

_groups: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()
"""Of every axes, the groups along it and their places, so that figures in the same axes agree about them."""


def panels(
    ax: Panels | None,
    count: int = 1,
    *,
    size: tuple[float, float] = (7.0, 4.5),
    across: int = _MOST_COLUMNS,
    heights: Sequence[float] | None = None,
) -> list[Axes]:
    """Return the axes to draw into: those that were given, or those of a new figure.

    Parameters
    ----------
    ax : axes, sequence of axes, or None
        If there is one axes, only the first panel is drawn, in it.
    count : int
        How many panels there are to draw.
    size : pair
        Of a new panel, in inches; several panels get smaller ones.
    across : int
        How many panels stand next to each other in a new figure at most.
    heights : sequence of numbers, optional
        How the panels of one column share the height of `size`.
    """
    try:
        import matplotlib.pyplot
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    drawable = matplotlib.axes.Axes
    if ax is not None:
        given = [ax] if isinstance(ax, drawable) else list(ax) if np.iterable(ax) else [ax]
        given = [one for part in given for one in (part.flat if isinstance(part, np.ndarray) else [part])]
        if not all(isinstance(one, drawable) for one in given):
            raise ParameterError("ax", "is not axes of matplotlib", "axes, such as pyplot.subplots()[1]")
        if len(given) not in (1, count):
            raise ParameterError("ax", f"are {len(given)} axes", f"1, or {count}: one for each panel")
        return given
    columns = min(count, across, 2 if count == 4 else across)
    rows = ceil(count / columns)
    scale = 1.0 if columns == 1 else 0.7
    height = size[1] if heights is not None else size[1] * scale * rows
    figure, made = matplotlib.pyplot.subplots(
        rows,
        columns,
        figsize=(size[0] * scale * columns, height),
        layout="constrained",
        squeeze=False,
        height_ratios=heights,
        sharex=heights is not None,
    )
    for spare in made.flat[count:]:
        figure.delaxes(spare)
    return list(made.flat[:count])


def group_places(ax: Axes, names: Sequence[str]) -> list[float]:
    """Return where groups stand along an axes, and write their names there.

    Groups that stand there already keep their places. A later series stands a little aside, so that its bars
    do not cover those of the earlier.
    """
    if is_new(ax) or ax not in _groups:
        _groups[ax] = {}
    known = _groups[ax]
    for name in names:
        known.setdefault(name, len(known))
    shown = list(known)[:: ceil(len(known) / _MOST_NAMES)]
    turned = len(known) > 12 or sum(map(len, shown)) > 60
    ax.set_xticks(
        [known[name] for name in shown],
        [textwrap.shorten(name, _NAME, placeholder=" …") if len(name) > _NAME else name for name in shown],
        rotation=45 if turned else 0,
        ha="right" if turned else "center",
        rotation_mode="anchor" if turned else "default",
    )
    series = series_of(ax)
    aside = 0.12 * ((series + 1) // 2) * (-1 if series % 2 else 1)
    ax.set_xlim(-0.6, len(known) - 0.4)
    return [known[name] + aside for name in names]


def time_places(ax: Axes, times: Sequence[datetime]) -> list[float]:
    """Return where times stand along an axes, and let its ticks be dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num

    locator = AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    return [float(place) for place in date2num(list(times))]  # type: ignore[no-untyped-call]


def label_axes(ax: Axes, *, x: str, y: str, title: str, about: str = "", grid: bool = True) -> Axes:
    """Write title and labels, draw the grid and the legend, and return the axes.

    Parameters
    ----------
    ax : axes
        What was drawn into.
    x, y : str
        The labels. Where another series was drawn with another one, both are kept.
    title : str
        What the figure shows. A title that the axes have from elsewhere is kept.
    about : str
        What the numbers are about, such as a relation: figures in the same axes name all.
    grid : bool
        Whether to draw lines at the ticks.
    """
    ax.set_xlabel(_joined(ax.get_xlabel(), x))
    beside = _joined(ax.get_ylabel(), y)
    ax.set_ylabel(beside)
    written = " ".join(ax.get_title().split())
    if not written:
        written = f"{title}, {about}" if about else title
    elif title and about and written.startswith(title) and about not in written:
        written = f"{written}; {about}"
    ax.set_title("\n".join(textwrap.wrap(written, max(24, int(_width(ax) / _CHARACTER)))), fontsize="medium")
    if grid:
        ax.grid(visible=True, alpha=0.3)
        ax.set_axisbelow(True)
    _legend(ax)
    high = ax.get_window_extent().height / ax.figure.dpi * 72
    if len(beside) * _LETTER > high:
        ax.set_ylabel("\n".join(textwrap.wrap(beside, max(16, int(high / _LETTER)))))
    read_wide(ax)
    return ax


def _joined(written: str, new: str) -> str:
    written, new = (" ".join(text.split()) for text in (written, new))  # a long one is on several lines
    if not new or new in written.split(" / "):
        return written
    return f"{written} / {new}" if written else new


def _width(ax: Axes) -> float:
    """Return the width of an axes in points."""
    return float(ax.get_window_extent().width / ax.figure.dpi * 72)


def _legend(ax: Axes) -> None:
    """Put the legend below the axes, where it covers nothing.

    A layout of the figure makes room for it. In a figure without one the axes give it of their own box, so
    that no other axes are touched. Where it would take more than half of them it goes inside, where it covers
    the least.
    """
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    figure = ax.figure.figure  # the whole figure, also where the axes are in a part of it
    longest = max(len(line) for label in labels for line in label.splitlines()) + 6
    columns = max(1, min(len(labels), _MOST_COLUMNS, int(_width(ax) / (_CHARACTER * longest))))
    below = ax.xaxis.get_tightbbox()
    depth = 0.0 if below is None else max(0.0, (ax.bbox.y0 - below.y0) / figure.dpi)
    legend = ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0, -depth - _GAP, figure.dpi_scale_trans),
        borderaxespad=0.0,
        ncols=columns,
        fontsize=9,
    )
    if figure.get_layout_engine() is None:
        needed = depth + legend.get_window_extent().height / figure.dpi + _GAP
        locator: Any = ax.get_axes_locator()
        if (locator is None or isinstance(locator, _Above)) and 2 * needed <= _height(ax):
            locator = _Above(axes=ax, needed=needed)
            ax.set_axes_locator(locator)
            ax.apply_aspect(locator(ax, None))
        else:  # it would take more than half of the axes, or someone else places them
            locator = None if isinstance(locator, _Above) else locator
            ax.set_axes_locator(locator)
            ax.legend(loc="best", fontsize=9)


@dataclass(frozen=True, slots=True, eq=False)
class _Above:
    """Where axes are that leave room for a legend below them, inside of the box that the figure gives them.

    The box is read whenever the figure is drawn, so that whoever moves the axes, or chooses a layout later,
    moves both.
    """

    axes: Axes
    needed: float

    def __call__(self, ax: Axes, renderer: Any) -> Any:
        """Return the box without what is needed at its lower end, in inches."""
        box = ax.get_position(original=True)
        room = self.needed / ax.figure.figure.get_figheight()
        return box.from_extents(box.x0, min(box.y0 + room, box.y1), box.x1, box.y1)

    def get_subplotspec(self) -> Any:
        """Return the place of the axes in a grid, for layouts that ask."""
        return self.axes.get_subplotspec()


def _height(ax: Axes) -> float:
    """Return the height, in inches, of the box that the figure gives an axes."""
    return float(ax.get_position(original=True).height * ax.figure.figure.get_figheight())
