"""Figures of private reports, for the curator alone. Each returns its axes.

Needs matplotlib, which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import MissingExtra

if TYPE_CHECKING:
    import matplotlib.axes

    from discreet.stability.per_instance import PerInstanceReport

__all__ = ["Axes", "losses"]

Axes: TypeAlias = "matplotlib.axes.Axes"
"""Where a figure is drawn."""


def losses(report: PerInstanceReport, *, axes: Axes | None = None) -> Axes:
    """Draw how many persons lose how much. The figure is as private as the data.

    Parameters
    ----------
    report : PerInstanceReport
        From `per_instance`.
    axes : matplotlib axes, optional
        Where to draw; a new figure if left out.
    """
    drawn = _axes(axes)
    counts, edges = report.histogram()
    drawn.stairs(counts, edges, fill=True, color="#0072b2")
    drawn.set_xlabel("epsilon of a person (natural logarithm)")
    drawn.set_ylabel("persons")
    drawn.set_title("Private: what this release reveals about each person")
    return drawn


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    return pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
