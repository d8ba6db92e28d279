"""What a guarantee means to a person: how well anyone can tell whether the person's data are there.

An attacker sees every answer and must say which of two neighboring tables gave them. A guarantee limits
the *true positive rate* at a *false positive rate*, the *advantage* (their largest difference), and how
far an opinion held before can move: the *posterior* probability for a prior one. All are upper bounds
over every attack, rounded up (docs/proofs/meaning.md).

A guarantee is a record of `privacy.guarantees`, or a hockey-stick curve: a function that maps every
epsilon >= 0 to a delta for which (epsilon, delta) holds in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import erf, exp, expm1, inf, log, log1p, sqrt, tanh
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from discreet.errors import ParameterError
from discreet.privacy.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from discreet.privacy.rational import float_above, float_below, probability

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Curve", "advantage", "posterior", "true_positive_rate"]

Curve: TypeAlias = Callable[[float], float]
"""A hockey-stick curve: delta as a function of epsilon >= 0, in both directions."""

_ROUNDING = 1e-12
_LARGEST = 700.0  # e^700 is still a float
_ORDERS = 1 + np.geomspace(1e-4, 1e6, 301)


def advantage(guarantee: Guarantee | Curve) -> float:
    """Return the most by which any attack's true positive rate can exceed its false positive rate.

    Guarantee
    ---------
    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) under (epsilon, delta); 2 Phi(mu / 2) - 1 under mu; under
    rho, or at a Rényi order, the advantage of the clearest randomized response that has it; for a curve,
    the least over epsilon. All but the last are attained.

    Parameters
    ----------
    guarantee : Guarantee or Curve
        A record, or delta as a function of epsilon.

    Examples
    --------
    >>> round(advantage(PureDP(epsilon=1)), 4), round(advantage(PureDP(epsilon=0.1)), 4)
    (0.4621, 0.05)
    """
    match guarantee:
        case PureDP():
            return _above(tanh(float_above(guarantee.epsilon) / 2))
        case ApproximateDP():
            return _above(
                _approximate_advantage(float_above(guarantee.epsilon), float_above(guarantee.delta))
            )
        case GaussianDP():
            return _above(erf(float_above(guarantee.mu) / sqrt(8)))
        case ZeroConcentratedDP() | RenyiDP():
            return _above(_largest(lambda x: ((1 + x) / 2, (1 - x) / 2), guarantee))
    curve = _checked(guarantee)
    return _above(_least(lambda epsilon: _approximate_advantage(epsilon, curve(epsilon))))


def true_positive_rate(guarantee: Guarantee | Curve, false_positive_rate: Number) -> float:
    """Return the largest true positive rate of any attack with this false positive rate.

    Guarantee
    ---------
    min(e^epsilon f + delta, 1 - e^-epsilon (1 - delta - f)) under (epsilon, delta), Phi(Phi^-1(f) + mu)
    under mu; under rho, or at a Rényi order, the largest t for which the two laws (t, 1 - t) and (f, 1 - f)
    have it; for a curve, the least over epsilon. All but the last are attained.

    Parameters
    ----------
    guarantee : Guarantee or Curve
        A record, or delta as a function of epsilon.
    false_positive_rate : number
        How often the attack may accuse a person whose data are not there: between 0 and 1.
    """
    rate = _share(false_positive_rate, "false_positive_rate")
    match guarantee:
        case PureDP():
            return _above(_power(float_above(guarantee.epsilon), 0.0, rate))
        case ApproximateDP():
            return _above(_power(float_above(guarantee.epsilon), float_above(guarantee.delta), rate))
        case GaussianDP():
            mu = float_above(guarantee.mu)
            return rate if rate in (0.0, 1.0) else _above(float(special.ndtr(special.ndtri(rate) + mu)))
        case ZeroConcentratedDP() | RenyiDP():
            if rate in (0.0, 1.0):
                return rate
            return _above(rate + (1 - rate) * _largest(lambda x: (rate + (1 - rate) * x, rate), guarantee))
    curve = _checked(guarantee)
    bounds = [
        _least(lambda epsilon: _rare(epsilon, curve(epsilon), rate)),
        _least(lambda epsilon: _frequent(epsilon, curve(epsilon), rate)),
    ]
    return _above(min(bounds))


def posterior(guarantee: Guarantee | Curve, prior: Number, *, failure: Number = 0) -> float:
    """Return the largest probability that anyone can come to give to a person's data being there.

    Guarantee
    ---------
    Whoever gave it the probability `prior` before gives it at most this after seeing the answers, for all
    answers but some that, whichever table is true, come with probability at most `failure`. A pure
    guarantee needs no failure: odds grow by at most e^epsilon.

    Parameters
    ----------
    guarantee : Guarantee or Curve
        A record, or delta as a function of epsilon.
    prior : number
        Between 0 and 1.
    failure : number
        Between 0 and 1; guarantees with a delta say nothing for a failure of at most delta, others
        (rho, mu) nothing for 0.

    Examples
    --------
    >>> round(posterior(PureDP(epsilon=1), 0.5), 4)
    0.7311
    """
    before, allowed = _share(prior, "prior"), _share(failure, "failure")
    if before in (0.0, 1.0):
        return before
    loss = _loss(guarantee, allowed)
    odds_against = (1 - before) / before
    return _above(1 / (1 + odds_against * exp(-loss)))


def _loss(guarantee: Guarantee | Curve, failure: float) -> float:
    """Bound the privacy loss, except for a set of answers of probability at most `failure`."""
    log_failure = log(failure) if failure else -inf
    match guarantee:
        case PureDP():
            return float_above(guarantee.epsilon)
        case ApproximateDP():
            return _quantile(float_above(guarantee.epsilon), float_above(guarantee.delta), failure)
        case ZeroConcentratedDP():
            rho = float_above(guarantee.rho)
            return rho + 2 * sqrt(rho * -log_failure) if rho else 0.0
        case RenyiDP():
            epsilon = float_above(guarantee.epsilon)
            return epsilon + -log_failure / float(guarantee.order - 1) if epsilon else 0.0
        case GaussianDP():
            mu = float_above(guarantee.mu)
            return (
                _least(lambda epsilon: _quantile(epsilon, _gaussian_delta(mu, epsilon), failure))
                if mu
                else 0.0
            )
    curve = _checked(guarantee)
    return _least(lambda epsilon: _quantile(epsilon, curve(epsilon), failure))


def _quantile(epsilon: float, delta: float, failure: float) -> float:
    """Return the loss that is exceeded with probability at most `failure` under (epsilon, delta)."""
    if delta == 0:
        return epsilon
    return epsilon - log1p(-delta / failure) if delta < failure else inf


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Return Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), rounded up."""
    first = float(special.ndtr(mu / 2 - epsilon / mu))
    second = exp(epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu)))
    return max(first * (1 + _ROUNDING) - second * (1 - _ROUNDING), 0.0) or 5e-324


