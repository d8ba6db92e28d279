"""A figure of the keys that are shown: how likely, by the number of persons, and what one person changes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.figures import (
    LIMIT,
    Axes,
    Panels,
    draw_curve,
    is_new,
    label_axes,
    next_style,
    panels,
    reference,
)
from discreet.privacy.rational import float_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.mechanisms.keys.key_selection import KeySelection

__all__ = ["plot_shown"]

_HEIGHTS = (3.0, 2.0)
_SHOWN = Fraction(999, 1000)
_MOST_POINTS = 400
_MOST_MARKED = 60


def plot_shown(mechanism: KeySelection, *, ax: Panels | None, label: str | None) -> Axes:
    """Draw the probability that a key of n persons is shown, that of n - 1, and the logarithms of the ratios.

    A key of one person is shown with probability at most delta, and without that person never: this ratio is
    infinite, and is not drawn.

    Parameters
    ----------
    mechanism : KeySelection
        Whose keys.
    ax, label
        As for `discreet.mechanisms.plot.plot_laws`.
    """
    drawn = panels(ax, 2, size=(7.0, 6.5), across=1, heights=_HEIGHTS)
    above, first, style = drawn[0], is_new(drawn[0]), next_style(drawn[0])
    last = mechanism.size_for(_SHOWN) + 2
    persons = np.unique(np.linspace(0, last, min(last + 1, _MOST_POINTS)).round().astype(np.int64))
    marked = len(persons) <= _MOST_MARKED
    chances = [mechanism.shown(int(n)) for n in persons]
    fewer = [mechanism.shown(max(int(n) - 1, 0)) for n in persons]
    draw_curve(above, persons, chances, replace(style, linestyle="-"), label=label or "shown", marked=marked)
    if first and label is None:  # more would cover each other
        without = "shown without one of its persons"
        draw_curve(
            above, persons, fewer, replace(style, linestyle="--"), label=without, marked=marked, counted=False
        )
    above.set_ylim(-0.02, 1.05)
    delta = float_above(mechanism.offer.delta / mechanism.keys)
    label_axes(
        above,
        x="" if len(drawn) > 1 else "persons of a key",
        y="probability",
        title="Which keys are shown",
        about="" if label else f"{mechanism!r}: a key of one person with at most {delta:.2g}",
    )
    if len(drawn) > 1:
        _ratios(drawn[1], mechanism, persons[persons >= 2], marked, label)
    return above


def _ratios(
    below: Axes, mechanism: KeySelection, persons: NDArray[np.int64], marked: bool, label: str | None
) -> None:
    style = next_style(below)
    shown = [np.log(mechanism.shown(int(n)) / mechanism.shown(int(n) - 1)) for n in persons]
    missed = [_log_ratio(mechanism.missed(int(n)), mechanism.missed(int(n) - 1)) for n in persons]
    draw_curve(below, persons, shown, replace(style, linestyle="-"), label=label or "shown", marked=marked)
    draw_curve(
        below,
        persons,
        missed,
        replace(style, linestyle=":"),
        label=None if label else "not shown",
        marked=marked,
        counted=False,
    )
    if mechanism.offer.epsilon is not None:
        bound = float_above(mechanism.offer.loss_of_a_key)
        words = f"epsilon {bound:.4g} of one key, but for delta"
        color = style.color if label else LIMIT
        for sign in (1, -1):
            reference(
                below,
                [0, int(persons[-1])],
                [sign * bound] * 2,
                label=words if sign > 0 and not label else f"_{sign} {label}",
                color=color,
            )
        most = 1.15 * bound
        below.set_ylim(min(-most, below.get_ylim()[0]), max(most, below.get_ylim()[1]))
    label_axes(
        below,
        x="persons of a key",
        y="log of the ratio",
        title="Privacy loss of one key, with or without a person",
        about="solid if it is shown, dotted if not" if label else "",
    )


def _log_ratio(one: float, other: float) -> float:
    return float(np.log(one / other)) if one > 0 and other > 0 else float("nan")
