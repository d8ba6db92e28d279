"""A figure of fidelity: total variation of all tables, and correlations of real and synthetic rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.figures import Panels, draw_curve, draw_points, label_axes, next_style, panels, reference

if TYPE_CHECKING:
    from discreet.synthesis.release.fidelity import Fidelity

__all__ = ["plot_fidelity"]

_ABOUT = "computed from the real rows: not private"


def plot_fidelity(found: Fidelity, ax: Panels | None = None) -> Panels:
    """Draw the total variation of every table, sorted, and correlations against each other."""
    drawn = panels(ax, 2)
    for ways, held in found.distances.items():
        sorted_distances = np.sort(list(held.values()))
        share = np.arange(1, len(sorted_distances) + 1) / max(len(sorted_distances), 1)
        words = f"{ways}-way: {len(held):,} tables, mean {found.mean(ways):.3f}"
        draw_curve(drawn[0], share, sorted_distances, next_style(drawn[0]), label=words, steps="post")
    drawn[0].set_ylim(bottom=0)
    label_axes(
        drawn[0],
        x="share of tables that are no farther",
        y="total variation from the real rows",
        title="Tables of one, two and three columns",
        about=_ABOUT,
    )
    if len(drawn) > 1:
        upper = np.triu_indices(len(found.names), 1)
        draw_points(
            drawn[1],
            found.real_correlations[upper],
            found.synthetic_correlations[upper],
            next_style(drawn[1]),
            spread=None,
            label="a pair of columns",
        )
        reference(drawn[1], [-1, 1], [-1, 1], label="the same")
        label_axes(
            drawn[1],
            x="correlation in the real rows",
            y="correlation in the synthetic rows",
            title="Correlations of pairs of columns",
            about=_ABOUT,
        )
    return drawn
