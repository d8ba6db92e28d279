"""Tight, certified accounting: epsilon and delta of any composition, from both sides.

Valid where the parameters of all steps are fixed ahead; for steps that are chosen as answers
come in, use a filter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf

from discreet.accounting import renyi
from discreet.accounting.interval import Interval
from discreet.accounting.loss import Pair, pair_of
from discreet.accounting.run import WIDTH, Bounds, Run
from discreet.accounting.scenarios import scenarios
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.events.sampling import sampling_assumption
from discreet.privacy.rational import Number, float_above, float_below, rational

__all__ = ["Runs", "delta", "epsilon", "epsilon_within"]

_FAR = 700.0
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


Runs = dict[tuple[tuple[Pair, int], ...], Run]


def epsilon_within(event: Event, *, delta: Number, width: float, runs: Runs | None = None) -> Interval:
    """Return epsilon as `epsilon` does, but no narrower than a relative width where that saves time.

    Where one event is asked about many deltas, `runs` keeps what is known at one for the next. A single
    question starts afresh, so that its answer does not depend on what was asked before.
    """
    exact = _checked_delta(delta)
    if not isinstance(event, Event):
        raise ParameterError("event", "is no event", "an Event")
    pure = event.pure_epsilon
    if pure is not None and _is_beyond_floats(pure):
        return _unknown(event, float_above(pure))
    if 0 < exact < _LEAST_DELTA:  # epsilon falls as delta grows
        least, most = epsilon(event, delta=_LEAST_DELTA), epsilon(event, delta=0)
        return replace(most, lower=least.lower, certified=least.certified and most.certified)
    below, above = float_below(exact), float_above(exact)
    found = _worst(
        event,
        lambda run: run.epsilon(below, above, width),
        lambda: _without_pairs(event, below),
        runs,
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
        raise ParameterError("event", "is no event", "an Event")
    pure = event.pure_epsilon
    if pure is not None and _is_beyond_floats(pure):
        return _unknown(event, 0.0 if exact >= pure else min(1.0, float_above(pure)))
    if exact > _MOST:  # delta falls as epsilon grows
        return replace(delta(event, epsilon=_MOST), lower=0.0)
    loss = float(exact)
    return _worst(event, lambda run: run.delta(loss), lambda: renyi.delta(event, loss))


def _checked_delta(delta: Number) -> Fraction:
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise ParameterError("delta", "is out of range", "from 0 to below 1")
    return exact


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


def _worst(
    event: Event, solve: Callable[[Run], Bounds], fallback: Callable[[], float], runs: Runs | None = None
) -> Interval:
    """Take the worst over all ways in which a unit may sit in parallel parts."""
    ways = scenarios(event)
    answers = []
    for leaves in ways or ():
        pairs = [(pair_of(leaf), times) for leaf, times in leaves if leaf.pure_epsilon != 0]
        known = [(pair, times) for pair, times in pairs if pair is not None]
        if len(known) < len(pairs):
            break
        answers.append(solve(_run(tuple(known), runs)))
    if ways is None or len(answers) < len(ways):
        return Interval(
            lower=0.0,
            upper=fallback(),
            method="Rényi",
            neighbors=event.neighbors,
            certified=False,
            assumption=sampling_assumption(event),
        )
    worst = max(answers, key=lambda bounds: bounds.upper)
    upper, method = worst.upper, worst.method
    is_loose = upper == inf or not all(bounds.attained for bounds in answers)
    if is_loose and (bound := fallback()) < upper:
        upper, method = bound, "Rényi"
    return Interval(
        lower=max(bounds.lower for bounds in answers),
        upper=upper,
        method=method,
        neighbors=event.neighbors,
        certified=method != "Rényi",
        assumption=sampling_assumption(event),
    )


def _run(parts: tuple[tuple[Pair, int], ...], runs: Runs | None) -> Run:
    """Return a run: a new one, or the one that is kept for these steps."""
    return Run(parts) if runs is None else runs.setdefault(parts, Run(parts))


def _without_pairs(event: Event, target: float) -> float:
    """Return the Rényi bound, or the sum of pure epsilons where that is less or floats end."""
    pure = inf if event.pure_epsilon is None else float_above(event.pure_epsilon)
    return pure if _FAR < pure < inf else min(pure, renyi.epsilon(event, target))
