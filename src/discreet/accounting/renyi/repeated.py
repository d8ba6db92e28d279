"""Rényi curves of the best of a random number of runs (Papernot & Steinke 2022).

Proofs: docs/proofs/repeated.md. `divergences` are those of one run, at finite orders, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, inf, log

import numpy as np

from discreet.accounting.renyi.conversion import delta_from_renyi
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.privacy.rational import float_above, float_below

__all__ = ["mean_runs", "repeated_cumulant"]


_ABOVE = 1 + 1e-12
_FEWER = 6  # any orders bound the delta of a run; so many take a tenth of the time


def repeated_cumulant(
    event: events.BestOfRuns | events.BestOfPoissonRuns,
    orders: Floats,
    own: Floats,
    every: Floats,
    divergences: Callable[[events.Event, Floats], Floats],
) -> Floats:
    """Return the cumulant of the best run, whose `own` divergences are those of a run at the same orders."""
    if isinstance(event, events.BestOfPoissonRuns):
        some = every[::_FEWER]
        return _best_of_poisson_runs(
            orders, own, some, divergences(event.inner, some), float_above(event.mean)
        )
    return _best_of_runs(
        orders,
        own,
        every,
        divergences(event.inner, every),
        pure=inf if event.inner.pure_epsilon is None else float_above(event.inner.pure_epsilon),
        shape=float_above(event.shape),
        stop=float_below(event.stop),
    )


def mean_runs(shape: float, stop: float) -> float:
    """Return the mean of a truncated negative binomial law: how many runs there will be."""
    if abs(shape * log(stop)) < 1e-9:
        return (1 / stop - 1) / -log(stop)
    return shape * (1 - stop) / (stop * -expm1(shape * log(stop)))


def _best_of_runs(
    orders: Floats, own: Floats, every: Floats, divergences: Floats, *, pure: float, shape: float, stop: float
) -> Floats:
    """Return the cumulant at `orders`, where a run has its `own` divergences, and others at orders `every`.

    D(a) <= D_run(a) + (1 + shape) min_b ((1 - 1/b) D_run(b) + log(1/stop) / b) + log(mean runs) / (a - 1).
    """
    paid = (1 - 1 / every) * divergences - log(stop) / every
    least = min(float(np.nanmin(paid, initial=np.inf)), pure, -log(stop))
    mean = max(log(mean_runs(shape, stop)), 0.0) * (1 + 1e-9) + 1e-9
    return np.asarray(_ABOVE * ((orders - 1) * (own + (1 + shape) * least) + mean))


def _best_of_poisson_runs(
    orders: Floats, own: Floats, every: Floats, divergences: Floats, mean: float
) -> Floats:
    """Return the cumulant at `orders`, with the delta of one run at e^epsilon = 1 + 1 / (order - 1).

    E (A/A')^a <= e^-mean + mean e^((a - 1)(D_run(a) + mean delta)).
    """
    deltas = [
        delta_from_renyi(divergences, every, log(order / (order - 1)) * (1 - 1e-12)) for order in orders
    ]
    some = log(mean) + (orders - 1) * (own + mean * np.array(deltas))
    return np.asarray(_ABOVE * np.logaddexp(-mean, some) + 1e-12)
