"""Other views of the same event: its Rényi divergence, its rho, its mu.

Each is a number of one event, between two bounds, like epsilon and delta. Proofs: docs/proofs/meaning.md,
propositions 8 and 10.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from discreet.accounting import renyi
from discreet.accounting.curves import Profile, check_event, farthest, joined_profiles, profile
from discreet.accounting.epsilon_and_delta import delta as tight_delta
from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.accounting.filters import FilterCost, cost_of
from discreet.accounting.interval import Interval
from discreet.accounting.meaning import advantage
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event
from discreet.privacy.events.sampling import sampling_assumption
from discreet.privacy.guarantees import Guarantee, RenyiDP, ZeroConcentratedDP
from discreet.privacy.rational import Number, float_above, float_below, probability, rational

__all__ = ["divergence", "mu", "rho"]


_ABOVE, _BELOW = 1 + 1e-12, 1 - 1e-12
_FARTHEST = 1e-30
_MOST_ORDERS = 1000
_KNOTS, _MOST_KNOTS = 33, 129
_ROUNDS = 4


def divergence(event: Event, *, order: Number) -> Interval:
    """Return the Rényi divergence of an event at an order above 1, the larger of both directions.

    Parameters
    ----------
    event : Event
        What was run.
    order : number
        Greater than 1.

    Returns
    -------
    Interval
        Exact for Gaussian noise. Otherwise the upper end is that of `renyi.divergence`, and the lower end
        what the total variation distance alone implies. Infinite where no bound is known.

    Examples
    --------
    >>> divergence(events.Gaussian(noise_multiplier=2) * 3, order=8).upper
    3.0
    """
    exact = rational(order, "order")
    if exact <= 1:
        raise ParameterError("order", "is not above 1", "greater than 1")
    check_event(event)
    if _is_gaussian(event, sampled=False):
        return _exactly(event, exact * _rho(event))
    upper = inf
    if renyi.extra_delta(event) == 0:
        upper = float(renyi.divergence(event, [float_above(exact)])[0])
    lower = _implied(event, lambda size: RenyiDP(order=exact, epsilon=size), upper)
    return _interval(event, lower, upper, "Rényi", certified=False)


def rho(event: Event) -> Interval:
    """Return the least rho of zero-concentrated privacy: the largest D_alpha / alpha over all orders.

    Parameters
    ----------
    event : Event
        What was run.

    Returns
    -------
    Interval
        Exact for Gaussian noise, Poisson-sampled or not: sampling does not help at high orders. For purely
        private events the upper end is found order by order, and below the sum of epsilon^2 / 2. The
        lower end is what the total variation distance alone implies. Infinite where no bound is known.

    Examples
    --------
    >>> rho(events.Gaussian(noise_multiplier=2) * 8).upper
    1.0
    >>> round(rho(events.Pure(epsilon=1)).upper, 4)  # tanh(1 / 2)
    0.4621
    """
    check_event(event)
    if _is_gaussian(event, sampled=True):
        return _exactly(event, _rho(event))
    known = event.concentrated_rho
    upper = inf if known is None else float_above(known)
    if event.pure_epsilon is not None and 0 < upper < inf:
        upper = min(upper, _largest_ratio(event, float_above(event.pure_epsilon), upper))
    lower = _implied(event, lambda size: ZeroConcentratedDP(rho=size), upper)
    return _interval(event, lower, upper, "Rényi", certified=False)


def mu(event: Event, *, smallest_delta: Number = 0) -> Interval:
    """Return the least mu whose Gaussian curve lies above the event's: delta(epsilon) <= delta_mu(epsilon).

    Parameters
    ----------
    event : Event
        What was run.
    smallest_delta : number
        From 0 to below 1. At 0 the whole curve lies below: the event is mu-Gaussian private. Above 0 it does
        wherever the event's delta is at least this, which is often a much smaller mu: at each delta in
        [smallest_delta, 1) the event's epsilon is at most that of a single Gaussian release with this mu.

    Returns
    -------
    Interval
        Exact for Gaussian noise; also over the whole curve when Poisson-sampled, where sampling does not help
        in the far tail. Infinite where no mu is known.

    Examples
    --------
    >>> mu(events.Gaussian(noise_multiplier=2) * 4).upper
    1.0
    >>> run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    >>> round(mu(run).upper), round(mu(run, smallest_delta=1e-6).upper, 3)
    (25, 0.255)
    """
    least = probability(smallest_delta, "smallest_delta", one=False)
    check_event(event)
    square = cost_of(event, _squared_mu, 1)[0]
    whole = inf if square is None else _root_above(square)
    if _is_gaussian(event, sampled=least == 0):
        return _interval(event, whole * _BELOW, whole, "exact")
    end = _last_knot(event, least)
    if end is None:
        return _interval(event, 0.0, whole, "sum of squares", certified=whole < inf)
    found = _refined(event, *end)
    lower, upper = _necessary_mu(found, float_above(least)), float(_sufficient_mu(found).max(initial=0.0))
    if upper > whole:
        return _interval(event, min(lower, whole), whole, "sum of squares")
    return _interval(event, min(lower, upper), upper, "profile", certified=found.certified)


def _interval(event: Event, lower: float, upper: float, method: str, *, certified: bool = True) -> Interval:
    return Interval(
        lower=lower,
        upper=upper,
        method=method,
        neighbors=event.neighbors,
        certified=certified,
        assumption=sampling_assumption(event),
    )


def _leaves(event: Event) -> list[Event]:
    if isinstance(event, events.Composed | events.Parallel):
        return [leaf for part, _ in event.parts for leaf in _leaves(part)]
    return [event]


def _is_gaussian(event: Event, *, sampled: bool) -> bool:
    """Return whether all that was released is Gaussian noise; on Poisson samples too, if `sampled`."""

    def is_one(leaf: Event) -> bool:
        if sampled and isinstance(leaf, events.PoissonSampled) and leaf.rate > 0:
            return isinstance(leaf.inner, events.Gaussian | events.RoundedGaussian)
        return isinstance(leaf, events.Gaussian | events.RoundedGaussian)

    return all(is_one(leaf) for leaf in _leaves(event))


def _rho(event: Event) -> Fraction:
    found = event.concentrated_rho
    return Fraction(0) if found is None else found


def _exactly(event: Event, value: Fraction) -> Interval:
    return _interval(event, max(0.0, float_below(value)), float_above(value), "exact")


def _implied(event: Event, promise: Callable[[float], Guarantee], upper: float) -> float:
    """Return a size of a promise that is too small for how well the event's laws can be told apart."""
    needed = tight_delta(event, epsilon=0).lower
    low, high = 0.0, min(upper, 1e6)
    if needed == 0 or advantage(promise(high)) < needed:
        return low
    for _ in range(40):
        middle = sqrt(low * high) if low else high / 1e3
        low, high = (middle, high) if advantage(promise(middle)) < needed else (low, middle)
        if high < 1e-30:
            break
    return low


