"""Events from numbers alone: two finite laws, or a privacy profile at finitely many points.

They record what is known about a release that has no event class: an enumerated mechanism, a privacy-loss
distribution that another accountant wrote, or a curve of (epsilon, delta) from a paper.
Proofs: docs/proofs/finite.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.generic import Pure
from discreet.privacy.events.local import log_above
from discreet.privacy.grouping import group_delta
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import non_negative, show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["FiniteLaws", "Masses", "PrivacyProfile"]

Masses = tuple[tuple[Fraction, Fraction], ...]
"""Outcomes with their probabilities (P, Q)."""

MOST_OUTCOMES = 5000
_MOST_POINTS = 2000
_LEAST_MASS = Fraction(1, 2**960)
"""A smaller mass next to a larger one is a separate outcome: floats could not hold their ratio."""
_GROUPED = 200  # points of a profile that a group keeps; each point on its own is a bound


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class FiniteLaws(Event):
    """Two laws of finitely many outcomes; no neighbors are easier to tell apart.

    P is the law with a unit and Q the law without it. Where units are replaced, or several come and go,
    neighbors are told apart no better than P and Q, or than Q and P, whichever way round. What is missing of
    a whole in P or Q counts as an outcome that the other cannot have: probabilities that were rounded down
    are charged for.

    Parameters
    ----------
    outcomes : pairs (p, q)
        The probabilities of each outcome under P and Q, 0 or greater, at most 5000 pairs. Neither sum is
        above 1. Kept by falling ratio, those of equal ratio together.
    added : pairs (p, q), optional
        Under a relation that adds or removes: another pair of laws for the other order, in which p belongs
        to the table *without* the unit. Left out, the order of `outcomes` is exchanged.
    neighbors : Neighbors
        The relation.
    """

    outcomes: Masses
    added: Masses | None = None
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(
        self,
        *,
        outcomes: Iterable[tuple[Number, Number]],
        added: Iterable[tuple[Number, Number]] | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        first = _canonical(outcomes, "outcomes")
        second = None if added is None else _canonical(added, "added")
        self._set(
            outcomes=first,
            added=None if second == _exchanged(first) else second,
            neighbors=check_relation(neighbors),
        )
        if added is not None and self.is_either_way:
            raise ParameterError(
                "added", "is given for a relation without a direction", "left out: both orders are covered"
            )

    @property
    def is_either_way(self) -> bool:
        """Whether neighbors have no order: each step may be told apart like P and Q or like Q and P."""
        return self.neighbors.change is Change.REPLACE or self.neighbors.size > 1

    @property
    def orders(self) -> tuple[Masses, ...]:
        """The pairs of laws for removing a unit and for adding it; one where both are the same."""
        second = _exchanged(self.outcomes) if self.added is None else self.added
        return (self.outcomes,) if second == self.outcomes else (self.outcomes, second)

    @property
    def infinite_share(self) -> Fraction:
        """The most that either law puts on outcomes which the other cannot have."""
        pairs = [pair for order in self.orders for pair in order]
        ends = [p + q for p, q in pairs if p == 0 or q == 0]
        return max(ends, default=Fraction(0))

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The largest loss, rounded up, where every outcome is possible under both laws."""
        if self.infinite_share:
            return None
        ratios = [p / q for order in self.orders for p, q in (order[0], order[-1])]
        worst = max(max(ratio, 1 / ratio) for ratio in ratios)
        return log_above(worst) if worst > 1 else Fraction(0)

    def _group(self, size: int) -> Event:
        relation = self.neighbors.group(size)
        if (epsilon := self.pure_epsilon) is not None:
            return Pure(epsilon=size * epsilon, neighbors=relation)
        ratios = sorted(
            {max(p / q, q / p) for order in self.orders for p, q in order if p and q} | {Fraction(1)}
        )
        kept = ratios[:: -(-len(ratios) // _GROUPED)] + ratios[-1:]
        points: dict[Fraction, Fraction] = {}
        for ratio in kept:
            # Ratios may have one epsilon, rounded up; the last, which is the largest, has the least delta.
            epsilon = log_above(ratio) if ratio > 1 else Fraction(0)
            points[epsilon] = max(_delta(order, ratio) for order in self.orders)
        return PrivacyProfile(points=points.items(), neighbors=self.neighbors)._group(size)

    def __repr__(self) -> str:
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        other = "" if self.added is None else f", added={_shown(self.added)}"
        return f"FiniteLaws(outcomes={_shown(self.outcomes)}{other}{relation})"


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PrivacyProfile(Event):
    """Some law with P(S) <= e^epsilon Q(S) + delta at each of several epsilons, for all neighbors.

    One point is `Approximate`; more points say more, and every one of them holds.

    Parameters
    ----------
    points : pairs (epsilon, delta)
        At least one and at most 2000; epsilons of 0 or greater, each named once, and deltas from 0 to 1. Kept
        by rising epsilon, each delta at most the one before it.
    neighbors : Neighbors
        The relation.
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    neighbors: Neighbors = ADD_REMOVE_PERSON

    def __init__(
        self, *, points: Iterable[tuple[Number, Number]], neighbors: Neighbors = ADD_REMOVE_PERSON
    ) -> None:
        pairs = _pairs(points, "points", "(epsilon, delta)", _MOST_POINTS)
        exact = sorted((non_negative(e, "epsilon"), non_negative(d, "delta")) for e, d in pairs)
        if len({epsilon for epsilon, _ in exact}) < len(exact):
            raise ParameterError("points", "name an epsilon twice", "one delta for each epsilon")
        if any(delta > 1 for _, delta in exact):
            raise ParameterError("points", "hold a delta above 1", "deltas between 0 and 1")
        least, falling = Fraction(1), []
        for epsilon, delta in exact:
            least = min(least, delta)
            falling.append((epsilon, least))
        self._set(points=tuple(falling), neighbors=check_relation(neighbors))

    @property
    def infinite_share(self) -> Fraction:
        """The least delta: nothing is known about outcomes of that probability."""
        return self.points[-1][1]

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The least epsilon whose delta is 0."""
        return next((epsilon for epsilon, delta in self.points if delta == 0), None)

    def _group(self, size: int) -> Event:
        points = [(size * epsilon, group_delta(epsilon, delta, size)) for epsilon, delta in self.points]
        return PrivacyProfile(points=points, neighbors=self.neighbors.group(size))

    def __repr__(self) -> str:
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        return f"PrivacyProfile(points={_shown(self.points)}{relation})"


def _canonical(outcomes: Iterable[tuple[Number, Number]], name: str) -> Masses:
    """Put outcomes of one ratio together, in falling order, and complete both laws."""
    pairs = _pairs(outcomes, name, "(p, q)", MOST_OUTCOMES + 2)
    exact = [(non_negative(p, name), non_negative(q, name)) for p, q in pairs]
    left, right = sum((p for p, _ in exact), Fraction(0)), sum((q for _, q in exact), Fraction(0))
    if max(left, right) > 1:
        raise ParameterError(
            name,
            "have probabilities that sum to more than 1",
            "at most 1 in each law; round down, or use Fraction",
        )
    only_first, only_second = 1 - left, 1 - right
    together: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for p, q in exact:
        if min(p, q) < _LEAST_MASS:
            only_first, only_second = only_first + p, only_second + q
            continue
        old = together.get(p / q, (Fraction(0), Fraction(0)))
        together[p / q] = (old[0] + p, old[1] + q)
    inner = [together[ratio] for ratio in sorted(together, reverse=True)]
    first = [(only_first, Fraction(0))] if only_first else []
    return (*first, *inner, *([(Fraction(0), only_second)] if only_second else []))


def _pairs(given: object, name: str, shape: str, most: int) -> Sequence[tuple[Number, Number]]:
    pairs = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not pairs or len(pairs) > most or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise ParameterError(name, "is not a sequence of pairs", f"1 to {most} pairs {shape}")
    return pairs


def _exchanged(outcomes: Masses) -> Masses:
    return tuple((q, p) for p, q in reversed(outcomes))


def _delta(outcomes: Masses, ratio: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = ratio."""
    return sum((p - ratio * q for p, q in outcomes if p > ratio * q), Fraction(0))


def _shown(pairs: Masses) -> str:
    few = ", ".join(f"({show(a)}, {show(b)})" for a, b in pairs[:4])
    rest = f", … {len(pairs)} in all" if len(pairs) > 4 else "," if len(pairs) == 1 else ""
    return f"({few}{rest})"
