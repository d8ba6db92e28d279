"""Two finite laws, and the worst pair of a privacy profile: exact, by fractions.

A profile h(g), g = e^epsilon, falls and is convex, and h(0) = 1. Its broken line through finitely many points
is the profile of a finite pair: where the slope grows by q at g, the outcome has masses (g q, q).
Proofs: docs/proofs/finite.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import inf

from discreet.accounting.loss.cells import mixed_losses
from discreet.accounting.loss.law import LossLaw
from discreet.accounting.loss.local import log_ratio
from discreet.accounting.loss.pair import BoundedPair, FinitePair, Pair, Side, finite_pair, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON
from discreet.privacy import events
from discreet.privacy.directed import exp_interval
from discreet.privacy.events.finite import Masses
from discreet.privacy.events.local import log_above
from discreet.records import dataclass

__all__ = [
    "TwoWayPair",
    "broken_line",
    "either_way",
    "exact_pair",
    "largest_finite_loss",
    "outcomes_of",
    "worst_outcomes",
]

ProfilePoint = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class TwoWayPair(Pair):
    """One finite pair for removing a unit, and another for adding it."""

    removed: FinitePair
    added: FinitePair
    directions: int = 2
    exact: bool = True
    finite: bool = True

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the exact loss of the pair of that direction."""
        return (self.added if direction else self.removed).law(0, side, cells)

    def sampled(self, rate: float, rest: float) -> TwoWayPair:
        """Return (rest Q + rate P, Q) of the first, (P, rest P + rate Q) of the second, rest = 1 - rate."""
        one, other = self.removed, self.added
        mixed, back = rest * one.q + rate * one.p, rest * other.p + rate * other.q
        return TwoWayPair(
            finite_pair(mixed, one.q, losses=mixed_losses(one.losses, rate, rest)),
            finite_pair(other.p, back, losses=-mixed_losses(-other.losses, rate, rest)),
        )


def broken_line(points: Iterable[ProfilePoint]) -> Masses:
    """Return the outcomes (p, q) of the largest profile that lies under all points (g, h).

    The largest convex function under the points, from (0, 1) on, that stays constant after the last: the
    lower hull. Points whose h is not below that of an earlier one say nothing and are passed over.
    """
    hull: list[ProfilePoint] = [(Fraction(0), Fraction(1))]
    for point in sorted(points):
        if point[1] >= hull[-1][1]:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    slopes = [_slope(a, b) for a, b in pairwise(hull)] + [Fraction(0)]
    outcomes = [(hull[-1][1], Fraction(0))] if hull[-1][1] else []
    for place in range(len(hull) - 1, 0, -1):
        q = slopes[place] - slopes[place - 1]
        outcomes.append((hull[place][0] * q, q))
    missing = 1 + slopes[0]
    return tuple(outcomes + ([(Fraction(0), missing)] if missing else []))


def _slope(one: ProfilePoint, other: ProfilePoint) -> Fraction:
    return (other[1] - one[1]) / (other[0] - one[0])


@lru_cache(maxsize=64)
def worst_outcomes(event: events.PrivacyProfile) -> Masses | None:
    """Return the worst pair of all that have this profile in both orders; None beyond floats.

    e^epsilon is rounded up, to which the same delta applies, so that all else is exact.
    """
    known = [point for point in event.points if point[0] <= MOST_EPSILON]
    if not known or known[-1][1] == 1:
        return None
    points = []
    for epsilon, delta in known:
        ratio = exp_interval(epsilon)[1]
        points += [(ratio, delta), (1 / ratio, 1 - (1 - delta) / ratio)]
    return broken_line(points)


@lru_cache(maxsize=64)
def either_way(outcomes: Masses) -> Masses:
    """Return a pair that dominates both (P, Q) and (Q, P): the larger profile at all ratios of both."""
    both = _profile(outcomes), _profile(tuple((q, p) for p, q in reversed(outcomes)))
    ratios = {p / q for p, q in outcomes if p and q}
    points = ratios | {1 / ratio for ratio in ratios} | {Fraction(1)}
    return broken_line((ratio, max(profile(ratio) for profile in both)) for ratio in points)


def _profile(outcomes: Masses) -> Callable[[Fraction], Fraction]:
    """Return the exact profile of outcomes by falling ratio."""
    inner = [(p, q) for p, q in outcomes if p and q]
    end = sum((p for p, q in outcomes if not q), Fraction(0))
    rising = [-p / q for p, q in inner]
    first = list(accumulate((p for p, _ in inner), initial=end))
    second = list(accumulate((q for _, q in inner), initial=Fraction(0)))

    def at(ratio: Fraction) -> Fraction:
        count = bisect_left(rising, -ratio)
        return first[count] - ratio * second[count]

    return at


def outcomes_of(event: events.FiniteLaws | events.PrivacyProfile, direction: int, side: Side) -> Masses:
    """Return the outcomes of the pair in one direction, as fractions; none where there is no pair."""
    if isinstance(event, events.PrivacyProfile):
        return worst_outcomes(event) or ()
    if event.is_either_way and len(event.orders) == 2 and side == "upper":
        return either_way(event.outcomes)
    return event.orders[direction % len(event.orders)]


def largest_finite_loss(event: events.FiniteLaws | events.PrivacyProfile) -> Fraction | None:
    """Return a bound on every finite loss, in both orders; None if there is no pair."""
    if isinstance(event, events.PrivacyProfile):
        least = event.points[-1][1]
        known = next(epsilon for epsilon, delta in event.points if delta == least)
        return known if worst_outcomes(event) and known <= MOST_EPSILON else None
    common = [[(p, q) for p, q in order if p and q] for order in event.orders]
    ratios = [p / q for order in common if order for p, q in (order[0], order[-1])]  # by falling ratio
    worst = max((max(ratio, 1 / ratio) for ratio in ratios), default=None)
    return None if worst is None else log_above(worst) if worst > 1 else Fraction(0)


def exact_pair(outcomes: Masses, directions: int = 1) -> FinitePair:
    """Return the pair of outcomes given as fractions."""
    losses = [log_ratio(p / q) if p and q else inf if p else -inf for p, q in outcomes]
    p, q = ([float(mass) for mass in law] for law in zip(*outcomes, strict=True))
    return finite_pair(p, q, directions, losses=losses)


def _has_common_outcomes(outcomes: Masses) -> bool:
    return any(p and q for p, q in outcomes)


@pair_of.register
def _(event: events.FiniteLaws) -> Pair | None:
    """Exact, but where neighbors have no order and the laws are not mirror images."""
    if not all(map(_has_common_outcomes, event.orders)):
        return None
    if event.added is not None:
        return TwoWayPair(exact_pair(event.outcomes), exact_pair(event.added))
    if len(event.orders) == 1:
        return exact_pair(event.outcomes)
    plain = exact_pair(event.outcomes, directions=2)
    return BoundedPair(exact_pair(either_way(event.outcomes)), plain) if event.is_either_way else plain


@pair_of.register
def _(event: events.PrivacyProfile) -> Pair | None:
    """Some law attains it, since it is one."""
    outcomes = worst_outcomes(event)
    return exact_pair(outcomes) if outcomes and _has_common_outcomes(outcomes) else None
