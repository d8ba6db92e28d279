"""Tight, certified accounting: epsilon and delta of any composition, from both sides.

Valid where the parameters of all steps are fixed in advance; for steps that are chosen as answers
come in, use a filter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import fsum, inf

from discreet.accounting import renyi
from discreet.accounting.interval import Interval
from discreet.accounting.runs.composed_run import WIDTH, Runs
from discreet.accounting.runs.domination import is_rounded, leaves_of
from discreet.accounting.runs.groups import chained_delta, chained_epsilon, parted
from discreet.accounting.runs.parallel import Solve, run_bounds
from discreet.errors import ParameterError
from discreet.privacy.events import Event, Grouped, compose
from discreet.privacy.events.sampling import sampling_assumption
from discreet.privacy.rational import Number, float_above, float_below, probability, rational

__all__ = ["delta", "epsilon", "epsilon_within"]

_FAR = 700.0
_WORTHWHILE = 1 - 1e-4  # for less, a certificate is not given up
_LEAST_DELTA = Fraction(1, 10**300)
_LEAST_LOSS, _MOST = Fraction(1, 10**290), Fraction(10**290)


def epsilon(event: Event, *, delta: Number) -> Interval:
    """Return the epsilon of a composition at a delta, between two bounds.

    Parameters
    ----------
    event : Event
        What was run; sums, multiples and parallel parts of events.
    delta : number
        From 0 to below 1. At 0 an unbounded loss has epsilon infinity.

    Returns
    -------
    Interval
        Certified where every step has a known worst pair; otherwise the Rényi upper bound.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    >>> found = epsilon(run, delta=1e-5)
    >>> round(found.lower, 5), round(found.upper, 5), found.certified
    (0.94686, 0.94688, True)
    """
    return epsilon_within(event, delta=delta, width=WIDTH)


def epsilon_within(
    event: Event, *, delta: Number, width: float, runs: Runs | None = None, lower_too: bool = True
) -> Interval:
    """Return epsilon as `epsilon` does, but no narrower than a relative width where that saves time.

    Where a lower bound is not asked for, it may be left at 0, and the width is that which the upper bound is
    expected to be off.

    Where one event is asked about many deltas, `runs` keeps what is known at one for the next. A single
    question starts afresh, so that its answer does not depend on what was asked before.
    """
    exact = _checked_delta(delta)
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    pure = event.pure_epsilon
    if pure is not None and _is_beyond_floats(pure):
        return _unknown(event, float_above(pure))
    if 0 < exact < _LEAST_DELTA:  # epsilon falls as delta grows
        least, most = epsilon(event, delta=_LEAST_DELTA), epsilon(event, delta=0)
        return replace(most, lower=least.lower, certified=least.certified and most.certified)
    known, inner = parted(leaves_of(event))
    if inner:
        parts = [
            (compose(step * n for step, n in known.items()), 1),
            *((run, size) for size, run in inner.items()),
        ]
        found = _of_groups(event, parts, exact)
    else:
        found = _worst(
            event,
            lambda course: course.epsilon(exact, width, runs, lower_too=lower_too),
            lambda: _without_pairs(event, float_below(exact)),
        )
    if pure is None:
        return found
    return replace(
        found, upper=min(found.upper, float_above(pure)), lower=min(found.lower, float_below(pure))
    )


def delta(event: Event, *, epsilon: Number) -> Interval:
    """Return the delta of a composition at an epsilon, between two bounds.

    Parameters
    ----------
    event : Event
        What was run.
    epsilon : number
        0 or greater.
    """
    exact = rational(epsilon, "epsilon")
    if exact < 0:
        raise ParameterError("epsilon", "is negative", "0 or greater")
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    pure = event.pure_epsilon
    if pure is not None and _is_beyond_floats(pure):
        return _unknown(event, 0.0 if exact >= pure else min(1.0, float_above(pure)))
    if exact > _MOST:  # delta falls as epsilon grows
        return replace(delta(event, epsilon=_MOST), lower=0.0)
    known, inner = parted(leaves_of(event))
    if inner:
        return _delta_of_groups(event, [] if known else list(inner.items()), exact)
    return _worst(event, lambda course: course.delta(exact), lambda: renyi.delta(event, float_below(exact)))


def _checked_delta(delta: Number) -> Fraction:
    return probability(delta, "delta", one=False)


def _is_beyond_floats(pure: Fraction) -> bool:
    return pure > _MOST or 0 < pure < _LEAST_LOSS


def _unknown(event: Event, upper: float) -> Interval:
    """Return a bound from the largest loss alone, where floats cannot tell more."""
    return Interval(
        lower=0.0,
        upper=upper,
        method="largest loss",
        neighbors=event.neighbors,
        certified=True,
        assumption=sampling_assumption(event),
    )


def _worst(event: Event, solve: Solve, fallback: Callable[[], float]) -> Interval:
    """Take the worst over all ways in which a unit may sit in parallel parts."""
    found = run_bounds(leaves_of(event), solve)
    if found is not None and is_rounded(event):  # what is known about the ideal noise holds from above only
        found = found._replace(lower=0.0)
    lower, upper, method = (found.lower, found.upper, found.method) if found else (0.0, inf, "Rényi")
    is_loose = found is None or upper == inf or not found.attained
    if lower < upper and is_loose and ((bound := fallback()) < upper * _WORTHWHILE or found is None):
        upper, method = bound, "Rényi"
    return Interval(
        lower=min(lower, upper),
        upper=upper,
        method=method,
        neighbors=event.neighbors,
        certified=method != "Rényi",
        assumption=sampling_assumption(event),
    )


def _of_groups(event: Event, parts: list[tuple[Event, int]], delta: Fraction) -> Interval:
    """Take the best of what the steps' own groups give, and of chains from one unit to the group."""

    def each(run: Event, at: Fraction) -> Interval:
        return epsilon(run, delta=at)

    real = [(run, size) for run, size in parts if run.neighbors is not None]
    simple = _simple(event)
    found = [
        *([] if simple is None else [epsilon(simple, delta=delta).upper]),
        _tried(lambda: _without_pairs(event, float_below(delta))),
    ]
    share = delta / len(real)  # several parts add up, as (epsilon, delta) does
    chained = [
        each(run, share).upper if size == 1 else chained_epsilon(run, size, share, each) for run, size in real
    ]
    best = min(*found, fsum(chained) * (1 + 1e-15))
    lower = max(each(run, delta).lower for run, _ in real)  # one unit alone is a group too
    return _group_interval(event, lower, best, "chain" if best < min(found) else "Rényi")


