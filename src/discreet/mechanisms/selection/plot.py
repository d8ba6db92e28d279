"""Figures of selections: how likely each outcome is on the scores of two neighbors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.plot import NeighboringLaws, plot_laws

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.mechanisms.selection.laws import Law
    from discreet.mechanisms.selection.scores import Pairs, Scores, ScoreVector
    from discreet.privacy.guarantees import PureDP

__all__ = ["plot_choices"]


class Chooses(Protocol):
    """What is drawn: a mechanism that reads scores."""

    @property
    def scores(self) -> Scores: ...
    @property
    def guarantee(self) -> PureDP: ...
    def neighboring_inputs(self) -> Pairs: ...


def plot_choices(
    mechanism: Chooses,
    law: Callable[[NDArray[np.int64]], Law],
    pair: tuple[ScoreVector | None, ScoreVector | None],
    ax: Panels | None,
    label: str | None,
    *,
    names: tuple[str, str],
) -> Axes:
    """Draw the laws of a selection on two inputs, and the logarithm of their ratio.

    Parameters
    ----------
    mechanism : mechanism
        What chooses.
    law : callable
        From scores in steps to outcomes and the logarithms of their probabilities.
    pair : pair
        Scores of two neighbors; where both are None, those on which the mechanism loses the most.
    ax, label
        As for `plot_laws`.
    names : pair of str
        What the inputs and the outcomes are called.
    """
    one, other = pair
    if (one is None) != (other is None):
        raise ParameterError(f"{names[0]} and neighbor", "are not both given", "both, or neither")
    pairs = mechanism.neighboring_inputs() if one is None or other is None else ((one, other),)
    scores = mechanism.scores
    drawn = []
    for start, end in pairs:
        here, there = scores.enter(start, names[0]), scores.enter(end, "neighbor")
        if here.shape != there.shape:
            raise ParameterError("neighbor", "has another number of candidates", "one score for each")
        (outcomes, log_here), (_, log_there) = law(here), law(there)
        moves = there - here
        near = bool((abs(moves) <= scores.shift).all())
        if scores.monotone:
            near = near and bool((moves >= 0).all() or (moves <= 0).all())
        drawn.append(
            NeighboringLaws(
                outputs=outcomes,
                here=log_here,
                there=log_there,
                names=(names[0], f"{names[0]} of a neighbor" if near else f"other {names[0]}"),
                guarantee=mechanism.guarantee,
                neighbors=near,
                of=repr(mechanism),
                output=names[1],
            )
        )
    return plot_laws(max(drawn, key=lambda laws: laws.largest_loss), ax, label)
