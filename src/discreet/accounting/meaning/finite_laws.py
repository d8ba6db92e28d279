"""Two laws on finitely many outcomes: their privacy loss, hockey-stick divergence and trade-off, exactly.

Probabilities are fractions throughout. A law is a mapping from outcomes to probabilities; outcomes that it
does not name have none. Probabilities add up to 1; floats may miss it by 1e-9, and are then divided by
their sum.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.rational import float_above, non_negative, probability, rational
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["FiniteTradeoff", "PrivacyLoss", "hockey_stick", "hockey_stick_at", "privacy_loss", "tradeoff"]

_FAR = (
    6000  # probabilities have at most 4096 bits (floats after division: 5200), so every finite loss is below
)
_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyLoss:
    """The law of the loss log(P(y) / Q(y)) of an outcome y that is drawn from P.

    Attributes
    ----------
    ratios : tuple of Fraction
        The values of P(y) / Q(y), finite and above 0, in increasing order. Losses are their logarithms.
    masses : tuple of Fraction
        The P-mass of each; its Q-mass is the mass over the ratio.
    infinity : Fraction
        The P-mass of outcomes that Q cannot produce.
    """

    ratios: tuple[Fraction, ...]
    masses: tuple[Fraction, ...]
    infinity: Fraction

    @property
    def losses(self) -> tuple[float, ...]:
        """The logarithms of the ratios, rounded up."""
        return tuple(float_above(log_interval(ratio)[1]) for ratio in self.ratios)

    @property
    def mean(self) -> float:
        """The expected loss, D(P || Q), rounded up."""
        if self.infinity:
            return inf
        total = Fraction(0)
        for ratio, mass in zip(self.ratios, self.masses, strict=True):
            total += mass * log_interval(ratio)[1]
        return max(float_above(total), 0.0)

    def tail(self, epsilon: Number) -> Fraction:
        """Return the probability that the loss exceeds epsilon.

        If it is at most delta, (epsilon, delta) holds; `delta` is never larger.
        """
        start = bisect_right(self.ratios, _factor(epsilon))
        return sum(self.masses[start:], self.infinity)

    def delta(self, epsilon: Number) -> Fraction:
        """Return the least delta for which P(S) <= e^epsilon Q(S) + delta for every set S.

        Exact at epsilon 0. Elsewhere e^epsilon is not a fraction: it is rounded down at digit forty, and
        the answer is a little too high.
        """
        return self._delta(_factor(epsilon))

    def delta_at(self, factor: Number) -> Fraction:
        """Return the hockey-stick divergence at a factor gamma = e^epsilon >= 0, exactly.

        E[max(0, 1 - gamma e^-L)], which is the largest P(S) - gamma Q(S) of all sets S.
        """
        return self._delta(non_negative(factor, "factor"))

    def _delta(self, gamma: Fraction) -> Fraction:
        start = bisect_right(self.ratios, gamma)
        pairs = zip(self.ratios[start:], self.masses[start:], strict=True)
        return sum((mass * (1 - gamma / ratio) for ratio, mass in pairs), self.infinity)

    def epsilon(self, delta: Number) -> float:
        """Return the least epsilon >= 0 for which (epsilon, delta) holds in this direction, rounded up."""
        allowed = non_negative(delta, "delta")
        if self.infinity > allowed:
            return inf
        above, below = self.infinity, Fraction(0)
        factor = Fraction(1)
        for ratio, mass in zip(reversed(self.ratios), reversed(self.masses), strict=True):
            # Up to this ratio, delta is linear in the factor: above - factor * below.
            if above - ratio * below > allowed:
                break
            above, below = above + mass, below + mass / ratio
            factor = max((above - allowed) / below, Fraction(1))
        return 0.0 if factor == 1 else float_above(log_interval(factor)[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteTradeoff:
    """The trade-off function of P and Q: the least false negative rate at every false positive rate.

    A test that wants to reject P in favor of Q has the false positive rate P(S) and the false
    negative rate 1 - Q(S) if it rejects on a set S. The function is convex, decreasing and, for finite
    laws, a broken line.

    Attributes
    ----------
    vertices : tuple of pairs of Fraction
        The corners (false positive rate, false negative rate), from left to right; the last one is (1, 0).
    """

    vertices: tuple[tuple[Fraction, Fraction], ...]

    def __call__(self, false_positive_rate: Number) -> Fraction:
        """Return the least false negative rate."""
        rate = probability(false_positive_rate, "false_positive_rate")
        for (left, high), (right, low) in pairwise(self.vertices):
            if rate <= right:
                return high + (low - high) * (rate - left) / (right - left)
        return Fraction(0)

    @property
    def advantage(self) -> Fraction:
        """The largest difference of true and false positive rate: the total variation distance."""
        return max(1 - beta - alpha for alpha, beta in self.vertices)

    @property
    def inverse(self) -> FiniteTradeoff:
        """The trade-off function with both laws exchanged."""
        # What lies right of the first zero is flat, and becomes a jump at 0, which has no corner.
        lowest = min(alpha for alpha, beta in self.vertices if beta == 0)
        corners = [(beta, alpha) for alpha, beta in reversed(self.vertices) if alpha <= lowest]
        end = [] if corners[-1][0] == 1 else [(Fraction(1), Fraction(0))]
        return FiniteTradeoff(vertices=(*corners, *end))

    def delta_at(self, factor: Number) -> Fraction:
        """Return the hockey-stick divergence of Q from P at a factor gamma: the largest Q(S) - gamma P(S)."""
        gamma = non_negative(factor, "factor")
        return max(1 - beta - gamma * alpha for alpha, beta in self.vertices)


def privacy_loss(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number]) -> PrivacyLoss:
    """Return the law of the privacy loss of p against q.

    Examples
    --------
    >>> loss = privacy_loss({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> loss.ratios, loss.masses
    ((Fraction(1, 3), Fraction(3, 1)), (Fraction(1, 4), Fraction(3, 4)))
    >>> loss.delta(0), round(loss.epsilon(0), 4)
    (Fraction(1, 2), 1.0986)
    """
    masses: dict[Fraction, Fraction] = {}
    infinity = Fraction(0)
    for first, second in _joined(p, q):
        if second == 0:
            infinity += first
        elif first > 0:
            masses[first / second] = masses.get(first / second, Fraction(0)) + first
    ratios = tuple(sorted(masses))
    return PrivacyLoss(ratios=ratios, masses=tuple(masses[ratio] for ratio in ratios), infinity=infinity)


def hockey_stick(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number], epsilon: Number) -> Fraction:
    """Return the largest P(S) - e^epsilon Q(S) of all sets S; exact at 0, elsewhere rounded up."""
    return privacy_loss(p, q).delta(epsilon)


def hockey_stick_at(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number], factor: Number) -> Fraction:
    """Return the largest P(S) - factor Q(S) of all sets S, exactly."""
    return privacy_loss(p, q).delta_at(factor)


def tradeoff(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number]) -> FiniteTradeoff:
    """Return the trade-off function of tests of p (to be rejected) against q.

    By the lemma of Neyman and Pearson the best tests reject on outcomes with the largest Q(y) / P(y).
    """
    slopes: dict[Fraction, tuple[Fraction, Fraction]] = {}
    alpha, beta = Fraction(0), Fraction(1)
    for first, second in _joined(p, q):
        if first == 0:
            beta -= second
        elif second > 0:
            one, other = slopes.get(second / first, (Fraction(0), Fraction(0)))
            slopes[second / first] = (one + first, other + second)
    vertices = [(alpha, beta)]
    for slope in sorted(slopes, reverse=True):
        alpha, beta = alpha + slopes[slope][0], beta - slopes[slope][1]
        vertices.append((alpha, beta))
    if alpha < 1:
        vertices.append((Fraction(1), Fraction(0)))
    return FiniteTradeoff(vertices=tuple(vertices))


def _factor(epsilon: Number) -> Fraction:
    """Return e^epsilon, rounded down; beyond every ratio where epsilon is."""
    exact = rational(epsilon, "epsilon")
    return Fraction(0) if exact < -_FAR else exp_interval(min(exact, Fraction(_FAR)))[0]


def _joined(p: Mapping[Hashable, Number], q: Mapping[Hashable, Number]) -> list[tuple[Fraction, Fraction]]:
    first, second = _law(p, "p"), _law(q, "q")
    zero = Fraction(0)
    return [(first.get(y, zero), second.get(y, zero)) for y in {**first, **second}]


def _law(masses: Mapping[Hashable, Number], name: str) -> dict[Hashable, Fraction]:
    if not isinstance(masses, Mapping):
        raise ParameterError(name, "is not a mapping", "a mapping from outcomes to probabilities")
    law = {outcome: non_negative(mass, name) for outcome, mass in masses.items()}
    total = sum(law.values(), Fraction(0))
    if total == 1:
        return law
    rounded = any(isinstance(mass, float | np.floating) for mass in masses.values())
    if not rounded or abs(total - 1) > _TOLERANCE:
        raise ParameterError(name, "does not add up to 1", "probabilities that do")
    return {outcome: mass / total for outcome, mass in law.items()}
