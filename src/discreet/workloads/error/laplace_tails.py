"""How far a linear combination of discrete Laplace noise can be from zero, for any coefficients.

Let L = sum of c_i N_i with independent N_i of scale b steps, and c = ||c||_2. Two bounds, in units of b c:

- Chernoff: P(abs(L) > t b c) <= 2 exp(-x t) / (1 - x^2) for every 0 < x < 1.
- Mixtures: continuous Laplace noise of scale b is normal noise whose variance is 2 b^2 E, E exponential. A
  combination is normal with variance 2 b^2 c^2 S, S an average of such E, and E f(S) <= E f(E) for every
  convex f. The chance h(S) that it exceeds t b c is convex in S up to t^2 / 6 and concave from there on, so
  that h up to there and its tangent from there on are such an f above h. Discrete noise lies within one
  step of continuous noise, on the same side of zero, which adds a sum of bounded symmetric terms.

The second is nearly what one noise alone has, and so nearly the best. (docs/proofs/strategies.md,
propositions 9 and 11.)
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log, pi, sqrt

import numpy as np

__all__ = ["laplace_units", "mixture_tail"]

_CELLS = 4096
_SHARES = (1 / 2, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 1024)
"""Of the failure probability, what is given to the distance of discrete from continuous noise."""
_ROUNDING = 1e-9
_STEPS = 60


@lru_cache(maxsize=256)
def laplace_units(failure: float, scale: float) -> float:
    """Return t with P(abs(L) > t b c) <= failure, for noise of scale b in steps."""
    best = min(_chernoff(failure), sqrt(2 / failure))
    for share in _SHARES:
        own = _mixture(failure * (1 - share))
        best = min(best, own + sqrt(2 * log(2 / (failure * share))) / scale)
    return best


def _chernoff(failure: float) -> float:
    """Minimize (log(2 / failure) - log(1 - x^2)) / x over 0 < x < 1; every x gives a valid bound."""
    best = inf
    for step in range(1, 512):
        x = step / 512
        best = min(best, (log(2 / failure) - log(1 - x * x)) / x)
    return best


def _mixture(failure: float) -> float:
    """Return a t at which the bound for continuous noise is at most the failure probability."""
    high = 1.0
    while mixture_tail(high) > failure:
        high *= 2
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if mixture_tail(middle) > failure:
            low = middle
        else:
            high = middle
    return high


def mixture_tail(t: float) -> float:
    """Return a bound on P(abs(L) > t b c) for continuous noise: E f(E), by sums that are never too small."""
    from scipy.special import ndtr

    bend = t * t / 6
    places = np.linspace(0.0, bend, _CELLS + 1)
    chances = np.zeros(_CELLS + 1)
    chances[1:] = 2 * ndtr(-t / np.sqrt(2 * places[1:]))
    masses = -np.diff(np.exp(-places))
    slope = exp(-1.5) / sqrt(2 * pi) * sqrt(3) / bend
    beyond = exp(-bend) * (float(chances[-1]) + slope)
    return (float(chances[1:] @ masses) + beyond) * (1 + _ROUNDING)