def _delta_of_groups(event: Event, inner: list[tuple[int, Event]], at: Fraction) -> Interval:
    simple = _simple(event)
    best = min(
        1.0 if simple is None else delta(simple, epsilon=at).upper,
        _tried(lambda: renyi.delta(event, float_below(at))),
    )
    if len(inner) != 1:
        return _group_interval(event, 0.0, best, "Rényi")
    size, run = inner[0]
    chained = chained_delta(run, size, at, lambda part, loss: delta(part, epsilon=loss))
    lower = delta(run, epsilon=at).lower
    return _group_interval(event, lower, min(best, chained), "chain" if chained < best else "Rényi")


def _group_interval(event: Event, lower: float, upper: float, method: str) -> Interval:
    return Interval(
        lower=min(lower, upper),
        upper=upper,
        method=method,
        neighbors=event.neighbors,
        certified=method == "chain",
        assumption=sampling_assumption(event),
    )


def _simple(event: Event) -> Event | None:
    """Return an event with generic steps in place of groups; None if a group has no such step."""
    found = [
        (step.simple if isinstance(step, Grouped) else step, times)
        for step, times in leaves_of(event).items()
    ]
    known = [step * times for step, times in found if step is not None]
    return compose(known) if len(known) == len(found) else None


def _tried(bound: Callable[[], float]) -> float:
    """Return a Rényi bound, or infinity if there is none."""
    try:
        return bound()
    except ParameterError:
        return inf


def _without_pairs(event: Event, target: float) -> float:
    """Return the Rényi bound, or the sum of pure epsilons where that is less or floats end."""
    pure = inf if event.pure_epsilon is None else float_above(event.pure_epsilon)
    return pure if _FAR < pure < inf else min(pure, renyi.epsilon(event, target))
