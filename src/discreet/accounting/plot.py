"""Figures: profiles, trade-offs, ladders and budgets over time. Each returns its axes.

Needs matplotlib, which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from discreet.accounting.filters import Filter, Reading
from discreet.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    import matplotlib.axes

    from discreet.accounting.curves import Profile
    from discreet.accounting.ladder import Ladder
    from discreet.accounting.tradeoff import Tradeoff

__all__ = ["Axes", "budget", "ladder", "profile", "tradeoff"]

Axes: TypeAlias = "matplotlib.axes.Axes"
"""Where a figure is drawn."""

_EPSILON = "epsilon (bound on the privacy loss, natural logarithm)"
_BLUE, _ORANGE, _GRAY = "#0072b2", "#d55e00", "#767676"  # told apart with any color vision


def profile(found: Profile, *, axes: Axes | None = None) -> Axes:
    """Draw delta over epsilon, with the band between its bounds, on a logarithmic scale.

    Parameters
    ----------
    found : Profile
        From `accounting.profile`.
    axes : matplotlib axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib axes
    """
    drawn = _axes(axes)
    order = np.argsort(found.epsilons, kind="stable")
    epsilons, lower, upper = found.epsilons[order], found.lower[order], found.upper[order]
    shown = upper > 0  # a logarithmic scale has no zero
    floor = float(upper[shown].min()) / 10 if shown.any() else 1.0
    drawn.plot(epsilons[shown], upper[shown], color=_BLUE, label="upper bound, safe to promise")
    drawn.fill_between(
        epsilons[shown],
        np.maximum(lower[shown], floor),
        upper[shown],
        color=_BLUE,
        alpha=0.25,
        label="the true delta lies here" if found.certified else "only the upper bound is certain",
    )
    drawn.set_yscale("log")
    return _labeled(drawn, x=_EPSILON, y="delta (probability)", title=f"Privacy profile, {found.neighbors}")


def tradeoff(found: Tradeoff, *, axes: Axes | None = None) -> Axes:
    """Draw the least false negative rate over the false positive rate, and what no attack can reach.

    Parameters
    ----------
    found : Tradeoff
        From `accounting.tradeoff`.
    axes : matplotlib axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib axes
    """
    drawn = _axes(axes)
    small = np.geomspace(1e-6, 1e-2, 41)
    rates = np.concatenate([[0.0], small, np.linspace(0.01, 0.99, 99)[1:-1], 1 - small[::-1], [1.0]])
    missed = np.asarray(found(rates))
    drawn.plot(rates, 1 - rates, color=_GRAY, linestyle="--", label="guessing")
    drawn.plot(rates, missed, color=_BLUE, label=f"best attack (advantage at most {found.advantage:.3g})")
    drawn.fill_between(rates, 0.0, missed, color=_BLUE, alpha=0.15, label="out of reach of every attack")
    drawn.set_xlim(0, 1)
    drawn.set_ylim(0, 1)
    drawn.set_aspect("equal")
    return _labeled(
        drawn,
        x="false positive rate (accused, data not there)",
        y="false negative rate (missed, data there)",
        title=f"Trade-off, {found.neighbors}",
        legend="upper right",
    )


def ladder(found: Ladder, *, axes: Axes | None = None) -> Axes:
    """Draw the epsilon of each method as a bar, on a logarithmic scale; rules that prove nothing are hatched.

    Parameters
    ----------
    found : Ladder
        From `accounting.ladder`.
    axes : matplotlib axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib axes
    """
    drawn = _axes(axes)
    rows = [row for row in found if 0 < row.epsilon < np.inf]
    if not rows:
        raise ParameterError("found", "has no row with an epsilon above 0 and finite", "a ladder with one")
    names = [f"{row.name} (delta {row.delta:.2g})" for row in rows]
    bars = drawn.barh(names, [row.epsilon for row in rows], color=[_color(row.proven) for row in rows])
    for bar, row in zip(bars, rows, strict=True):
        bar.set_hatch("" if row.proven else "//")
    drawn.bar_label(bars, labels=[found.shown(row) for row in rows], padding=3)
    drawn.invert_yaxis()
    drawn.set_xscale("log")
    drawn.set_xlim(min(row.epsilon for row in rows) / 3, max(row.epsilon for row in rows) * 10)
    drawn.set_xlabel(_EPSILON)
    drawn.set_title(
        "One run, every theorem" + ("" if all(row.proven for row in rows) else "; hatched: no guarantee")
    )
    return drawn


def budget(
    history: Sequence[Reading] | Sequence[Filter], *, limit: float | None = None, axes: Axes | None = None
) -> Axes:
    """Draw what was spent, request by request: readings of an odometer, or states of a filter.

    Parameters
    ----------
    history : sequence of Reading or of Filter
        One for each moment, in order: ``odometer.read(delta)`` or the filter itself after every request.
        Readings are drawn as epsilon, filters as the share of each limit that is spent.
    limit : number, optional
        For readings: an epsilon to draw as a line. A filter knows its own limits.
    axes : matplotlib axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib axes
    """
    moments = list(history)
    if moments and all(isinstance(moment, Filter) for moment in moments):
        return _spent_of_limits([moment for moment in moments if isinstance(moment, Filter)], axes)
    readings = [moment for moment in moments if isinstance(moment, Reading)]
    if not readings or len(readings) < len(moments):
        raise ParameterError(
            "history", "is not a sequence of readings or of filters", "one kind, at least one"
        )
    if len({reading.delta for reading in readings}) > 1:
        raise ParameterError("history", "was read at different deltas", "readings at one delta")
    drawn = _axes(axes)
    places = np.arange(1, len(readings) + 1)
    drawn.step(places, [reading.epsilon for reading in readings], where="post", color=_BLUE, label="spent")
    if limit is not None:
        drawn.axhline(float(limit), color=_ORANGE, linestyle="--", label=f"limit {float(limit):g}")
    return _over_requests(
        drawn,
        y=f"epsilon at delta {float(readings[0].delta):g} (natural logarithm)",
        title=f"Spent so far, {readings[0].neighbors}: a reading, not a guarantee",
    )


def _spent_of_limits(filters: list[Filter], axes: Axes | None) -> Axes:
    if len({(type(moment), tuple(moment.limits.items())) for moment in filters}) > 1:
        raise ParameterError("history", "holds filters with different limits", "states of one filter")
    drawn = _axes(axes)
    places = np.arange(1, len(filters) + 1)
    for name, limit in filters[0].limits.items():
        if limit > 0:
            shares = [100 * float(moment.spent[name] / limit) for moment in filters]
            drawn.step(places, shares, where="post", label=f"{name}, of {float(limit):.4g}")
    drawn.axhline(100, color=_ORANGE, linestyle="--", label="limit, never exceeded")
    return _over_requests(
        drawn, y="spent (percent of the limit)", title=f"Budget over time, {filters[0].neighbors}"
    )


def _over_requests(drawn: Axes, *, y: str, title: str) -> Axes:
    drawn.set_ylim(bottom=0)
    drawn.locator_params(axis="x", integer=True)
    return _labeled(drawn, x="request (number)", y=y, title=title)


def _labeled(
    drawn: Axes, *, x: str, y: str, title: str, legend: Literal["best", "upper right"] = "best"
) -> Axes:
    drawn.set_xlabel(x)
    drawn.set_ylabel(y)
    drawn.set_title(title)
    drawn.grid(visible=True, alpha=0.3)
    drawn.legend(loc=legend)
    return drawn


def _color(proven: bool) -> str:
    return _BLUE if proven else _GRAY


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    return pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
