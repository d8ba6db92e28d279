"""Figures of private reports and profiles, for the curator alone. Each returns its axes.

Needs matplotlib, which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from discreet.figures import (
    GRAY,
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
from discreet.privacy.rational import Number, rational, show, whole

if TYPE_CHECKING:
    from discreet.stability.per_instance import PerInstanceReport
    from discreet.stability.profile import Profile

__all__ = ["losses", "profile"]

_POINTS = 200
_LARGEST = 600  # e^600 is a float still
_SHOWN_DECAYS = 6
"""Without a wish, distances are shown until the weight e^(-decay k) is below e^-6."""


def losses(report: PerInstanceReport, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw how many persons lose how much. The figure is as private as the data.

    Parameters
    ----------
    report : PerInstanceReport
        From `per_instance`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the histogram is called in the legend.
    """
    (drawn,) = panels(ax)
    first, style = is_new(drawn), next_style(drawn)
    counts, edges = report.histogram()
    # A second histogram is an outline, so that it does not cover the first.
    stairs = drawn.stairs(
        counts,
        edges,
        fill=first,
        color=style.color,
        linestyle=style.linestyle,
        linewidth=1.5,
        label=label or "_nolegend_",
    )
    mark(stairs)
    return label_axes(
        drawn,
        x="epsilon of a person (natural logarithm)",
        y="persons",
        title="Private: what this release reveals about each person",
    )


def profile(
    found: Profile,
    decay: Number | None = None,
    *,
    distances: int | None = None,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draw the local sensitivity at every distance, and its smooth envelope. As private as the data.

    The envelope of a decay t is S e^(t k), with S = max_k e^(-t k) A_k the smooth sensitivity: the lowest
    curve of this shape that no A_k exceeds. Where it touches is the distance that decides S, its value at 0.

    Parameters
    ----------
    found : Profile
        Of a statistic, such as `stability.median` returns.
    decay : number, optional
        The decay t of the envelope; without it only the profile is drawn.
    distances : int, optional
        Up to which distance to draw; by default as far as anything happens.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the profile is called in the legend.

    Returns
    -------
    matplotlib axes
    """
    (drawn,) = panels(ax)
    rate = None if decay is None else rational(decay, "decay", positive=True)
    last = _last(found, rate) if distances is None else whole(distances, "distances", least=1, most=2**40)
    places = np.unique(np.linspace(0, last, min(last + 1, _POINTS)).round().astype(np.int64))
    local = np.array([float(found.local_at(int(place))) for place in places])
    first, style = is_new(drawn), replace(next_style(drawn), linestyle="-")
    top = 0.0 if first else drawn.get_ylim()[1]
    draw_curve(drawn, places, local, style, label=label or "local sensitivity", steps="post")
    top = max(top, 1.3 * float(local.max()))
    if rate is not None:
        smooth = float(found.smooth(rate))
        envelope = smooth * np.exp(np.minimum(float(rate) * places, _LARGEST))
        words = f"smooth envelope, decay {show(rate)}; at 0: {smooth:.4g}"
        named = f"{label}: {words}" if label else words
        draw_curve(drawn, places, envelope, replace(style, linestyle="--"), label=named, counted=False)
        if first:
            # Along the steps of the one curve and the slope of the other: corners twice, at both heights.
            corners, below = np.repeat(places, 2)[1:], np.repeat(local, 2)[:-1]
            band(drawn, corners, below, np.maximum(np.repeat(envelope, 2)[1:], below), style)
        top = max(top, 1.3 * smooth)
    # Far out the envelope leaves every profile behind: it is cut off above the largest sensitivity.
    drawn.set_ylim(0, top or 1.0)
    most = float(found.local_at(found.reach))
    if 0 < most <= top:
        reference(drawn, [0, last], [most, most], label=f"at any distance: {most:.4g}", color=GRAY)
    return label_axes(
        drawn,
        x="distance (persons who change)",
        y="sensitivity",
        title="Private: local sensitivity around the data",
        about=str(found.relation),
    )


def _last(found: Profile, rate: Number | None) -> int:
    """Return a distance up to which it is worth drawing."""
    reach = max(found.reach, 1)
    return reach if rate is None else max(1, min(reach, ceil(_SHOWN_DECAYS / rational(rate, "decay"))))
