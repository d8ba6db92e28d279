"""A figure of noise in proportion to the smooth sensitivity: the laws on two profiles, and their ratio."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, floor, log
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.plot import NeighboringLaws, plot_laws
from discreet.stability.profile import Profile

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity

__all__ = ["plot_smooth"]

_MOST_OUTPUTS = 400
_SHOWN = 0.98


def plot_smooth(
    mechanism: SmoothSensitivity,
    pair: tuple[Profile | None, Profile | None],
    ax: Panels | None,
    label: str | None,
) -> Axes:
    """Draw the laws of the answer on two profiles, between the bounds, and the logarithm of their ratio.

    Where few answers are possible these are probabilities, certified; else densities of the number that is
    rounded.
    """
    given = pair[0] is not None
    if given != (pair[1] is not None):
        raise ParameterError("profile and neighbor", "are not both given", "both, or neither")
    one, other = pair if given else mechanism.neighboring_inputs()[1]
    assert one is not None and other is not None  # noqa: S101, PT018
    laws = [mechanism._law(profile) for profile in (one, other)]
    if not all(scale for _, scale in laws):
        raise ParameterError("profile", "has no sensitivity, so that its answer is certain", "another one")
    reach = mechanism.noise.quantile(_SHOWN)
    ends = [center + sign * scale * Fraction(reach) for center, scale in laws for sign in (-1, 1)]
    first, last = max(mechanism.least, floor(min(ends))), min(mechanism.most, ceil(max(ends)))
    few = last - first < _MOST_OUTPUTS
    steps = (
        np.linspace(first, last, _MOST_OUTPUTS) if not few else np.arange(first, last + 1).astype(np.float64)
    )
    grid = float(mechanism.grid)
    heights = []
    for profile, (center, scale) in zip((one, other), laws, strict=True):
        if few:
            masses = [mechanism.probability(profile, int(step) * mechanism.grid)[1] for step in steps]
            heights.append(np.log([float(mass) for mass in masses]))
        else:
            middle, width = float(center), float(scale)
            densities = [mechanism.noise.log_density((step - middle) / width) for step in steps]
            heights.append(np.array(densities) - log(width * grid))
    smooth = [float(profile.smooth(mechanism.decay)) for profile in (one, other)]
    clamped = first == mechanism.least or last == mechanism.most
    drawn = NeighboringLaws(
        outputs=steps * grid,
        here=heights[0],
        there=heights[1],
        names=tuple(  # type: ignore[arg-type]
            f"{name}: value {float(profile.value):.4g}, smooth sensitivity {size:.4g}"
            for name, profile, size in zip(("data", "neighbor"), (one, other), smooth, strict=True)
        ),
        guarantee=mechanism.guarantee,
        neighbors=_may_be_neighbors(mechanism, one, other),
        of=f"{mechanism.noise!r}, {mechanism.guarantee!r}",
        density=not few,
        output="answer (beyond the bounds it is clamped to them)" if clamped else "answer",
        private=given,
    )
    return plot_laws(drawn, ax, label)


def _may_be_neighbors(mechanism: SmoothSensitivity, one: Profile, other: Profile) -> bool:
    """Return whether values and smooth sensitivities are as close as those of neighbors are."""
    sizes = sorted(profile.smooth(mechanism.decay) for profile in (one, other))
    apart = abs(one.value - other.value)
    return apart <= sizes[0] and float(sizes[1]) <= float(sizes[0]) * exp(float(mechanism.decay)) * (1 + 1e-9)
