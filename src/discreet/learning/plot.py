"""Figures of models: coefficients, shape functions, accuracy over epsilon, costs of votes.

Each returns its axes. All of them show released numbers or forecasts, which are public. Needs matplotlib,
which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.figures import (
    GRAY,
    Axes,
    Panels,
    draw_curve,
    draw_points,
    group_places,
    label_axes,
    next_style,
    panels,
    reference,
)
from discreet.privacy.rational import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.learning.estimators.additive import AdditiveClassifier
    from discreet.learning.estimators.private_estimator import PrivateEstimator
    from discreet.learning.teachers.cost_curve import CostCurve

__all__ = ["accuracy", "coefficients", "costs", "shapes"]

_MOST = 12


def coefficients(
    model: PrivateEstimator,
    *,
    intervals: ArrayLike | None = None,
    most: int = _MOST,
    score: int = 0,
    ax: Axes | None = None,
    label: str | None = None,
) -> Axes:
    """Draw the largest coefficients of a linear model, with their intervals if there are any.

    Parameters
    ----------
    model : estimator
        Fitted, with `coef_`.
    intervals : array (coefficients, 2), optional
        The lower and upper end for each.
    most : int
        How many are drawn: those farthest from 0.
    score : int
        Of several classes: which one.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the points are called in the legend.
    """
    values = np.atleast_2d(np.asarray(model.coef_, np.float64))[score]
    names = model.get_feature_names_out()
    chosen = np.argsort(-np.abs(values), kind="stable")[: whole(most, "most", least=1)]
    spread = None
    if intervals is not None:
        ends = np.asarray(intervals, np.float64)
        if ends.shape != (len(values), 2):
            raise ParameterError("intervals", "are not two ends for each coefficient", f"{len(values)} rows")
        spread = np.abs(ends[chosen].T - values[chosen])
    (drawn,) = panels(ax)
    style, places = next_style(drawn), group_places(drawn, [str(names[place]) for place in chosen])
    draw_points(drawn, places, values[chosen], style, spread=spread, label=label)
    drawn.axhline(0, color=GRAY, linewidth=0.8)
    return label_axes(drawn, x="", y="coefficient", title=f"{type(model).__name__}: largest coefficients")


def shapes(
    model: AdditiveClassifier,
    columns: Sequence[str] | None = None,
    *,
    score: int = 0,
    ax: Panels | None = None,
    label: str | None = None,
) -> list[Axes]:
    """Draw the shape function of each column: what a value adds to the score of a class.

    Parameters
    ----------
    model : AdditiveClassifier
        Fitted.
    columns : names, optional
        Which columns; all by default.
    score : int
        Of more than two classes: which one. Of two, the score is that of the second.
    ax : axes, one for each column, optional
        Where to draw; a new figure if left out.
    label : str, optional
        What the functions are called in the legend.
    """
    found = model.shapes()
    asked = list(found) if columns is None else list(columns)
    if not asked or not set(asked) <= set(found):
        raise ParameterError("columns", "are not those of the model", ", ".join(found))
    drawn = panels(ax, len(asked))
    for one, name in zip(drawn, asked, strict=False):
        shape, style = found[name], next_style(one)
        heights = shape.values[:, score]
        if shape.ends is None:
            draw_points(one, group_places(one, shape.names), heights, style, spread=None, label=label)
        else:
            steps = np.append(heights, heights[-1])
            draw_curve(one, shape.ends, steps, style, label=label, steps="post")
        one.axhline(0, color=GRAY, linewidth=0.8)
        label_axes(one, x=name, y="added to the score", title="")
    return drawn


def accuracy(
    epsilons: Sequence[float],
    shares: Mapping[str, Sequence[float]],
    *,
    without: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often models are right over epsilon, beside the fit without privacy.

    Parameters
    ----------
    epsilons : numbers
        What each fit cost.
    shares : mapping of names to numbers
        For each model, the share of right predictions at each epsilon.
    without : number, optional
        That of a fit without privacy.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    """
    (drawn,) = panels(ax)
    for name, row in shares.items():
        draw_curve(drawn, epsilons, row, next_style(drawn), label=name, marked=True)
    if without is not None:
        reference(drawn, epsilons, [without] * len(epsilons), label="without privacy", color=GRAY)
    drawn.set_xscale("log")
    return label_axes(drawn, x="epsilon", y="right on new data", title="Accuracy over epsilon")


def costs(curve: CostCurve, *, ax: Axes | None = None) -> Axes:
    """Draw what votes of teachers cost over the number of queries: at worst, and where teachers agree.

    Parameters
    ----------
    curve : CostCurve
        A forecast; see `discreet.learning.cost_curve`.
    ax : matplotlib axes, optional
        Where to draw; a new figure if left out.
    """
    (drawn,) = panels(ax)
    draw_curve(drawn, curve.queries, curve.worst, next_style(drawn), label="whatever the votes are")
    draw_curve(drawn, curve.queries, curve.released, next_style(drawn), label="released, as teachers agree")
    y = f"epsilon at delta {float(curve.delta):g}"
    return label_axes(drawn, x="queries", y=y, title="What votes of teachers cost")
