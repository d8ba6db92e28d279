"""Whole curves of an event: epsilon at many deltas, and its profile, delta at many epsilons.

Each point is bounded from both sides by the accountant. What holds at one point also says something about
others: delta never grows with epsilon, and it is convex in e^epsilon. So bounds are carried to
their neighbors (docs/proofs/meaning.md, lemma 7), which makes the arrays monotone, and a profile can
be asked at every epsilon, also between its points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import exp, expm1, inf, log
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from discreet.accounting import renyi
from discreet.accounting.epsilon_and_delta import delta as tight_delta
from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.accounting.epsilon_and_delta import epsilon_within
from discreet.accounting.interval import Interval
from discreet.accounting.runs.composed_run import WIDTH, Runs
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.decimals import float_text_above
from discreet.privacy.events import Event
from discreet.privacy.events.sampling import sampling_assumption
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, rational
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes

__all__ = ["Curve", "Profile", "curve", "profile"]


SMALLEST = 1e-12
"""The delta down to which curves are drawn unless something else is asked for."""
POINTS = 65
"""How many points a curve has unless something else is asked for."""
_DELTAS = np.geomspace(SMALLEST, 0.1, POINTS)
_LARGER = (1e-9, 1e-6, 1e-3, 0.1, 0.5)
_ABOVE = 1 + 1e-14


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Band:
    """Bounds on one number at many points."""

    lower: Floats
    upper: Floats
    method: str
    neighbors: Neighbors | None
    certified: bool
    assumption: str = ""

    def _about(self, of: str, at: str, places: Floats) -> str:
        """Return one sentence: from where to where the number is bounded, and by how much."""
        relation = "" if self.neighbors is None else f" ({self.neighbors})"
        first, last = int(places.argmin()), int(places.argmax())
        ends = [
            f"{float_text_above(float(self.upper[one]))} at {at} {places[one]:g}" for one in (first, last)
        ]
        count = f"1 {at}" if len(places) == 1 else f"{len(places):,} {at}s"
        return f"{of} at {count}{relation}: at most {' and '.join(dict.fromkeys(ends))}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve(_Band):
    """Epsilon at many deltas.

    Attributes
    ----------
    deltas : array
        Where it was asked, in the order of the question.
    lower, upper : array
        The true epsilon at each delta lies between them.
    method, neighbors, certified, assumption
        As in `Interval`; the methods of all points, and certified if every point is.
    """

    deltas: Floats

    def __str__(self) -> str:
        return self._about("epsilon", "delta", self.deltas)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile(_Band):
    """Delta at many epsilons. As a function, an upper bound on delta at every epsilon >= 0.

    So a profile is a hockey-stick curve for the functions of `meaning`.

    Attributes
    ----------
    epsilons : array
        Where it was asked, in the order of the question.
    lower, upper : array
        The true delta at each epsilon lies between them.
    method, neighbors, certified, assumption
        As in `Interval`; the methods of all points, and certified if every point is.
    """

    epsilons: Floats

    def __str__(self) -> str:
        return self._about("delta", "epsilon", self.epsilons)

    def __call__(self, epsilon: float) -> float:
        """Return an upper bound on delta at any epsilon >= 0.

        Between two points it is the chord over e^epsilon; beyond the last one the delta found there;
        before the first one 1.
        """
        if not epsilon >= 0:
            raise ParameterError("epsilon", "is negative", "0 or greater")
        points, bounds = self.corners
        right = int(np.searchsorted(points, epsilon))
        if right < len(points) and points[right] == epsilon:
            return float(bounds[right])
        if right == 0:
            return 1.0
        left = right - 1
        if right == len(points):
            return float(bounds[left])
        gap, along = float(points[right] - points[left]), float(epsilon - points[left])
        # (e^epsilon - e^left) / (e^right - e^left), without overflow
        share = exp(along - gap) * -expm1(-along) / -expm1(-gap)
        between = float(bounds[left]) * (1 - share) + float(bounds[right]) * share
        return min(float(bounds[left]), between * _ABOVE)

    @property
    def corners(self) -> tuple[Floats, Floats]:
        """The corners of the upper bound: epsilons in increasing order, and delta at each.

        Delta is convex over e^epsilon, so what lies above a chord of two others is not a corner.
        """
        order = np.argsort(self.epsilons, kind="stable")
        points, bounds = self.epsilons[order], self.upper[order]
        kept: list[int] = []
        for place in range(len(points)):
            while kept and points[kept[-1]] == points[place]:
                kept.pop()
            while len(kept) > 1 and _fall(points, bounds, kept[-2], kept[-1]) <= _fall(
                points, bounds, kept[-1], place
            ):
                kept.pop()
            kept.append(place)
        return points[kept], bounds[kept]

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw delta over epsilon, with its band; see `accounting.plot.profile`."""
        from discreet.accounting import plot

        return plot.profile(self, ax=ax, label=label)


def curve(event: Event, *, deltas: Iterable[Number] | None = None) -> Curve:
    """Return epsilon at many deltas, from both sides.

    Parameters
    ----------
    event : Event
        What was run.
    deltas : sequence of numbers
        From 0 to below 1; where left out, from 1e-12 to 0.1.

    Returns
    -------
    Curve
        Its arrays have the order of `deltas`. Epsilon falls as delta grows.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> found = curve(events.Gaussian(noise_multiplier=1), deltas=[1e-6, 1e-5, 0.5])
    >>> found.upper.round(3).tolist()
    [4.887, 4.377, 0.0]
    """
    check_event(event)
    asked = _several(_DELTAS if deltas is None else deltas, "deltas")
    runs: Runs = {}
    points, found = _visit(
        asked, "deltas", lambda delta: epsilon_within(event, delta=delta, width=WIDTH, runs=runs)
    )
    return Curve(deltas=points, assumption=sampling_assumption(event), **found)


