"""Figures: profiles, trade-offs, ladders and budgets over time. Each returns its axes.

A second figure in the same axes takes the next color and line. Needs matplotlib, which is loaded when a
figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.filters import Filter, Reading
from discreet.errors import ParameterError
from discreet.figures import (
    GRAY,
    LIMIT,
    Axes,
    band,
    draw_curve,
    is_new,
    label_axes,
    mark,
    next_style,
    panels,
    reference,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.accounting.curves import Profile
    from discreet.accounting.ladder import Ladder
    from discreet.accounting.tradeoff import Tradeoff
    from discreet.privacy.neighbors import Neighbors

__all__ = ["budget", "ladder", "profile", "tradeoff"]

_MOST_MARKED = 60
_MARGIN = 8
"""Pixels between a number and the frame, and between a bar and its number."""
_EPSILON = "epsilon (bound on the privacy loss, natural logarithm)"


def profile(found: Profile, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw delta over epsilon, with the band between its bounds, on a logarithmic scale.

    Parameters
    ----------
    found : Profile
        From `accounting.profile`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the curve is called in the legend.

    Returns
    -------
    matplotlib axes
    """
    (drawn,) = panels(ax)
    first, style = is_new(drawn), next_style(drawn)
    order = np.argsort(found.epsilons, kind="stable")
    epsilons, lower, upper = found.epsilons[order], found.lower[order], found.upper[order]
    shown = upper > 0  # a logarithmic scale has no zero
    floor = float(upper[shown].min()) / 10 if shown.any() else 1.0
    named = f"{label or 'upper bound, safe to promise'}{_relation(found.neighbors)}"
    draw_curve(drawn, epsilons[shown], upper[shown], style, label=named)
    band(
        drawn,
        epsilons[shown],
        np.maximum(lower[shown], floor),
        upper[shown],
        style,
        label=_band(found.certified, label),
    )
    if first and not (shown.any() and upper[shown].max() > 1.01 * upper[shown].min()):
        drawn.set_ylim(floor, 100 * floor)  # nothing, or one height, has no scale of its own
    drawn.set_yscale("log")
    return label_axes(drawn, x=_EPSILON, y="delta (probability)", title="Privacy profile")


def _relation(neighbors: Neighbors | None) -> str:
    """Return the relation in brackets, for the legend: curves of one figure may differ in it."""
    return "" if neighbors is None else f" ({neighbors})"


def _band(certified: bool, label: str | None) -> str | None:
    if certified:
        return None if label else "the true delta lies here"
    return f"{label}: only the upper bound is certain" if label else "only the upper bound is certain"


