"""The delta of a Rényi curve: outside an event of this probability, the curve holds."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.renyi.finite import finite_share
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.neighbors import Change

__all__ = ["exact_extra_delta", "touched_parts"]


def touched_parts(event: events.Parallel) -> int:
    """Return how many parts neighbors differ in: one for a unit that comes or goes, two if it changes."""
    return (1 if event.neighbors.change is Change.ADD_REMOVE else 2) * event.neighbors.size


def exact_extra_delta(event: Event) -> Fraction:
    """Return the delta outside which the Rényi curve of an event holds, exactly; it may be above 1."""
    match event:
        case events.Approximate():
            return event.delta
        case events.FiniteLaws() | events.PrivacyProfile():
            return finite_share(event)
        case events.Composed():
            return sum((times * exact_extra_delta(part) for part, times in event.parts), start=Fraction(0))
        case events.Parallel():
            touched = touched_parts(event)
            each = [d for part, times in event.parts for d in [exact_extra_delta(part)] * min(times, touched)]
            return sum(sorted(each, reverse=True)[:touched], start=Fraction(0))
        case events.PoissonSampled() | events.SampledWithoutReplacement():
            inner = exact_extra_delta(event.inner)
            return event.rate * inner if isinstance(event.inner, events.Approximate) else inner
        case events.Grouped() if exact_extra_delta(event.inner):
            raise ParameterError("event", "is a group that meets a sampled part with a delta", "without one")
        case events.CappedPoissonSampled() if event.pure_epsilon is None:
            from discreet.accounting.loss.capped_poisson import full_chance

            return exact_extra_delta(event.uncapped) + Fraction(full_chance(event))
        case events.SparseVector():
            return event.positives * exact_extra_delta(event.inner)
        case events.SampledWithReplacement() if exact_extra_delta(event.inner):
            raise ParameterError("event", "draws a part with a delta with replacement", "without one")
    return Fraction(0)
