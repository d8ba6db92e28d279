"""Per-instance privacy: what one release reveals about each person who is in the data.

A guarantee holds for the worst data and the worst person. The loss of the data x at hand for one
person z, between the laws of the release with and without z, is often far smaller. It is a function of
the data, and private: it is for the curator, not for publication. Its supremum over all data
sets and persons is the guarantee (Wang 2019; proof: docs/proofs/per_instance.md).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, float_below, probability, rational, show
from discreet.records import dataclass
from discreet.stability.entries import reals
from discreet.stability.gaussian_divergence import ideal_epsilons, lattice_epsilons

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = [
    "PerInstanceReport",
    "gaussian_losses",
    "laplace_losses",
    "rounded_gaussian_losses",
    "worst_case",
]


_UP = 1 + 2.0**-40  # more than all roundings of a loss together
_CANCELED = 2.0**-45  # more than the roundings of a sum, for each unit in its terms
_LEAST_RHO = 2.0**-1000
_LEAST_RATIO = 2.0**-30  # below, tails differ by less than floats can tell
_MOST_STEPS = 2.0**53
_FINEST = Fraction(1, 2**1000)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class PerInstanceReport:
    """The privacy loss of each person in one release. Only for the curator.

    Attributes
    ----------
    losses : array of floats
        The epsilon of each person, rounded up: with and without this person, the probability of any
        set of outcomes differs by a factor of at most e^epsilon, and `delta`. Infinite where no bound is
        known. Private.
    delta : Fraction
        0 for a release with Laplace noise. Public.
    """

    losses: Floats
    delta: Fraction

    def histogram(self, bins: int = 20) -> tuple[NDArray[np.int64], Floats]:
        """Return how many persons have a loss in each of some equal bins from 0 on, and the bins' edges.

        Infinite losses are in the last bin.
        """
        finite = self.losses[np.isfinite(self.losses)]
        top = max(float(finite.max(initial=0.0)), sys.float_info.min * 2**60) if finite.any() else 1.0
        held = np.where(np.isfinite(self.losses), self.losses, top)
        counts, edges = np.histogram(held, bins=bins, range=(0.0, top))
        return counts.astype(np.int64), edges

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the histogram. It is as private as the losses are."""
        from discreet.stability.plot import losses

        return losses(self, ax=ax, label=label)

    def __repr__(self) -> str:
        return f"PerInstanceReport(private, delta={show(self.delta)})"


def laplace_losses(shifts: ArrayLike, *, scale: Number, grid: Number | None = None) -> PerInstanceReport:
    """Return the loss of each person in a release with Laplace noise: shift / scale.

    Parameters
    ----------
    shifts : numbers
        By how much the value moves, in the L1 norm, when each person goes; see `instance_shifts`. Where
        it is not known (not a number), the loss is infinite.
    scale : number
        The scale of the noise.
    grid : number, optional
        The power of two that the mechanism rounds one real value to, before noise (its `grid`). A shift
        within a step of the grid may then cross to the next point, so shifts are charged in whole
        steps. Leave it out for integers, and for shifts of values that are on the grid.
    """
    return PerInstanceReport(
        losses=_scaled(_checked(shifts, grid), rational(scale, "scale", positive=True)) * _UP,
        delta=Fraction(0),
    )


def gaussian_losses(
    shifts: ArrayLike, *, sigma: Number, delta: Number, grid: Number | None = None
) -> PerInstanceReport:
    """Return the epsilon of each person, at a delta, in a release with discrete Gaussian noise.

    With `grid`, of one number: exact, the largest log((P(N > m) - delta) / P(N > m + s)) over the integers
    m, with s the shift in steps of the grid. Without, a bound that holds on every grid and for vectors: each
    person has rho = shift^2 / (2 sigma^2), from which follows, for every order a > 1,
    epsilon = a rho + (log(1 / delta) + a log(1 - 1 / a) - log(a - 1)) / (a - 1). It is up to a tenth above.
    (Exact losses of vectors: `accounting.instance_losses`.)

    Parameters
    ----------
    shifts : numbers
        By how much the value moves, in the L2 norm, when each person goes; see `instance_shifts`. Where
        it is not known (not a number), the loss is infinite.
    sigma : number
        The scale of the noise.
    delta : number
        Between 0 and 1.
    grid : number, optional
        The power of two that the values of one number lie on, or are rounded to: 1 for integers. Shifts are
        charged in whole steps of it, as by `laplace_losses`.
    """
    width = rational(sigma, "sigma", positive=True)
    failure = probability(delta, "delta", zero=False, one=False)
    held = _checked(shifts, grid)
    losses = _by_rho(_scaled(held, width), _logarithm(failure))
    if grid is not None:
        step = rational(grid, "grid")
        steps = held / float(step)
        exact = (steps > 0) & (steps < _MOST_STEPS)
        found = lattice_epsilons(steps[exact], (width / step) ** 2, float_below(failure))
        losses[exact] = np.minimum(losses[exact], found * _UP)
    return PerInstanceReport(losses=losses, delta=failure)


