"""Outcomes of infinite loss, kept apart: an (epsilon, delta) step raises a flag, or is a pure step.

With F the probability that some step of a run raises its flag, and delta' the profile of the run without
flags, the run has delta = F + (1 - F) delta'. F is known as a fraction, so that a delta that is
exactly F finds the largest loss of the rest, and no rounding makes it infinite
(docs/proofs/parallel_parts.md, lemma 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, cast

from discreet.accounting.loss import Pair, pair_of
from discreet.accounting.loss.finite import largest_finite_loss, outcomes_of
from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.accounting.loss.pair import Side
from discreet.privacy import events
from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.events import Event
from discreet.privacy.events.finite import Masses
from discreet.privacy.events.sampling import amplified_epsilon
from discreet.records import dataclass

__all__ = ["Chance", "OneWayPair", "fails", "failure", "rest_epsilon", "rest_pair", "turned"]

_MOST_BITS = 60_000
_FARTHEST = 2000  # e^-2000 is next to nothing, and its fraction still short
_ZERO = Fraction(0)
_RAISED = 1 + Fraction(1, 10**12)  # more than a mass that was rounded a few times is off by


class Chance(NamedTuple):
    """A probability between two fractions, which are equal where it is known exactly."""

    lower: Fraction
    upper: Fraction

    def rest(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return the least and the largest (delta - F) / (1 - F); negative where F alone is too much."""
        if self.lower == 1:
            return Fraction(-1), Fraction(-1)
        largest = (delta - self.lower) / (1 - self.lower)
        return (delta - self.upper) / (1 - self.upper) if self.upper < 1 else Fraction(-1), largest


def fails(event: Event, direction: int, side: Side = "upper") -> Fraction:
    """Return the probability that a step has infinite loss, in one direction."""
    match event:
        case events.Approximate():
            return event.delta
        case events.FiniteLaws() | events.PrivacyProfile():
            return _only_first(outcomes_of(event, direction, side))
        case events.Composed():
            chance = failure(event.parts, direction, side)
            return chance.upper if side == "upper" else chance.lower
        case events.CappedPoissonSampled():
            return _capped_fails(event, direction, side)
        case events.PoissonSampled() if direction == 0 or event.rate == 1:
            return event.rate * fails(event.inner, direction, side)
        case events.SampledWithoutReplacement() if event.rate == 1:
            return fails(event.inner, direction, side)
        case events.SampledWithoutReplacement() if side == "upper" or direction == 0:
            return event.rate * fails(event.inner, 0, side)
    return _ZERO


def _only_first(outcomes: Masses) -> Fraction:
    return sum((p for p, q in outcomes if not q), _ZERO)


def _capped_fails(event: events.CappedPoissonSampled, direction: int, side: Side) -> Fraction:
    """Return that of the sample with no cap, and from above what a full batch adds to it."""
    usual = fails(event.uncapped, direction, side)
    if side == "lower" or not event.is_capped or not fails(event.uncapped, 0):
        return usual
    # All laws are finite here, since a step that fails has a finite pair or none: no cut moves any mass.
    pair = pair_of(event)
    rounded = 1.0 if pair is None else pair.law(direction, "upper", 3).infinity
    return min(Fraction(rounded) * _RAISED, Fraction(1))


def failure(leaves: Iterable[tuple[Event, int]], direction: int, side: Side = "upper") -> Chance:
    """Return 1 - prod (1 - f)^times, exactly unless it is too long to write down."""
    kept = [(1 - fails(leaf, direction, side), times) for leaf, times in leaves]
    kept = [(share, times) for share, times in kept if share < 1]
    if any(share == 0 for share, _ in kept):
        return Chance(Fraction(1), Fraction(1))
    if sum(share.denominator.bit_length() * times for share, times in kept) <= _MOST_BITS:
        all_kept = Fraction(1)
        for share, times in kept:
            all_kept *= share**times
        return Chance(1 - all_kept, 1 - all_kept)
    least = sum((times * log_interval(share)[0] for share, times in kept), start=_ZERO)
    most = sum((times * log_interval(share)[1] for share, times in kept), start=_ZERO)
    lower = 1 - exp_interval(max(most, Fraction(-_FARTHEST)))[1]
    upper = 1 - exp_interval(least)[0] if least > -_FARTHEST else Fraction(1)
    return Chance(max(lower, _ZERO), min(upper, Fraction(1)))


def rest_epsilon(event: Event) -> Fraction | None:
    """Return an epsilon that a step keeps in both directions with the delta `fails` of direction 0.

    None if none is known. In direction 1 a sample may have finite losses beyond it, whose probability is
    then within that delta; so laws that fail more often in direction 1 are not bounded here.
    """
    match event:
        case events.Approximate():
            return event.epsilon
        case events.Composed():
            each = [(rest_epsilon(part), times) for part, times in event.parts]
            known = [epsilon * times for epsilon, times in each if epsilon is not None]
            return sum(known, start=_ZERO) if len(known) == len(each) else None
        case events.FiniteLaws() | events.PrivacyProfile() if event.pure_epsilon is None:
            return largest_finite_loss(event) if fails(event, 1) <= fails(event, 0) else None
        case events.PoissonSampled() | events.SampledWithoutReplacement() if event.pure_epsilon is None:
            return amplified_epsilon(rest_epsilon(event.inner), event.rate)
    return event.pure_epsilon


def rest_pair(event: Event, direction: int) -> Pair | None:
    """Return the pair of a step whose flag is not raised."""
    if isinstance(event, events.Approximate):
        if event.delta == 1:
            return None
        return pair_of(events.Pure(epsilon=event.epsilon, neighbors=event.neighbors))
    pair = pair_of(event)
    if pair is None or not any(fails(event, way) for way in (0, 1)):
        return pair
    kept, kept_below = 1 - fails(event, direction), 1 - fails(event, direction, "lower")
    return OneWayPair(pair, direction, float(kept), float(kept_below))


def turned(pair: Pair, direction: int) -> Pair:
    """Return a pair as it is in one direction alone."""
    return OneWayPair(pair, direction) if pair.directions == 2 else pair


@dataclass(frozen=True, slots=True)
class OneWayPair(Pair):
    """A pair in one direction; where it says what is kept, without infinite losses and of mass 1 again."""

    pair: Pair
    direction: int
    kept: float | None = None
    kept_below: float | None = None

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """As the pair."""
        return self.pair.finite

    @property
    def attained(self) -> bool:  # type: ignore[override]
        """As the pair."""
        return self.pair.attained

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return the loss where it is finite, with masses rounded outward."""
        del direction
        law = cast(AtomicLoss, self.pair.law(self.direction if self.pair.directions == 2 else 0, side, cells))
        kept = self.kept if side == "upper" else self.kept_below
        if kept is None:
            return law
        outward = 1 + 1e-14 if side == "upper" else 1 - 1e-14
        return AtomicLoss(law.masses / kept * outward, law.losses, 0.0)