def _largest_ratio(event: Event, pure: float, known: float) -> float:
    """Bound D_alpha / alpha over all orders, by chords of (alpha - 1) D_alpha and, far out, pure / alpha."""
    gaps = np.geomspace(1e-7, max(8 * pure / known, 2.0), 121)
    while True:
        orders = 1 + gaps
        cumulants = gaps * renyi.divergence(event, orders)
        peaks = _chord_peaks(orders, cumulants)
        seen = float(np.max(cumulants / (gaps * orders)))
        wide = np.flatnonzero(peaks > seen * (1 + 1e-5))
        if not wide.size or len(gaps) > _MOST_ORDERS:
            return max(float(peaks.max()), pure / float(orders[-1])) * _ABOVE
        ends = np.append(0.0, gaps)
        inner = ends[wide, None] + (ends[wide + 1] - ends[wide])[:, None] * np.array([0.25, 0.5, 0.75])
        gaps = np.union1d(gaps, inner)


def _chord_peaks(orders: Floats, cumulants: Floats) -> Floats:
    """Return the largest value of a chord over alpha (alpha - 1), on each interval from order 1 on.

    A chord that is -loss at order 1 and has the slope m is, over alpha (alpha - 1), gain / alpha -
    loss / (alpha - 1) with gain = m + loss. Between its ends it peaks where (1 - 1 / alpha)^2 = loss / gain.
    """
    x, y = np.append(1.0, orders), np.append(0.0, cumulants)
    slope = np.diff(y) / np.diff(x)
    loss = slope * (x[:-1] - 1) - y[:-1]
    gain = slope + loss
    right = y[1:] / (x[1:] * (x[1:] - 1))
    left = np.append(slope[0], right[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.clip(1 / (1 - np.sqrt(loss / gain)), x[:-1], x[1:])
        inside = gain / best - loss / (best - 1)
    return np.where(np.isfinite(right), np.fmax(np.maximum(left, right), inside), np.inf)


def _squared_mu(event: Event) -> FilterCost:
    """Return mu^2 of one simple event, rounded up. A sample is no easier to tell apart than all the data."""
    if isinstance(event, events.Gaussian | events.RoundedGaussian):
        return (event.squared_mu,)
    if isinstance(event, events.PoissonSampled | events.SampledWithoutReplacement):
        inner = cost_of(event.inner, _squared_mu, 1)[0] if event.rate > 0 else Fraction(0)
        pure = _pure_mu(event)
        return (min((square for square in (inner, pure) if square is not None), default=None),)
    return (_pure_mu(event),)


def _pure_mu(event: Event) -> Fraction | None:
    """Return the square of 2 Phi^-1(e^epsilon / (1 + e^epsilon)), where the two curves touch."""
    if event.pure_epsilon is None:
        return None
    if event.pure_epsilon == 0:
        return Fraction(0)
    root = -2 * float(ndtri_exp(-np.logaddexp(0.0, float_above(event.pure_epsilon)))) * _ABOVE + 1e-15
    return Fraction(root) ** 2


def _root_above(square: Fraction) -> float:
    return float_above(sqrt_interval(square)[1])


def _last_knot(event: Event, least: Fraction) -> tuple[float, float | None] | None:
    """Return where a profile for mu ends, and where delta is 0 if that is part of the promise."""
    if least > 0:
        last = tight_epsilon(event, delta=least).upper
        return (last, None) if last < inf else None
    if event.pure_epsilon is None:
        return None
    pure = float_above(event.pure_epsilon)
    return min(farthest(event, _FARTHEST), pure), pure


def _refined(event: Event, last: float, pure: float | None) -> Profile:
    """Return a profile with more points where they matter for mu."""
    points = np.linspace(0, last, min(_KNOTS + int(8 * last), _MOST_KNOTS))
    found = profile(event, epsilons=[*points.tolist(), *([] if pure is None else [pure])])
    for _ in range(_ROUNDS):
        corners = found.corners[0]
        if len(corners) == 1:
            break
        worst = int(np.argmax(_sufficient_mu(found)))
        start, end = corners[max(worst - 1, 0)], min(corners[min(worst + 2, len(corners) - 1)], last)
        more = np.setdiff1d(np.linspace(start, end, 10), points)
        if not more.size:
            break
        points = np.union1d(points, more)
        found = joined_profiles(found, profile(event, epsilons=more.tolist()))
    return found


def _sufficient_mu(found: Profile) -> Floats:
    """Return, for each chord of a profile, a mu whose curve lies above it.

    Any alpha gives one: delta_mu(epsilon) >= 1 - G_mu(alpha) - e^epsilon alpha, a line over e^epsilon. It is
    above the chord if it is at both ends; then mu = Phi^-1(t) - Phi^-1(alpha), where t is the
    larger of delta + e^epsilon alpha at the ends.
    """
    points, deltas = found.corners
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(deltas)
        rise = points[1:] + np.log(-np.expm1(-np.diff(points)))
        slope = np.log(deltas[:-1] - deltas[1:]) - rise
        bounds = [_mu_at(alpha, points, logs) for alpha in (slope, logs[:-1] - points[1:])]
    return np.where(deltas[:-1] == 0, 0.0, np.fmin.reduce(bounds))


def _mu_at(log_alpha: Floats, points: Floats, logs: Floats) -> Floats:
    left = np.logaddexp(logs[:-1], points[:-1] + log_alpha)
    right = np.logaddexp(logs[1:], points[1:] + log_alpha)
    power = np.maximum(left, right) + 1e-13
    high, low = ndtri_exp(np.minimum(power, 0.0)), ndtri_exp(log_alpha)
    bound = high - low + 1e-12 * (1 + np.abs(high) + np.abs(low))
    return np.where((power >= 0) | np.isnan(bound), np.inf, bound)


def _necessary_mu(found: Profile, least: float) -> float:
    """Return a mu whose curve passes below the profile where delta is above `least`: too small a mu."""
    seen = found.lower > least
    epsilons, targets = found.epsilons[seen], found.lower[seen]
    if not targets.size:
        return 0.0
    low, high = np.zeros_like(targets), np.full_like(targets, 1e3)
    for _ in range(80):
        middle = (low + high) / 2
        above = _gaussian_delta(middle, epsilons) >= targets
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return max(float(low.max()) * (1 - 1e-8) - 1e-14, 0.0)


def _gaussian_delta(mu: Floats, epsilon: Floats) -> Floats:
    first = log_ndtr(mu / 2 - epsilon / mu)
    return np.asarray(np.exp(first) * -np.expm1(epsilon + log_ndtr(-mu / 2 - epsilon / mu) - first))
