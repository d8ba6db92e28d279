"""Rényi curves: how far the laws of a release on neighboring tables are apart, at every order.

    D_alpha(P || Q) = log E_Q (P / Q)^alpha / (alpha - 1),   alpha > 1.

Curves of composed releases add up, even if each release depends on the answers before it. All numbers
here are upper bounds, the worse of both directions. Inside, we work with the cumulant
(alpha - 1) D_alpha, which is convex in alpha and 0 at alpha = 1. Proofs: docs/proofs/renyi.md and
docs/proofs/sampling_amplification.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import singledispatch

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting import theorems
from discreet.accounting.formulas.stable_sums import excess_exponential
from discreet.accounting.renyi.conversion import checked_orders, delta_from_renyi, epsilon_from_renyi
from discreet.accounting.renyi.failure_probability import exact_extra_delta, touched_parts
from discreet.accounting.renyi.finite import finite_cumulant
from discreet.accounting.renyi.repeated import repeated_cumulant
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.events.generic import PureEvent
from discreet.privacy.rational import float_above, float_below, rational

__all__ = [
    "ORDERS",
    "delta",
    "delta_from_renyi",
    "divergence",
    "divergence_at",
    "epsilon",
    "epsilon_from_renyi",
    "exact_extra_delta",
    "extra_delta",
    "rho",
]

_FEW, _SOME, _MANY = 1 + np.geomspace(0.01, 1, 20), np.arange(2.2, 12, 0.2), np.geomspace(12, 2**16, 100)
ORDERS = np.array(sorted({*_FEW, *_SOME, *_MANY.round()}))
"""Orders that serve from large epsilons to small ones."""


_ABOVE = 1 + 1e-12  # more than the rounding of any formula below
_MOST_WHOLE, _MOST_FRACTIONAL = 2**16, 256  # orders up to which sampled moments are summed
_ZERO = Fraction(0)
_MOST_DRAWS, _MOST_COPIED = 10**5, 64
_EXACT = (events.Laplace, events.DiscreteLaplace, events.RandomizedResponse, events.UnaryEncoding)
"""Events whose cumulant is that of their own worst pair: neither epsilon nor rho alone says more."""
_SYMMETRIC = (
    events.Laplace,
    events.Gaussian,
    events.RoundedGaussian,
    events.DiscreteLaplace,
    events.DiscreteGaussian,
)


def divergence(event: Event, orders: ArrayLike) -> Floats:
    """Return upper bounds on the Rényi divergence of an event at finite orders above 1, in both directions.

    Infinity where no bound is known. A part with a delta counts as if it had none; see `extra_delta`.
    """
    return divergence_at(event, checked_orders(orders))


def divergence_at(event: Event, orders: Floats) -> Floats:
    """Return the same at orders that were checked before."""
    return _ABOVE * _cumulant(event, orders) / (orders - 1)


def rho(event: Event) -> float:
    """Return a rho with D_alpha <= rho alpha at every order, rounded up; refuse where none is known."""
    exact = event.concentrated_rho
    if exact is None:
        raise ParameterError("event", "has no rho, since a part has none", "zero-concentrated private")
    return float_above(exact)


def extra_delta(event: Event) -> float:
    """Return the probability, in each law, outside which `divergence` holds: add it to delta."""
    return min(1.0, float_above(exact_extra_delta(event)))


def epsilon(event: Event, delta: float, orders: ArrayLike = ORDERS) -> float:
    """Return an epsilon for a delta: the best that the curve at these orders gives."""
    left = float(rational(delta, "delta") - exact_extra_delta(event))
    return (
        epsilon_from_renyi(divergence(event, orders), orders, np.nextafter(left, 0)) if left > 0 else np.inf
    )


def delta(event: Event, epsilon: float, orders: ArrayLike = ORDERS) -> float:
    """Return a delta for an epsilon: the best that the curve at these orders gives."""
    return min(1.0, extra_delta(event) + delta_from_renyi(divergence(event, orders), orders, epsilon))


def _cumulant(event: Event, orders: Floats) -> Floats:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        bounds = [_law(event, orders)]
        if isinstance(event, _EXACT) and np.isfinite(bounds[0]).all():
            return np.maximum(bounds[0], 0.0)
        if (pure := event.pure_epsilon) is not None:
            bounds.append(_pure(float_above(pure), orders))
        if (concentrated := event.concentrated_rho) is not None:
            bounds.append(float_above(concentrated) * orders * (orders - 1))
        # fmin skips NaN, which formulas give where they overflow.
        smallest = np.fmin.reduce(bounds)
    return np.maximum(np.where(np.isnan(smallest), np.inf, smallest), 0.0)


@singledispatch
def _law(event: Event, orders: Floats) -> Floats:
    """Return the cumulant that the law gives; NaN or infinity where pure_epsilon and rho say as much."""
    raise ParameterError(
        "event", f"has a part of the unknown kind {type(event).__name__}", "known to `renyi`"
    )


_Plain = (
    PureEvent
    | events.AboveThreshold
    | events.Gaussian
    | events.RoundedGaussian
    | events.DiscreteGaussian
    | events.ZeroConcentrated
)


# Kinds are named to `register`: for each that it had to read from annotations, it would evaluate all of them.
@_law.register(_Plain)
def _(event: _Plain, orders: Floats) -> Floats:
    return np.full_like(orders, np.inf)


def _pure(epsilon: Floats | float, orders: Floats | float) -> Floats:
    """The pair of randomized response, into which every pure event can be simulated."""
    product = 2 * np.sinh(orders * epsilon / 2) * np.sinh((orders - 1) * epsilon / 2) / np.cosh(epsilon / 2)
    small = orders * epsilon < 30
    if np.all(small):
        return np.asarray(np.log1p(product))
    large = orders * epsilon + np.log1p(np.exp((1 - 2 * orders) * epsilon)) - np.logaddexp(0, epsilon)
    return np.where(small, np.log1p(product), large)


def _two_exponentials(weight: Floats, rest: Floats, epsilon: float, drift: Floats, orders: Floats) -> Floats:
    """log(weight e^((alpha - 1) epsilon) + rest e^(-alpha epsilon)), where the weights sum to 1."""
    exponents = epsilon * np.array([orders - 1, -orders])
    above, below = excess_exponential(exponents)
    small, up, down = weight * above + rest * below + epsilon * drift, *exponents
    if (up < 30).all():
        return np.asarray(np.log1p(small))
    large = np.logaddexp(np.log(weight) + up, np.log(rest) + down)
    return np.asarray(np.where(up < 30, np.log1p(small), large))


@_law.register(events.Laplace)
def _(event: events.Laplace, orders: Floats) -> Floats:
    weight, rest = orders / (2 * orders - 1), (orders - 1) / (2 * orders - 1)
    return _two_exponentials(weight, rest, float_above(event.epsilon), np.zeros_like(orders), orders)


@_law.register(events.DiscreteLaplace)
def _(event: events.DiscreteLaplace, orders: Floats) -> Floats:
    step, total = float_above(event.grid / event.scale), float_above(event.pure_epsilon)
    whole = (1 + np.exp(-step)) * -np.expm1(-(2 * orders - 1) * step)
    weight = -np.expm1(-2 * orders * step) / whole
    rest = -np.exp(-step) * np.expm1(-2 * (orders - 1) * step) / whole
    gain, loss = (orders - 1) * weight, orders * rest
    return _two_exponentials(weight, rest, total, gain - loss + 2e-15 * (gain + loss), orders)


def _finite(pairs: Iterable[tuple[Fraction, Fraction]], orders: Floats) -> Floats:
    """The cumulant of outcomes with masses (P, Q), of which those with P = Q may be left out."""
    weights, ratios = np.array([(float(q), float((p - q) / q)) for p, q in pairs]).T
    return np.asarray(np.log1p(weights @ theorems.excess(ratios[:, None], orders)))


@_law.register(events.RandomizedResponse)
def _(event: events.RandomizedResponse, orders: Floats) -> Floats:
    other = (1 - event.truth) / (event.categories - 1)
    return _finite([(event.truth, other), (other, event.truth)], orders)


@_law.register(events.UnaryEncoding)
def _(event: events.UnaryEncoding, orders: Floats) -> Floats:
    p, q = event.keep, event.flip
    return _finite([(p, q), (1 - p, 1 - q)], orders) + _finite([(q, p), (1 - q, 1 - p)], orders)


@_law.register(events.FiniteLaws | events.PrivacyProfile)
def _(event: events.FiniteLaws | events.PrivacyProfile, orders: Floats) -> Floats:
    return finite_cumulant(event, orders)


@_law.register(events.ExponentialChoice)
def _(event: events.ExponentialChoice, orders: Floats) -> Floats:
    # Two losses, t and t - width; with u = e^t and A = B + e^width - 1, B = 1 - e^((1 - alpha) width), the
    # moment is u^(alpha - 1)(A - u B) / (e^width - 1), which is largest at u = (alpha - 1) A / (alpha B).
    width, a = float_above(event.epsilon), orders - 1
    log_a, log_b = np.log(-np.expm1(-orders * width)), np.log(-np.expm1(-a * width))
    log_u = width + np.log(a / orders) + log_a - log_b
    moment = a * log_u + log_a - np.log(orders) - np.log(-np.expm1(-width))
    return np.asarray(moment) + 1e-15 * (30 + a * width + np.abs(log_a) + np.abs(a * log_b) + orders)


@_law.register(events.Approximate)
def _(event: events.Approximate, orders: Floats) -> Floats:
    return _pure(float_above(event.epsilon), orders)


@_law.register(events.Renyi)
def _(event: events.Renyi, orders: Floats) -> Floats:
    # The lower convex hull of the points (order, (order - 1) epsilon), from (1, 0) on.
    hull = [(Fraction(1), Fraction(0))]
    for order, bound in event.curve:
        x, y = order, (order - 1) * bound
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (d - b) * (x - a) < (y - b) * (c - a):
                break
            hull.pop()
        hull.append((x, y))
    borders, heights = [float_below(x) for x, _ in hull], [float_above(y) for _, y in hull]
    return np.asarray(np.interp(orders, borders, heights, right=np.inf)) * (1 + 1e-15)


@_law.register(events.Composed)
def _(event: events.Composed, orders: Floats) -> Floats:
    return sum((times * _cumulant(part, orders) for part, times in event.parts), start=np.zeros_like(orders))


@_law.register(events.Parallel)
def _(event: events.Parallel, orders: Floats) -> Floats:
    # One part is touched by each unit that comes or goes, two by each that changes.
    touched = touched_parts(event)
    rows = [row for part, times in event.parts for row in [_cumulant(part, orders)] * min(times, touched)]
    return np.asarray(np.sort(np.array(rows), axis=0)[::-1][:touched].sum(axis=0))


@_law.register(events.MixtureOfGaussians)
def _(event: events.MixtureOfGaussians, orders: Floats) -> Floats:
    return _cumulant(event.sampled, orders)


@_law.register(events.Grouped)
def _(event: events.Grouped, orders: Floats) -> Floats:
    # With order alpha 2^c of one unit, 2^c units have 3^c times its divergence at alpha >= 2 (Mironov 2017).
    doublings = (event.size - 1).bit_length()
    factor = 2.0**doublings
    higher = _cumulant(event.inner, orders * factor) / (orders * factor - 1)
    return np.where(orders >= 2, 3.0**doublings * (orders - 1) * higher * _ABOVE, np.inf)


@_law.register(events.Shuffled)
def _(event: events.Shuffled, orders: Floats) -> Floats:
    weights, ratios = theorems.clone_ratios(
        float_above(event.inner.pure_epsilon or Fraction(0)), event.people
    )
    return np.asarray(np.log1p((weights[:, None] * theorems.excess(ratios[:, None], orders)).sum(axis=0)))


def _at_whole_orders(
    value: Callable[[int, Floats], float], moments: Callable[[Floats], Floats], orders: Floats
) -> Floats:
    """Evaluate a cumulant at whole orders, from inner ones at 2, 3, …, and join by chords from (1, 0) on."""
    usable = orders <= _MOST_WHOLE
    ends = np.unique(np.concatenate([np.floor(orders[usable]), np.ceil(orders[usable])])).astype(int)
    if not (ends := ends[ends > 1]).size:
        return np.full_like(orders, np.inf)
    inner = moments(np.arange(2.0, ends[-1] + 1))
    return np.interp(orders, [1, *ends], [0.0, *(value(int(end), inner) for end in ends)], right=np.inf)


@_law.register(events.PoissonSampled | events.SampledWithoutReplacement)
def _(event: events.PoissonSampled | events.SampledWithoutReplacement, orders: Floats) -> Floats:
    inner, rate = event.inner, float_above(event.rate)
    if isinstance(inner, events.Approximate):
        return _pure(theorems.amplified(theorems.Cost(float_above(inner.epsilon), 0), rate).epsilon, orders)
    plain = _cumulant(inner, orders)
    if rate in (0.0, 1.0):
        return plain * rate
    if isinstance(event, events.PoissonSampled):
        return np.fmin(_poisson(inner, rate, plain, orders), plain)
    if exact_extra_delta(inner):
        raise ParameterError("event", "is a sample without replacement of a part with a delta", "without one")
    excess = np.inf if inner.pure_epsilon is None else float(np.expm1(float_above(inner.pure_epsilon)))
    sums = _at_whole_orders(
        lambda n, k: theorems.fixed_size_cumulant(n, rate, k, excess), lambda n: _cumulant(inner, n), orders
    )
    return np.fmin(sums, plain)


def _poisson(inner: Event, rate: float, plain: Floats, orders: Floats) -> Floats:
    squared = np.expm1(_cumulant(inner, np.array([2.0])))

    def sums(moments: Callable[[Floats], Floats]) -> Floats:
        return _at_whole_orders(lambda n, k: theorems.binomial_cumulant(n, rate, k), moments, orders)

    added = sums(lambda n: _cumulant(inner, n))
    added = np.where(orders < 2, np.fmin(added, np.log1p(theorems.excess(-rate, orders) * squared)), added)
    if isinstance(inner, events.Gaussian | events.RoundedGaussian):
        sigma = float_below(inner.noise_multiplier)
        between = (orders <= _MOST_FRACTIONAL) & (np.abs(orders - orders.round()) > 1e-6)
        added[between] = np.fmin(
            added[between], [theorems.sampled_gaussian(sigma, rate, x) for x in orders[between]]
        )
    if isinstance(inner, _SYMMETRIC):
        return added
    steep = np.log1p(theorems.excess(-rate, 1 - orders) * squared)
    removed = [-(orders - 1) * np.log1p(-rate), np.log1p(rate * np.expm1(plain)), steep]
    if (pure := inner.pure_epsilon) is not None:  # its pair is symmetric
        removed.append(sums(lambda n: _pure(float_above(pure), n)))
    return np.maximum(added, np.fmin.reduce(removed))


@_law.register(events.BestOfRuns | events.BestOfPoissonRuns)
def _(event: events.BestOfRuns | events.BestOfPoissonRuns, orders: Floats) -> Floats:
    if exact_extra_delta(event.inner):
        raise ParameterError("event", "is the best of runs with a delta", "without one")
    return repeated_cumulant(event, orders, divergence_at(event.inner, orders), ORDERS, divergence_at)


@_law.register(events.SparseVector)
def _(event: events.SparseVector, orders: Floats) -> Floats:
    each = _cumulant(event.inner, orders) + (orders - 1) * float_above(event.query_epsilon)
    return event.positives * each


@_law.register(events.CappedPoissonSampled)
def _(event: events.CappedPoissonSampled, orders: Floats) -> Floats:
    from discreet.accounting.loss.capped_poisson import full_chance

    usual, pure = _cumulant(event.uncapped, orders), event.pure_epsilon
    if pure is None:  # the rest is in `exact_extra_delta`
        return usual
    rare = _pure(float_above(pure), orders)
    more = np.maximum(np.expm1(rare) - np.expm1(usual), 0.0)
    return np.asarray(np.log1p(np.expm1(usual) + full_chance(event) * more))


@_law.register(events.ReplacedPoissonGaussian)
def _(event: events.ReplacedPoissonGaussian, orders: Floats) -> Floats:
    from discreet.accounting.loss.replaced_poisson import facing_cumulant

    shift, rate = float_above(1 / event.noise_multiplier), float_above(event.rate)
    return np.array([facing_cumulant(shift, rate, float(order)) for order in orders])


@_law.register(events.SampledWithReplacement)
def _(event: events.SampledWithReplacement, orders: Floats) -> Floats:
    from scipy.special import gammaln, logsumexp, xlog1py

    inner, draws, chance = event.inner, event.draws, 1 / event.population
    pure, concentrated = inner.pure_epsilon, inner.concentrated_rho
    if concentrated is None or draws > _MOST_DRAWS:
        allowed = f"one that is purely or zero-concentrated private, drawn at most {_MOST_DRAWS} times"
        raise ParameterError("event", "is drawn with replacement in a way without a proven bound", allowed)
    if draws == 0:
        return np.zeros_like(orders)
    copies = np.arange(1.0, draws + 1)
    rate = min(1.0, -np.expm1(draws * np.log1p(-chance)) * _ABOVE)
    weights = gammaln(draws + 1) - gammaln(copies + 1) - gammaln(draws - copies + 1) - np.log(rate)
    weights += copies * np.log(chance) + xlog1py(draws - copies, -chance)
    weights += 1e-11 + 4e-15 * (gammaln(draws + 1) - draws * np.log(chance))  # more than rounding took

    def moments(whole: Floats) -> Floats:
        # Of a unit that is drawn, this many copies are replaced at once: group privacy of the inner event.
        rows = [
            np.fmin(
                np.inf if pure is None else _pure(copies * float_above(pure), order),
                copies**2 * float_above(concentrated) * order * (order - 1),
            )
            for order in whole
        ]
        # The weights sum to 1, so the sum of w (e^row - 1) is taken, in which nothing cancels.
        return np.array([np.logaddexp(0, logsumexp(weights + row + np.log(-np.expm1(-row)))) for row in rows])

    usable = np.where(orders <= _MOST_COPIED, orders, 2.0)
    mixed = np.log1p(rate * np.expm1(moments(usable)))
    whole = _at_whole_orders(lambda n, k: theorems.fixed_size_cumulant(n, rate, k, np.inf), moments, usable)
    return np.where(orders <= _MOST_COPIED, np.fmin(whole, mixed), np.inf)