def profile(event: Event, *, epsilons: Iterable[Number] | None = None) -> Profile:
    """Return delta at many epsilons, from both sides.

    Parameters
    ----------
    event : Event
        What was run.
    epsilons : sequence of numbers
        0 or greater; where left out, from 0 to where delta is 1e-12, or as low as it gets.

    Returns
    -------
    Profile
        Its arrays have the order of `epsilons`. Delta falls as epsilon grows.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> found = profile(events.Laplace(epsilon=1), epsilons=[0, 0.5, 1])
    >>> found.upper.round(4).tolist()
    [0.3935, 0.2212, 0.0]
    """
    check_event(event)
    asked = _default_epsilons(event) if epsilons is None else _several(epsilons, "epsilons")
    most = event.pure_epsilon

    def bound(epsilon: Number) -> Interval:
        if most is not None and rational(epsilon, "epsilons") >= most:
            return Interval(
                lower=0.0, upper=0.0, method="largest loss", neighbors=event.neighbors, certified=True
            )
        return tight_delta(event, epsilon=epsilon)

    points, found = _visit(asked, "epsilons", bound)
    return Profile(epsilons=points, assumption=sampling_assumption(event), **found)


def joined_profiles(first: Profile, second: Profile) -> Profile:
    """Return the profile of one event that two profiles of it give together, by increasing epsilon."""
    order = np.argsort(np.concatenate([first.epsilons, second.epsilons]), kind="stable")
    lower = np.concatenate([first.lower, second.lower])[order]
    upper = np.minimum.accumulate(np.concatenate([first.upper, second.upper])[order])
    return Profile(
        epsilons=_fixed(np.concatenate([first.epsilons, second.epsilons])[order]),
        lower=_fixed(np.minimum(np.maximum.accumulate(lower[::-1])[::-1], upper)),
        upper=_fixed(upper),
        method=", ".join(sorted({*first.method.split(", "), *second.method.split(", ")})),
        neighbors=first.neighbors,
        certified=first.certified and second.certified,
        assumption=first.assumption,
    )


def check_event(event: object) -> None:
    """Refuse what is not an event."""
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")


def _default_epsilons(event: Event) -> list[Number]:
    last = farthest(event, SMALLEST)
    pure = event.pure_epsilon
    ends = [] if pure is None or float_above(pure) <= last else [float_above(pure)]
    return [*(float(point) for point in np.linspace(0, last or 1.0, POINTS)), *ends]


def farthest(event: Event, delta: float) -> float:
    """Return an epsilon at which delta is at most this or, where it never is, about as low as it gets."""
    own = renyi.extra_delta(event) * 1.001  # below what the parts bring themselves, nothing is promised
    for target in (delta, *(larger for larger in (own, *_LARGER) if delta < larger < 1)):
        found = tight_epsilon(event, delta=target).upper
        if found < inf:
            return found
    return 1.0


def _fall(points: Floats, bounds: Floats, left: int, right: int) -> float:
    """Return the logarithm of how fast a chord falls over e^epsilon."""
    fall = float(bounds[left] - bounds[right])
    gap = float(points[right] - points[left])
    # log(e^right - e^left), where the exponentials themselves may be out of range
    return log(fall) - float(points[right]) - log(-expm1(-gap)) if fall > 0 else -inf


def _several(values: object, name: str) -> list[Number]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(name, "are not a sequence", "a sequence of numbers")
    listed = list(values)
    if not listed:
        raise ParameterError(name, "are empty", "at least one number")
    return listed


class _Found(TypedDict):
    """What every band holds."""

    lower: Floats
    upper: Floats
    method: str
    neighbors: Neighbors | None
    certified: bool


def _visit(asked: Sequence[Number], name: str, bound: Callable[[Number], Interval]) -> tuple[Floats, _Found]:
    """Bound a falling function at each point once, from left to right; past its first zero it is zero."""
    exact = [rational(value, name) for value in asked]
    seen: dict[Fraction, Interval] = {}
    last: Interval | None = None
    for place in sorted(range(len(exact)), key=exact.__getitem__):
        if exact[place] not in seen:
            last = last if last is not None and last.upper == 0 else bound(asked[place])
            seen[exact[place]] = last
    points = sorted(seen)
    upper = np.minimum.accumulate([seen[point].upper for point in points])
    lower = np.maximum.accumulate([seen[point].lower for point in reversed(points)])[::-1]
    place_of = {point: place for place, point in enumerate(points)}
    order = [place_of[value] for value in exact]
    intervals = list(seen.values())
    return _fixed([float(value) for value in exact]), _Found(
        lower=_fixed(np.minimum(lower, upper)[order]),
        upper=_fixed(upper[order]),
        method=", ".join(sorted({found.method for found in intervals})),
        neighbors=intervals[0].neighbors,
        certified=all(found.certified for found in intervals),
    )


def _fixed(values: Sequence[float] | Floats) -> Floats:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
