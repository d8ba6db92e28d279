"""The figure of an audit of models: who took part can be told how well, on log axes.

Needs matplotlib, which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.claims import points
from discreet.audit.guesses import parameter_of
from discreet.figures import LIMIT, Axes, draw_curve, label_axes, next_style, panels, reference

if TYPE_CHECKING:
    from discreet.audit.model_report import ModelReport

__all__ = ["membership"]

_POINTS = 200


def membership(report: ModelReport, *, ax: Axes | None = None) -> Axes:
    """Draw true over false positive rates of every attack, on log axes.

    The limit is what the claim allows on average over runs: e^epsilon f + delta, and 1 - e^-epsilon (1 -
    delta - f), for each of its points. A curve above it by chance is no proof; the bound of the report is.

    Parameters
    ----------
    report : ModelReport
        The audit.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    """
    (drawn,) = panels(ax)
    least = 1.0
    for attack in report.attacks:
        false, true = attack.rates()
        seen = (false > 0) & (true > 0)
        least = min(least, *false[seen], *true[seen])
        draw_curve(
            drawn, false[seen], true[seen], next_style(drawn), label=f"{attack.name}, area {attack.area:.3f}"
        )
    rates = np.geomspace(least, 1, _POINTS)
    highest = np.ones(_POINTS)
    for epsilon, delta in points(report.claim):
        rare, frequent = exp(epsilon) * rates + delta, 1 - exp(-epsilon) * (1 - delta - rates)
        highest = np.minimum(highest, np.minimum(rare, frequent))
    reference(drawn, rates, highest, label="what the claim allows", color=LIMIT)
    reference(drawn, rates, rates, label="guessing")
    drawn.set_xscale("log")
    drawn.set_yscale("log")
    name, claimed = parameter_of(report.claim)
    title = f"Membership: {name} at least {report.bound:.3f}, claimed {float(claimed):g}"
    return label_axes(drawn, x="false positive rate", y="true positive rate", title=title)
