"""How a budget of epsilon and delta is divided among the filters whose union it is.

Each member keeps (epsilon, its share of delta) by itself; a pure one needs no share. The shares add up to
one, so that the union keeps (epsilon, delta): docs/proofs/filters.md, theorem 11.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, floor, log, log10

from discreet.accounting.filters.base import Filter
from discreet.accounting.filters.conversion import best_order, divergence_below
from discreet.accounting.filters.renyi import RenyiFilter
from discreet.accounting.filters.scalar import GaussianFilter, PureFilter
from discreet.accounting.filters.tight import TightFilter
from discreet.privacy.events import Gaussian
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors

__all__ = ["SHARES", "members_for"]

SHARES = {
    "tight": Fraction(730, 1000),
    "own": Fraction(130, 1000),
    "order": Fraction(100, 1000),
    "gaussian": Fraction(30, 1000),
    "lower order": Fraction(5, 1000),
    "higher order": Fraction(5, 1000),
}
"""Of delta. Most goes to runs fixed in advance: at 0.73 delta normal noise of epsilon 0.1 or more, and a
thousand sampled steps at a rate of 0.01 or more, need less than 3% more epsilon than at delta (at 0.7 delta
normal noise of epsilon 0.1 needs 3.2%), while sums of small requests lose only by the logarithm of their
share: at one tenth, 2 to 7% of the normal noise that one half would admit at the order of before. Deltas of
events fit either next to sums of tight pairs, up to the first share, or next to small requests, up to the
second: of (0.1, 1e-8) thresholds on (3, 1e-6) that is 26, and 38 at a share of 0.19, which would take 1.5% of
discrete normal noise, 2.6% of normal noise, and the 3% of runs."""

_LOWER = Fraction(4, 5)
"""Of the best order, less one. Nearer to 1 a small share leaves nothing; here sampled steps that are charged
one by one may fit a hundred times as often as at the best order for normal noise."""
_DIGITS = 6
_MOST_EPSILON, _LEAST_EPSILON = 500, Fraction(1, 10**6)
_LEAST_DELTA = Fraction(1, 10**280)


@lru_cache(maxsize=256)
def members_for(
    epsilon: Fraction, delta: Fraction, neighbors: Neighbors = ADD_REMOVE_PERSON
) -> tuple[Filter, ...]:
    """Return filters whose union is (epsilon, delta)-private.

    - The pure sum.
    - The sum of tight epsilons and deltas: training runs, and requests with their own delta.
    - Rényi divergence at the order that admits the most normal noise, with room for deltas of events; and
      without such room at a lower and a higher order, for events with heavier or lighter tails.
    - The sum of squares of mu, for normal noise alone, which no conversion weakens.

    Members that would admit nothing are left out.
    """
    made: list[Filter] = [
        PureFilter(epsilon, neighbors=neighbors),
        TightFilter(epsilon, delta=SHARES["tight"] * delta, neighbors=neighbors),
    ]
    if epsilon == 0:
        return tuple(made)
    best = best_order(epsilon, SHARES["order"] * delta) - 1
    for name, gap, own in (("order", 1, "own"), ("lower order", _LOWER, ""), ("higher order", 2, "")):
        order = 1 + _shortened(best * gap)
        limit = _shortened(max(divergence_below(order, epsilon, SHARES[name] * delta), Fraction(0)))
        if limit:
            kept = SHARES[own] * delta if own else 0
            made.append(RenyiFilter([order], [limit], delta=kept, neighbors=neighbors))
    mu = _mu(epsilon, SHARES["gaussian"] * delta)
    if mu:
        made.append(GaussianFilter(mu, neighbors=neighbors))
    return tuple(made)


def _mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a mu, nearly the largest, whose normal pair is (epsilon, delta)-close; 0 where floats end."""
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON or delta < _LEAST_DELTA:
        return Fraction(0)
    low, high = log(1e-12), log(1e6)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _keeps(Fraction(exp(middle)), epsilon, delta) else (low, middle)
    mu = _shortened(Fraction(exp(low)))
    return mu if _keeps(mu, epsilon, delta) else Fraction(0)


def _keeps(mu: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    from discreet.accounting import epsilon_and_delta

    return (
        Fraction(epsilon_and_delta.delta(Gaussian(noise_multiplier=1 / mu), epsilon=epsilon).upper) <= delta
    )


def _shortened(value: Fraction) -> Fraction:
    """Round a positive number down to six digits: what is chosen stands in ledgers, to be read."""
    if value == 0:
        return value
    power = _DIGITS - 1 - floor(log10(value))
    scale = Fraction(10) ** power
    return Fraction(floor(value * scale)) / scale
