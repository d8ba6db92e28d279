"""Figures of what was released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414

    from discreet.curator.release.release import Release

__all__ = ["plot_release"]


def plot_release(release: Release, output: str | None, ax: Axes | None) -> Axes:
    """Draw the values of an output as points with their intervals, one for each group.

    Parameters
    ----------
    release : Release
        What was released.
    output : str or None
        The name of an output; by default the first.
    ax : Axes or None
        Where to draw; by default a new figure.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("matplotlib", "plot") from None
    names = [column.name for column in release.outputs]
    if output is not None and output not in names:
        raise ParameterError("output", "is not an output of this answer", ", ".join(names))
    column = release.outputs[names.index(output) if output else 0]
    if column.lower is None or column.upper is None:
        raise ParameterError("output", "holds keys, which cannot be drawn", "an output of numbers")
    if ax is None:
        ax = plt.subplots(figsize=(7, 4), layout="constrained")[1]
    groups = [", ".join(map(str, group)) for group in zip(*release.keys.values(), strict=True)] or ["all"]
    places = np.arange(len(column.values))
    below = np.maximum(column.values - column.lower, 0)
    above = np.maximum(column.upper - column.values, 0)
    ax.errorbar(places, column.values, yerr=np.stack([below, above]), fmt="o", capsize=3)
    ax.set_xticks(places, groups, rotation=45 if len(groups) > 6 else 0)
    ax.set_xlabel(", ".join(release.keys))
    ax.set_ylabel(f"{column.name} ({float(release.request.confidence):.0%} intervals)")
    return ax
