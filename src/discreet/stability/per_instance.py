"""Per-instance privacy: what one release reveals about each person who is in the data.

A guarantee holds for the worst data and the worst person. The loss of the data x at hand for one
person z, between the laws of the release with and without z, is often far smaller. It is a function of
the data, and private: it is for the curator, not for publication. Its supremum over all data
sets and persons is the guarantee (Wang 2019; proof: docs/proofs/per_instance.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, float_below, rational, show

if TYPE_CHECKING:
    from discreet.stability.plot import Axes

__all__ = ["PerInstanceReport", "gaussian_losses", "laplace_losses", "worst_case"]

Floats = NDArray[np.float64]

_UP = 1 + 2.0**-40  # more than all roundings of a loss together


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class PerInstanceReport:
    """The privacy loss of each person in one release. For the curator alone.

    Attributes
    ----------
    losses : array of floats
        The epsilon of each person, rounded up: with and without this person, the probability of any
        set of outcomes differs by a factor of at most e^epsilon, and `delta`. Private.
    delta : Fraction
        0 for a release with Laplace noise. Public.
    """

    losses: Floats
    delta: Fraction

    def histogram(self, bins: int = 20) -> tuple[NDArray[np.int64], Floats]:
        """Return how many persons have a loss in each of some equal bins from 0 on, and the bins' edges."""
        top = float(self.losses.max(initial=0.0)) or 1.0
        counts, edges = np.histogram(self.losses, bins=bins, range=(0.0, top))
        return counts.astype(np.int64), edges

    def plot(self, *, axes: Axes | None = None) -> Axes:
        """Draw the histogram. It is as private as the losses are."""
        from discreet.stability.plot import losses

        return losses(self, axes=axes)

    def __repr__(self) -> str:
        return f"PerInstanceReport(private, delta={show(self.delta)})"


def laplace_losses(shifts: ArrayLike, *, scale: Number) -> PerInstanceReport:
    """Return the loss of each person in a release with Laplace noise: shift / scale.

    Parameters
    ----------
    shifts : numbers
        By how much the value moves, in the L1 norm, when each person goes; see `instance_shifts`.
    scale : number
        The scale of the noise.
    """
    width = float_below(rational(scale, "scale", positive=True))
    return PerInstanceReport(losses=_checked(shifts) / width * _UP, delta=Fraction(0))


def gaussian_losses(shifts: ArrayLike, *, sigma: Number, delta: Number) -> PerInstanceReport:
    """Return the epsilon of each person, at a delta, in a release with Gaussian noise.

    Each person has rho = shift^2 / (2 sigma^2), for the discrete law as for the continuous one. From
    rho follows, for every order a > 1,
    epsilon = a rho + (log(1 / delta) + a log(1 - 1 / a) - log(a - 1)) / (a - 1);
    several orders near the best are tried.

    Parameters
    ----------
    shifts : numbers
        By how much the value moves, in the L2 norm, when each person goes; see `instance_shifts`.
    sigma : number
        The scale of the noise.
    delta : number
        Between 0 and 1.
    """
    width = float_below(rational(sigma, "sigma", positive=True))
    failure = rational(delta, "delta", positive=True)
    if failure >= 1:
        raise ParameterError("delta", "is not below 1", "between 0 and 1")
    rho = (_checked(shifts) / width) ** 2 / 2
    losses = np.zeros_like(rho)
    moved = rho > 0
    logarithm = -np.log(float(failure))
    best = np.full(int(moved.sum()), np.inf)
    for factor in np.geomspace(0.4, 2.5, 15):
        above = factor * np.sqrt(max(logarithm, 1e-3) / rho[moved])  # the order less 1
        order = 1 + above
        spare = logarithm - order * np.log1p(1 / above) - np.log(above)
        best = np.minimum(best, order * rho[moved] + spare / above)
    losses[moved] = np.maximum(best, 0.0) * _UP
    return PerInstanceReport(losses=losses, delta=failure)


def worst_case(reports: Iterable[PerInstanceReport]) -> PureDP | ApproximateDP:
    """Return the guarantee that follows from the reports on every data set of a universe.

    Each report is on one data set, and the universe holds, with a data set, the data set without any one
    person. Then the largest loss of all bounds the loss between any two neighbors: that is
    differential privacy, under add/remove of a person, on this universe.
    """
    worst, deltas = 0.0, set()
    for report in reports:
        worst = max(worst, float(report.losses.max(initial=0.0)))
        deltas.add(report.delta)
    if len(deltas) != 1:
        raise ParameterError("reports", "are none, or have different deltas", "reports at one delta")
    failure = deltas.pop()
    epsilon = Fraction(worst)
    if not failure:
        return PureDP(epsilon=epsilon, neighbors=ADD_REMOVE_PERSON)
    return ApproximateDP(epsilon=epsilon, delta=failure, neighbors=ADD_REMOVE_PERSON)


def _checked(shifts: ArrayLike) -> Floats:
    held = np.abs(np.asarray(shifts, dtype=np.float64))
    if held.ndim != 1:
        raise ParameterError("shifts", "is no list of numbers", "one number for each person")
    return held
