"""Figures of mechanisms: the law of an output, a neighbor's law, and their ratio with its bound.

All of them are made of public parameters, or of hypothetical values that the caller states. Needs matplotlib,
which is loaded when a figure is drawn: ``pip install 'discreet[plot]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.figures import (
    LIMIT,
    Axes,
    Panels,
    Style,
    band,
    draw_curve,
    group_places,
    is_new,
    label_axes,
    next_style,
    panels,
    reference,
    stems,
)
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.rational import float_above
from discreet.records import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.privacy.guarantees import Guarantee
    from discreet.stability import Profile

__all__ = ["NeighboringLaws", "plot_laws", "plot_test"]

_MOST_MARKED = 60
_HEIGHTS = (3.0, 2.0)
_APART = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighboringLaws:
    """The laws of one mechanism's output on two inputs.

    Attributes
    ----------
    outputs : sequence of numbers or of names
        The outputs that are drawn.
    here, there : arrays
        The logarithms of their probabilities, or of densities, on either input.
    names : pair of str
        What the two inputs are called.
    guarantee : Guarantee
        What bounds the ratio.
    neighbors : bool
        Whether the inputs are neighbors, as far as the mechanism is declared: else the bound is not for them.
    of : str
        What the mechanism is called.
    density : bool
        Whether `here` and `there` are of densities.
    output : str
        What an output is called.
    private : bool
        Whether the inputs are data, or made of them: the figure says so.
    apart : str
        What to say about inputs that are not neighbors, after "these are": how far apart they are.
    """

    outputs: Sequence[str] | NDArray[np.float64]
    here: NDArray[np.float64]
    there: NDArray[np.float64]
    names: tuple[str, str]
    guarantee: Guarantee
    neighbors: bool
    of: str
    density: bool = False
    output: str = "output"
    private: bool = False
    apart: str = "not neighbors"

    @property
    def largest_loss(self) -> float:
        """The largest logarithm of a ratio of the laws, in size."""
        return float(np.abs(self.here - self.there).max())

    @property
    def steps(self) -> Literal["mid"] | None:
        """How outputs are joined: probabilities of single outputs as steps."""
        return None if self.density else "mid"


def plot_laws(laws: NeighboringLaws, ax: Panels | None, label: str | None) -> Axes:
    """Draw both laws, and below them the logarithm of their ratio between its bounds.

    Parameters
    ----------
    laws : NeighboringLaws
        What to draw.
    ax : axes, two axes, or None
        Where: the laws and the ratio, or the laws alone; by default a new figure with both.
    label : str or None
        What the mechanism is called in the legend.

    Returns
    -------
    axes
        Of the laws; its ``figure.axes`` are both.
    """
    drawn = panels(ax, 2, size=(7.0, 6.5), across=1, heights=_HEIGHTS)
    above, first, style = drawn[0], is_new(drawn[0]), next_style(drawn[0])
    before = f"{label}: " if label else ""
    names = [before + name for name in laws.names]
    # Two colors: at a small epsilon the curves lie so near each other that dashes alone cannot be seen.
    solid, dashed = replace(style, linestyle="-"), replace(next_style(above, 1), linestyle="--")
    heights = np.exp(laws.here), np.exp(laws.there)
    if isinstance(laws.outputs, np.ndarray):
        few, steps = len(laws.outputs) <= _MOST_MARKED, laws.steps
        draw_curve(above, laws.outputs, heights[0], solid, label=names[0], steps=steps, marked=few)
        if first:  # more would cover each other
            band(above, laws.outputs, np.zeros_like(heights[0]), heights[0], style, steps=steps)
        draw_curve(above, laws.outputs, heights[1], dashed, label=names[1], steps=steps, marked=few)
    else:
        places = np.array(group_places(above, laws.outputs))
        stems(above, places - _APART, heights[0], solid, label=names[0])
        stems(above, places + _APART, heights[1], dashed, label=names[1], hollow=True)
    above.set_ylim(bottom=0)
    label_axes(
        above,
        x="" if len(drawn) > 1 else laws.output,
        y="density" if laws.density else "probability",
        title="Private: laws on two inputs" if laws.private else "Laws on two inputs",
        about="" if label else laws.of,
    )
    if len(drawn) > 1:
        _ratio(drawn[1], laws, label, style)
    return above


def _ratio(below: Axes, laws: NeighboringLaws, label: str | None, style: Style) -> None:
    ratio = laws.here - laws.there
    bound, words = _bound(laws)
    named = f"{label}: {words}" if label and words else label
    if isinstance(laws.outputs, np.ndarray):
        ends = (float(laws.outputs[0]), float(laws.outputs[-1]))
        draw_curve(below, laws.outputs, ratio, style, label=named, marked=len(ratio) <= _MOST_MARKED)
    else:
        places = group_places(below, laws.outputs)
        ends = (-0.5, len(places) - 0.5)
        stems(below, places, ratio, style, label=named)
    if bound is not None:
        color = style.color if label else LIMIT
        for sign in (1, -1):
            hidden = f"_{sign} {label}" if label or sign < 0 else words  # the curve's own entry says it
            reference(below, ends, [sign * bound] * 2, label=hidden, color=color)
        most = 1.15 * max(bound, float(np.abs(ratio[np.isfinite(ratio)]).max(initial=0.0)))
        below.set_ylim(min(-most, below.get_ylim()[0]), max(most, below.get_ylim()[1]))
    about = "" if bound is not None or label else f"{laws.guarantee!r} does not bound it"
    if not laws.neighbors:
        about = "not neighbors: the bound is not for these inputs"
    title = "Private: loss of an output" if laws.private else "Privacy loss of an output"
    label_axes(below, x=laws.output, y="log of their ratio", title=title, about=about)


def _bound(laws: NeighboringLaws) -> tuple[float | None, str]:
    """Return the bound on the logarithm of the ratio that a guarantee gives neighbors, and what it says."""
    guarantee, others = laws.guarantee, "" if laws.neighbors else f" for neighbors; these are {laws.apart}"
    if isinstance(guarantee, PureDP):
        epsilon = float_above(guarantee.epsilon)
        return epsilon, f"epsilon {epsilon:.4g}{others or ', never exceeded'}"
    if isinstance(guarantee, ApproximateDP):
        epsilon, delta = float_above(guarantee.epsilon), float_above(guarantee.delta)
        if others:
            return epsilon, f"epsilon {epsilon:.4g} with delta {delta:.2g}{others}"
        return epsilon, f"epsilon {epsilon:.4g}; what lies beyond counts for at most delta {delta:.2g}"
    return None, ""


def plot_test(
    answered: Callable[[int], float],
    *,
    last: int,
    delta: float,
    bound: Fraction | None = None,
    found: Profile | None = None,
    distance: int | None = None,
    ax: Panels | None,
    label: str | None,
) -> Axes:
    """Draw how likely an answer is at every distance; with a profile, also how far the data are.

    Parameters
    ----------
    answered : callable
        The probability of an answer at a distance.
    last : int
        Up to which distance to draw.
    delta : float
        The probability of an answer at distance 0, at most.
    bound : Fraction or None
        The proposed bound on the local sensitivity, if there is one.
    found : Profile or None
        Of the statistic on the data. The figure is then as private as the data.
    distance : int or None
        Of the data of this profile: marked in both panels.
    ax, label
        As for `plot_laws`.
    """
    both = found is not None and bound is not None
    drawn = panels(
        ax, 2 if both else 1, size=(7.0, 6.5 if both else 4.5), across=1, heights=_HEIGHTS if both else None
    )
    above, style = drawn[0], next_style(drawn[0])
    last = last if distance is None else max(last, min(2 * distance, 10 * last))
    places = np.unique(np.linspace(0, last, min(last + 1, 400)).round().astype(np.int64))
    chances = [answered(int(place)) for place in places]
    draw_curve(
        above,
        places,
        chances,
        style,
        label=label or "answer",
        steps="post",
        marked=len(places) <= _MOST_MARKED,
    )
    above.set_ylim(-0.02, 1.05)
    if distance is not None:
        _mark_distance(above, distance, last, f"the data: answered with probability {answered(distance):.3g}")
    label_axes(
        above,
        x="" if both else "distance to data that exceed the bound (persons who change)",
        y="probability of an answer",
        title="Private: test of these data" if distance is not None else "Test before the release",
        about=f"at distance 0 at most {delta:.2g}",
    )
    if found is not None and bound is not None and len(drawn) > 1:
        from discreet.stability.plot import profile as plot_profile

        below = plot_profile(found, distances=last, ax=drawn[1], label=label)
        proposed = float(bound)
        reference(below, [0, last], [proposed] * 2, label=f"proposed bound {proposed:.4g}", color=LIMIT)
        below.set_ylim(0, max(1.2 * proposed, below.get_ylim()[1]))
        if distance is not None:
            _mark_distance(below, distance, last, "the data exceed it from here on")
        label_axes(below, x="", y="", title="")
    return above


def _mark_distance(ax: Axes, distance: int, last: int, words: str) -> None:
    if distance <= last:
        ax.axvline(distance, color="#444444", linestyle=":", label=words)