def rounded_gaussian_losses(shifts: ArrayLike, *, sigma: Number, delta: Number) -> PerInstanceReport:
    """Return the epsilon of each person, at a delta, in a release with rounded Gaussian noise.

    The noise is a function of normal noise, whose loss depends on the L2 norm of the shift alone: with
    mu = shift / sigma, delta is Q(epsilon / mu - mu / 2) - e^epsilon Q(epsilon / mu + mu / 2).
    Exact for the normal noise, in any number of dimensions; rounding reveals a little less.

    Parameters
    ----------
    shifts, sigma, delta
        As for `gaussian_losses`; of values that are on the grid.
    """
    width = rational(sigma, "sigma", positive=True)
    failure = probability(delta, "delta", zero=False, one=False)
    ratios = _scaled(_checked(shifts, None), width)
    losses = _by_rho(ratios, _logarithm(failure))
    moved = (ratios > _LEAST_RATIO) & np.isfinite(ratios)
    found = ideal_epsilons(ratios[moved] * _UP, float_below(failure))
    losses[moved] = np.minimum(losses[moved], found * _UP)
    return PerInstanceReport(losses=losses, delta=failure)


def _by_rho(ratios: Floats, logarithm: float) -> Floats:
    """Return an epsilon for shifts of so many sigmas, by their rho: several orders are tried."""
    losses = np.full_like(ratios, inf)
    losses[ratios == 0] = 0.0
    moved = (ratios > 0) & (ratios < 2.0**500)
    rho = np.maximum(ratios[moved] ** 2 / 2, _LEAST_RHO)
    best = np.full(len(rho), inf)
    for factor in np.geomspace(0.4, 2.5, 15):
        above = factor * np.sqrt(max(logarithm, 1e-3) / rho)  # the order less 1
        order = 1 + above
        taken, shape = order * np.log1p(1 / above), np.log(above)
        padding = order * rho + (logarithm + taken + np.abs(shape)) / above
        found = order * rho + (logarithm - taken - shape) / above + padding * _CANCELED
        best = np.minimum(best, found)
    losses[moved] = np.maximum(best, 0.0) * _UP
    return losses


def worst_case(reports: Iterable[PerInstanceReport]) -> PureDP | ApproximateDP:
    """Return the guarantee that follows from the reports on every data set of a universe.

    Each report is on one data set, and the universe holds, with a data set, the data set without any one
    person. Then the largest loss of all bounds the loss between any two neighbors: that is
    differential privacy, under add/remove of a person, on this universe. A loss that is infinite, or no
    number, gives no guarantee, and is refused.
    """
    tops, deltas = [0.0], set()
    for report in reports:
        tops.append(float(np.max(report.losses, initial=0.0)))
        deltas.add(report.delta)
    worst = float(np.max(tops))
    if not np.isfinite(worst):
        raise ParameterError("reports", "hold a loss without a bound", "finite losses")
    if len(deltas) != 1:
        raise ParameterError("reports", "are empty, or have different deltas", "reports at one delta")
    failure = deltas.pop()
    epsilon = Fraction(worst)
    if not failure:
        return PureDP(epsilon=epsilon, neighbors=ADD_REMOVE_PERSON)
    return ApproximateDP(epsilon=epsilon, delta=failure, neighbors=ADD_REMOVE_PERSON)


def _checked(shifts: ArrayLike, grid: Number | None) -> Floats:
    """Return the sizes of shifts, in whole steps of a grid if there is one; infinite if not known."""
    held = np.abs(reals(shifts, "shifts"))
    if held.ndim != 1:
        raise ParameterError("shifts", "is not a list of numbers", "one number for each person")
    held[np.isnan(held)] = inf
    if grid is None:
        return held
    step = rational(grid, "grid", positive=True)
    if step.numerator & (step.numerator - 1) or step.denominator & (step.denominator - 1):
        raise ParameterError("grid", "is not a power of two", "the grid of a mechanism")
    if not _FINEST <= step <= 1 / _FINEST:
        raise ParameterError("grid", "is out of range", "from 2^-1000 to 2^1000")
    with np.errstate(over="ignore"):
        steps = np.ceil(held / float(step))
        steps[held > 0] = np.maximum(steps[held > 0], 1.0)  # a quotient may round to 0
        return np.asarray(steps * float(step), dtype=np.float64)


def _scaled(shifts: Floats, scale: Fraction) -> Floats:
    """Return shift / scale, rounded up where it leaves the range of floats."""
    width = float_below(scale)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratios = np.asarray(shifts / width, dtype=np.float64)
    moved = shifts > 0
    ratios[moved] = np.maximum(ratios[moved], sys.float_info.min)
    ratios[~moved] = 0.0
    return ratios


def _logarithm(delta: Fraction) -> float:
    """Return log(1 / delta), even where delta is below every float."""
    near = float_below(delta)
    if near > sys.float_info.min:
        return -log(near)
    return log(delta.denominator) - log(delta.numerator)