def tradeoff(found: Tradeoff, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw the least false negative rate over the false positive rate, and what no attack can reach.

    Parameters
    ----------
    found : Tradeoff
        From `accounting.tradeoff`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the curve is called in the legend.

    Returns
    -------
    matplotlib axes
    """
    (drawn,) = panels(ax, size=(5.5, 6.0))
    first, style = is_new(drawn), next_style(drawn)
    small = np.geomspace(1e-6, 1e-2, 41)
    rates = np.concatenate([[0.0], small, np.linspace(0.01, 0.99, 99)[1:-1], 1 - small[::-1], [1.0]])
    missed = np.asarray(found(rates))
    reference(drawn, rates, 1 - rates, label="guessing")
    best = f"{label or 'best attack'}{_relation(found.neighbors)}: advantage at most {found.advantage:.3g}"
    draw_curve(drawn, rates, missed, style, label=best)
    if first:  # the regions of several attacks would cover each other
        band(drawn, rates, np.zeros_like(rates), missed, style, label=_out_of_reach(label))
    drawn.set_xlim(0, 1)
    drawn.set_ylim(0, 1)
    drawn.set_aspect("equal")
    return label_axes(
        drawn,
        x="false positive rate (accused, data not there)",
        y="false negative rate (missed, data there)",
        title="Trade-off",
    )


def _out_of_reach(label: str | None) -> str:
    return "out of reach of every attack" + (f" on {label}" if label else "")


def ladder(found: Ladder, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw the epsilon of each method as a bar, on a logarithmic scale; rules that prove nothing are hatched.

    Parameters
    ----------
    found : Ladder
        From `accounting.ladder`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the run is called in the legend. Bars of a second run stand beside those of the first.

    Returns
    -------
    matplotlib axes
    """
    rows = [row for row in found if 0 < row.epsilon < np.inf]
    if not rows:
        raise ParameterError("found", "has no row with an epsilon above 0 and finite", "a ladder with one")
    (drawn,) = panels(ax)
    names = [f"{row.name} (delta {row.delta:.2g})" for row in rows]
    first, style = is_new(drawn), next_style(drawn)
    before = 0 if first else len(drawn.get_yticks())
    places = np.arange(before, before + len(rows))
    epsilons = [row.epsilon for row in rows]
    colors = [style.color if row.proven else GRAY for row in rows]
    bars = drawn.barh(places, epsilons, color=colors, label=label or "_nolegend_")
    mark(bars.patches[0])
    for bar, row in zip(bars, rows, strict=True):
        bar.set_hatch("" if row.proven else "//")
    drawn.bar_label(bars, labels=[found.shown(row) for row in rows], padding=3)
    named = [] if first else [text.get_text() for text in drawn.get_yticklabels()]
    drawn.set_yticks(np.arange(before + len(rows)), [*named, *names])
    drawn.set_ylim(before + len(rows) - 0.4, -0.6)
    drawn.set_xscale("log")
    least, most = min(epsilons) / 3, max(epsilons) * 10
    kept = (least, most) if first else drawn.get_xlim()
    drawn.set_xlim(min(least, kept[0]), max(most, kept[1]))
    proven = all(row.proven for row in rows)
    label_axes(
        drawn,
        x=_EPSILON,
        y="",
        title="Epsilon by every theorem",
        about="" if proven else "hatched: no guarantee",
    )
    _make_room(drawn)
    return drawn


def _make_room(drawn: Axes) -> None:
    """Move the right end of a logarithmic axis until the numbers behind the bars are inside the frame.

    With the ends a < b and a frame W wide, a text of width t that begins at e ends inside it if
    log(e / a) / log(b / a) <= 1 - t / W.
    """
    engine = drawn.figure.figure.get_layout_engine()
    if engine is not None:
        engine.execute(drawn.figure.figure)  # long names beside the axis leave less of the width
    frame, (left, right) = drawn.get_window_extent(), drawn.get_xlim()
    for text in drawn.texts:
        extent = text.get_window_extent()
        start = float(drawn.transData.inverted().transform((extent.x0, extent.y0))[0])
        share = 1 - (extent.width + _MARGIN) / frame.width
        if share > 0:
            right = max(right, left * (start / left) ** (1 / share))
    drawn.set_xlim(left, right)


def budget(
    history: Sequence[Reading] | Sequence[Filter],
    *,
    limit: float | None = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draw what was spent, request by request: readings of an odometer, or states of a filter.

    Parameters
    ----------
    history : sequence of Reading or of Filter
        One for each moment, in order: ``odometer.read(delta)`` or the filter itself after every request.
        Readings are drawn as epsilon, filters as the share of each limit that is spent.
    limit : number, optional
        For readings: an epsilon to draw as a line. A filter knows its own limits.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the curve is called in the legend.

    Returns
    -------
    matplotlib axes
    """
    moments = list(history)
    if moments and all(isinstance(moment, Filter) for moment in moments):
        return _spent_of_limits([moment for moment in moments if isinstance(moment, Filter)], ax, label)
    readings = [moment for moment in moments if isinstance(moment, Reading)]
    if not readings or len(readings) < len(moments):
        raise ParameterError(
            "history", "is not a sequence of readings or of filters", "one kind, at least one"
        )
    if len({reading.delta for reading in readings}) > 1:
        raise ParameterError("history", "was read at different deltas", "readings at one delta")
    (drawn,) = panels(ax)
    style = next_style(drawn)
    places = np.arange(1, len(readings) + 1)
    spent = [reading.epsilon for reading in readings]
    draw_curve(drawn, places, spent, style, label=label or "spent", steps="post", marked=_few(places))
    if limit is not None:
        ends = [1, max(len(readings), 2)]
        height = float(limit)
        reference(drawn, ends, [height, height], label=f"limit {height:g}", color=LIMIT)
    return _over_requests(
        drawn,
        y=f"epsilon at delta {float(readings[0].delta):g} (natural logarithm)",
        title="Spent so far: a reading, not a guarantee",
        about=str(readings[0].neighbors),
    )


def _spent_of_limits(filters: list[Filter], ax: Axes | None, label: str | None) -> Axes:
    if len({(type(moment), tuple(moment.limits.items())) for moment in filters}) > 1:
        raise ParameterError("history", "holds filters with different limits", "states of one filter")
    (drawn,) = panels(ax)
    places = np.arange(1, len(filters) + 1)
    for name, limit in filters[0].limits.items():
        if limit > 0:
            shares = [100 * float(moment.spent[name] / limit) for moment in filters]
            about = f"{name}, of {float(limit):.4g}"
            style = next_style(drawn)
            named = f"{label}: {about}" if label else about
            draw_curve(drawn, places, shares, style, label=named, steps="post", marked=_few(places))
    ends = [1, max(len(filters), 2)]
    reference(drawn, ends, [100, 100], label="limit, never exceeded", color=LIMIT)
    return _over_requests(
        drawn,
        y="spent (percent of the limit)",
        title="Budget over time",
        about=str(filters[0].neighbors),
    )


def _few(places: NDArray[np.int64]) -> bool:
    """Return whether every request has a marker, which shows where the last step ends."""
    return len(places) <= _MOST_MARKED


def _over_requests(drawn: Axes, *, y: str, title: str, about: str) -> Axes:
    drawn.set_ylim(bottom=0)
    drawn.locator_params(axis="x", integer=True)
    return label_axes(drawn, x="request (number)", y=y, title=title, about=about)
