"""What an event costs, as a vector of exact fractions: one entry for each thing that a filter limits.

A *rate* says what one simple event costs. Compositions add up, part by part. Of parallel parts,
those that the relation can touch are paid: the costliest one for each unit added or
removed, the two costliest for each unit replaced, entry by entry. An entry is None if no
finite bound is known: then the event is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from discreet.errors import ParameterError
from discreet.privacy.events import (
    Approximate,
    Composed,
    Event,
    Gaussian,
    Parallel,
    PoissonSampled,
    RoundedGaussian,
    SampledWithoutReplacement,
)
from discreet.privacy.events.sampling import amplified_epsilon
from discreet.privacy.neighbors import Change

__all__ = [
    "Cost",
    "Rate",
    "added",
    "concentrated_rate",
    "cost_of",
    "gaussian_rate",
    "larger",
    "pure_rate",
    "unpriced",
]

Cost: TypeAlias = tuple[Fraction | None, ...]
"""One entry for each limit of a filter; None is an unbounded loss."""

Rate: TypeAlias = Callable[[Event], Cost]
"""What one event that is neither composed nor parallel costs."""

_ZERO = Fraction(0)
_SAMPLED = PoissonSampled | SampledWithoutReplacement


def pure_rate(event: Event) -> Cost:
    """Return (epsilon, delta).

    A sample that holds each unit with probability q turns (epsilon, delta) into
    (log(1 + q (e^epsilon - 1)), q delta): docs/proofs/filters.md, lemma 2.
    """
    if isinstance(event, Approximate):
        return event.epsilon, event.delta
    epsilon = event.pure_epsilon
    if epsilon is None and isinstance(event, _SAMPLED):
        inner, delta = cost_of(event.inner, pure_rate, 2)
        return amplified_epsilon(inner, event.rate), _scaled(delta, event.rate)
    return epsilon, _ZERO


def concentrated_rate(event: Event) -> Cost:
    """Return (rho, delta).

    An (epsilon, delta) event is, except for a share delta of its law, a pure epsilon event (Kairouz, Oh &
    Viswanath 2015), hence costs epsilon^2 / 2 and delta. A sample is charged the inner rho, or what its
    amplified epsilon gives, and q delta: docs/proofs/filters.md, lemma 2.
    """
    if isinstance(event, Approximate):
        return event.epsilon**2 / 2, event.delta
    rho = event.concentrated_rho
    if rho is None and isinstance(event, _SAMPLED):
        inner, delta = cost_of(event.inner, concentrated_rate, 2)
        epsilon, _ = pure_rate(event)
        bounds = (inner, None if epsilon is None else epsilon**2 / 2)
        rho = min((bound for bound in bounds if bound is not None), default=None)
        return rho, _scaled(delta, event.rate)
    return rho, _ZERO


def gaussian_rate(event: Event) -> Cost:
    """Return mu^2, for normal noise and its roundings only: the discrete law is not Gaussian private."""
    return (event.squared_mu if isinstance(event, Gaussian | RoundedGaussian) else None,)


@lru_cache(maxsize=4096)
def cost_of(event: Event, rate: Rate, width: int) -> Cost:
    """Return the cost of any event under a rate with `width` entries.

    Parameters
    ----------
    event : Event
        Simple, composed or parallel.
    rate : Rate
        What a simple event costs.
    width : int
        The number of entries.

    Returns
    -------
    Cost
        Under add/remove, a parallel event costs its costliest part; under replace, its two costliest; for
        a relation of k units, k times as many parts. Entries are taken one by one, which is what a filter
        needs: for any parts that are touched, no entry is exceeded.
    """
    if isinstance(event, Composed):
        costs = [(cost_of(part, rate, width), times) for part, times in event.parts]
        return tuple(
            _touched([(cost[entry], times) for cost, times in costs], None) for entry in range(width)
        )
    if isinstance(event, Parallel):
        touched = (1 if event.neighbors.change is Change.ADD_REMOVE else 2) * event.neighbors.size
        costs = [(cost_of(part, rate, width), times) for part, times in event.parts]
        return tuple(
            _touched([(cost[entry], times) for cost, times in costs], touched) for entry in range(width)
        )
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    return rate(event)


def added(costs: Sequence[Cost], width: int) -> Cost:
    """Add up costs of events that run one after another; an entry is None if one of them is."""
    return tuple(_touched([(cost[entry], 1) for cost in costs], None) for entry in range(width))


def larger(first: Cost, second: Cost) -> Cost:
    """Return the larger of two costs, entry by entry; None if one of them is."""
    pairs = zip(first, second, strict=True)
    return tuple(None if a is None or b is None else max(a, b) for a, b in pairs)


def unpriced(event: Event, rate: Rate) -> Event | None:
    """Return a simple part of an event for which the rate knows no finite bound, if there is one."""
    if isinstance(event, Composed | Parallel):
        found = (unpriced(part, rate) for part, _ in event.parts)
        return next((part for part in found if part is not None), None)
    return event if None in rate(event) else None


def _scaled(delta: Fraction | None, rate: Fraction) -> Fraction | None:
    return None if delta is None else rate * delta


def _touched(costs: list[tuple[Fraction | None, int]], most: int | None) -> Fraction | None:
    """Add up the `most` largest of costs that each occur several times; all of them for None."""
    known = [(cost, times) for cost, times in costs if cost is not None]
    if len(known) < len(costs):
        return None
    if most is None:
        return sum((cost * times for cost, times in known), _ZERO)
    total = _ZERO
    for cost, times in sorted(known, reverse=True):
        total += cost * min(times, most)
        most -= min(times, most)
    return total
