"""Which events are never easier to tell apart than others, by their parameters alone.

One event dominates another if its worst pair does, at every gamma and in each order of the two tables: then
it may stand in for the other in any composition, after any answers. Only what is proven is
claimed (docs/proofs/parallel_parts.md, lemma 3).
"""

from __future__ import annotations

from collections import Counter

from discreet.privacy import events
from discreet.privacy.events import Event

__all__ = ["dominates", "dominates_all", "is_rounded", "leaves_of"]


def leaves_of(event: Event) -> Counter[Event]:
    """Return the steps of an event, with how often each is run."""
    return Counter(dict(event.parts)) if isinstance(event, events.Composed) else Counter({event: 1})


def is_rounded(event: Event) -> bool:
    """Return whether some noise is charged as what it was before rounding, which tells more."""
    if isinstance(event, events.Composed | events.Parallel):
        return any(is_rounded(part) for part, _ in event.parts)
    inner = getattr(event, "inner", None)
    return isinstance(event, events.RoundedGaussian) or (isinstance(inner, Event) and is_rounded(inner))


def dominates(one: Event, other: Event) -> bool:
    """Return whether one step is known to dominate another."""
    if one == other:
        return True
    match one, other:
        case (events.Gaussian() | events.RoundedGaussian(), events.Gaussian() | events.RoundedGaussian()):
            # Rounded noise is charged as the ideal noise that was rounded.
            return one.squared_mu >= other.squared_mu
        case events.Laplace(), events.Laplace():
            return one.epsilon >= other.epsilon
        case events.ExponentialChoice(), events.ExponentialChoice():
            return one.epsilon >= other.epsilon
        case events.DiscreteLaplace(), events.DiscreteLaplace():
            return (one.scale, one.grid) == (other.scale, other.grid) and one.shift >= other.shift
        case events.Approximate(), events.Approximate():
            return one.epsilon >= other.epsilon and one.delta >= other.delta
        case events.PoissonSampled(), events.PoissonSampled() if one.rate >= other.rate and _is_above(
            one.inner, other.inner
        ):
            return True
        case _, events.PoissonSampled() if _is_above(one, other.inner):  # a mixture with what tells nothing
            return True
    pure = other.pure_epsilon
    return isinstance(one, events.Pure | events.Approximate) and pure is not None and pure <= one.epsilon


def dominates_all(one: Counter[Event], other: Counter[Event]) -> bool:
    """Return whether every step of the other can be set against a step of one that dominates it."""
    left, needed = one - other, other - one
    for step, times in needed.items():
        open_times = times
        for mine in list(left):
            if open_times and dominates(mine, step):
                used = min(open_times, left[mine])
                left[mine] -= used
                open_times -= used
        if open_times:
            return False
    return True


def _is_above(one: Event, other: Event) -> bool:
    return dominates_all(leaves_of(one), leaves_of(other))
