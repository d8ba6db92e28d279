"""How many guesses about who took part can be right, and what more of them prove.

Each of n canaries takes part in training or not, by a fair coin of its own. Whoever sees the model
guesses r of the coins. A guarantee bounds how likely it is that v of the guesses are right, for every rule
of guessing and whatever canaries have to do with each other: the tails P(V >= c) of the number of right
guesses must grow fast enough as c falls (docs/proofs/guesses.md). So one training run proves a lower bound
on epsilon (Steinke, Nasr & Jagielski 2023), or on mu (Mahloujifar, Melis & Chaudhuri 2024).
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from discreet.audit.claims import delta_of_mu, points
from discreet.privacy.directed import exp_interval
from discreet.privacy.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)

__all__ = ["STEP", "is_refuted", "least_parameter", "parameter_of", "with_parameter"]

STEP = Fraction(1, 1024)
"""Parameters are tried in multiples of this, which floats hold exactly."""

_MOST_STEPS = 16 * 1024
_NORMAL_POINTS = 80
_FARTHEST = 8.0
"""Standard deviations up to which points of a normal claim reach: delta is below 1e-15 there."""
_WIDE = 10**9
_UP = Context(prec=40, rounding=ROUND_CEILING, Emin=-_WIDE, Emax=_WIDE)
_DOWN = Context(prec=40, rounding=ROUND_FLOOR, Emin=-_WIDE, Emax=_WIDE)


def is_refuted(right: int, guesses: int, flips: int, claim: Guarantee, chance: Fraction) -> bool:
    """Return whether the claim rules out that V >= right has a probability of `chance` or more.

    Parameters
    ----------
    right, guesses, flips : int
        At least `right` guesses are right, of `guesses` that were made about `flips` coins.
    claim : Guarantee
        What is claimed between runs that differ in one coin.
    chance : Fraction
        A probability.

    Notes
    -----
    With t_c = P(V >= c), every point (epsilon, delta) of the claim says that

        c t_c + sum_(i > c) t_i <= e^epsilon ((r - c + 1) t_(c - 1) - sum_(i >= c) t_i) + n delta.

    Starting from t_v = chance, these are lower bounds on t_(v - 1), t_(v - 2), ..., each rounded down; if
    one exceeds 1, the claim and the chance contradict each other.
    """
    lines = _lines(claim)
    coins, one = Decimal(flips), Decimal(1)
    tail, above, chosen = _decimal(chance, _DOWN), Decimal(0), 0
    for c in range(right, 0, -1):
        share = _DOWN.divide(_DOWN.add(_DOWN.multiply(Decimal(c), tail), above), coins)
        least = _on_line(lines[chosen], share)
        # Each line is valid. The best one moves one way, since the share only grows.
        while chosen + 1 < len(lines) and (other := _on_line(lines[chosen + 1], share)) >= least:
            chosen, least = chosen + 1, other
        above = _DOWN.add(above, tail)
        needed = _DOWN.add(_DOWN.multiply(coins, max(least, Decimal(0))), above)
        tail = max(tail, _DOWN.divide(needed, Decimal(guesses - c + 1)))
        if tail > one:
            return True
    return False


def least_parameter(right: int, guesses: int, flips: int, claim: Guarantee, failure: Fraction) -> Fraction:
    """Return a lower bound on the parameter of a claim: on epsilon, mu or rho, all else as claimed.

    A multiple of `STEP` at which so many right guesses are refuted to have a probability of `failure`; 0 if
    there is none. It is at most what is true with probability at least 1 - failure.
    """

    def fails(steps: int) -> bool:
        return is_refuted(right, guesses, flips, with_parameter(claim, steps * STEP), failure)

    if not fails(0):
        return Fraction(0)
    low, high = 0, _MOST_STEPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return low * STEP


def parameter_of(claim: Guarantee) -> tuple[str, Fraction]:
    """Return the name and the value of the number that an audit bounds."""
    if isinstance(claim, GaussianDP):
        return "mu", claim.mu
    return ("rho", claim.rho) if isinstance(claim, ZeroConcentratedDP) else ("epsilon", claim.epsilon)


@lru_cache(maxsize=256)
def with_parameter(claim: Guarantee, value: Fraction) -> Guarantee:
    """Return the same claim with another epsilon, mu or rho: the larger, the weaker."""
    if isinstance(claim, PureDP):
        return PureDP(epsilon=value, neighbors=claim.neighbors)
    if isinstance(claim, ApproximateDP):
        return ApproximateDP(epsilon=value, delta=claim.delta, neighbors=claim.neighbors)
    if isinstance(claim, ZeroConcentratedDP):
        return ZeroConcentratedDP(rho=value, neighbors=claim.neighbors)
    if isinstance(claim, RenyiDP):
        return RenyiDP(order=claim.order, epsilon=value, neighbors=claim.neighbors)
    return GaussianDP(mu=value, neighbors=claim.neighbors)


@lru_cache(maxsize=256)
def _lines(claim: Guarantee) -> list[tuple[Decimal, Decimal]]:
    """Return (e^-epsilon, delta) for the points of a claim, rounded in its favor, from the steepest on."""
    found = []
    for epsilon, delta in reversed(_points(claim)):
        shrunk = 1 / exp_interval(Fraction(epsilon))[1]
        found.append((_decimal(shrunk, _DOWN), _decimal(Fraction(delta), _UP)))
    return found


def _points(claim: Guarantee) -> list[tuple[float, float]]:
    """Return points of a claim; of normal ones so far out that delta is below any rate of false alarms."""
    if not isinstance(claim, GaussianDP):
        return points(claim)
    mu = float(claim.mu)
    epsilons = [mu * (mu / 2 + _FARTHEST) * step / _NORMAL_POINTS for step in range(_NORMAL_POINTS + 1)]
    return [(epsilon, delta_of_mu(mu, epsilon)) for epsilon in epsilons]


def _on_line(line: tuple[Decimal, Decimal], share: Decimal) -> Decimal:
    """Return the least q with share <= e^epsilon q + delta, rounded down."""
    return _DOWN.multiply(_DOWN.subtract(share, line[1]), line[0])


def _decimal(x: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))