def _approximate_advantage(epsilon: float, delta: float) -> float:
    return tanh(epsilon / 2) + 2 * delta / (1 + _exp(epsilon))


def _power(epsilon: float, delta: float, rate: float) -> float:
    return min(_rare(epsilon, delta, rate), _frequent(epsilon, delta, rate))


def _rare(epsilon: float, delta: float, rate: float) -> float:
    """Bound the true positives by the false ones."""
    return delta + (rate * _exp(epsilon) if rate else 0.0)


def _frequent(epsilon: float, delta: float, rate: float) -> float:
    """Bound the false negatives by the true ones: 1 - e^-epsilon (1 - delta - rate)."""
    return -expm1(-epsilon) + exp(-epsilon) * (delta + rate)


def _exp(x: float) -> float:
    return exp(x) if x <= _LARGEST else inf


def _largest(pair: Callable[[float], tuple[float, float]], guarantee: ZeroConcentratedDP | RenyiDP) -> float:
    """Return, rounded up, the largest x in [0, 1] for which laws (t, 1 - t) and (f, 1 - f) are near enough.

    `pair` maps x to (t, f), which must move apart as x grows. Orders are looked at in two rounds: those of
    the grid, then more of them around the one that binds. Any set of orders gives an upper bound.
    """
    if isinstance(guarantee, RenyiDP):
        orders = np.array([float_below(guarantee.order)])
        return _bisect(pair, orders, np.array([float_above(guarantee.epsilon)]))
    rho = float_above(guarantee.rho)
    first = _bisect(pair, _ORDERS, rho * _ORDERS)
    t, f = pair(first)
    if t == 1:
        return first
    binding = float(_ORDERS[np.argmax(_farther(t, f, _ORDERS) / _ORDERS)])
    near = 1 + (binding - 1) * np.geomspace(0.9, 1.11, 41)
    orders = np.concatenate([_ORDERS, near])
    return _bisect(pair, orders, rho * orders)


def _bisect(
    pair: Callable[[float], tuple[float, float]], orders: NDArray[np.float64], limits: NDArray[np.float64]
) -> float:
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        t, f = pair(middle)
        if middle in (low, high) or t == 1:
            break
        # Rounding of the logarithms, so that what is within the limits is never found to be outside.
        slack = 1e-14 * (2 + orders * (abs(log(f)) + abs(log1p(-t)))) / (orders - 1)
        near = _farther(t, f, orders) <= limits + slack
        low, high = (middle, high) if near.all() else (low, middle)
    return high


def _farther(t: float, f: float, orders: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(_divergence(t, f, orders), _divergence(f, t, orders))


def _divergence(t: float, f: float, orders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Rényi divergences of (t, 1 - t) from (f, 1 - f)."""
    first = orders * log(t) + (1 - orders) * log(f)
    second = orders * log1p(-t) + (1 - orders) * log1p(-f)
    return np.asarray(np.logaddexp(first, second) / (orders - 1))


def _least(bound: Callable[[float], float]) -> float:
    """Return nearly the least value of a bound over epsilon >= 0. Each value is a bound by itself."""
    grid = np.concatenate([[0.0], np.geomspace(1e-5, 500, 61)])
    for _ in range(4):
        values = [bound(float(epsilon)) for epsilon in grid]
        best = int(np.argmin(values))
        least = values[best]
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 13)
    return least


def _checked(curve: Curve) -> Curve:
    """Make every value of a curve a delta, or refuse it."""
    if not callable(curve):
        raise ParameterError(
            "guarantee", "is neither a guarantee nor a function", "such as PureDP(epsilon=1)"
        )

    @cache
    def delta(epsilon: float) -> float:
        value = float(curve(epsilon))
        if not value >= 0:
            raise ParameterError(
                "guarantee", "gave something that is not a delta", "a function with values in [0, 1]"
            )
        return min(value, 1.0)

    return delta


def _share(value: Number, name: str) -> float:
    return float_above(probability(value, name))


def _above(x: float) -> float:
    return min(x * (1 + _ROUNDING), 1.0)
