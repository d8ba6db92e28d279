"""Upper tails of the noises between certified bounds, and the threshold that a new key hardly passes.

Every bound is an `Enclosure` at `TAIL_BITS` bits: integers low <= a 2^BITS <= high, by integer arithmetic
with directed rounding. Searches compare with far fewer bits (`COARSE_BITS`) where these decide already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log, pi, sqrt
from statistics import NormalDist

from discreet.errors import ParameterError
from discreet.noise.enclosure import Enclosure, exponential, product, quotient
from discreet.noise.normal_cells import tail_from

__all__ = [
    "COARSE_BITS",
    "MOST_VARIANCE",
    "TAIL_BITS",
    "any_passes_more_often",
    "deviations",
    "gaussian_tail",
    "laplace_tail",
    "least_that_holds",
    "normal_tail_bounds",
    "passes_at_most",
    "rounded_tail",
    "smallest_threshold",
    "smallest_threshold_for",
]

TAIL_BITS = 512
"""Far beyond the smallest delta that is accepted, 1e-100 for 2^20 keys."""

COARSE_BITS = 128
"""Enough for all but the smallest deltas, at a third of the time."""

MOST_VARIANCE = 1 << 26
"""The largest variance whose tails are summed, term by term."""

_ONE = 1 << TAIL_BITS


def laplace_tail(scale: Fraction, least: int, bits: int = TAIL_BITS) -> Enclosure:
    """Enclose P(N >= least) for discrete Laplace noise, as narrowly as so many bits do.

    With r = exp(-1 / scale) it is r^m / (1 + r) for m >= 1, and by symmetry 1 - P(N >= 1 - m) else.
    """
    if least < 1:
        return _complement(laplace_tail(scale, 1 - least, bits))
    one, ratio = 1 << bits, exponential(1 / scale, bits)
    return _widened(quotient(exponential(least / scale, bits), (one + ratio[0], one + ratio[1]), bits), bits)


def gaussian_tail(variance: Fraction, least: int, bits: int = TAIL_BITS) -> Enclosure:
    """Enclose P(N >= least) for discrete Gaussian noise: a sum of exp(-k^2 / (2 variance)) over another.

    All sums of a variance are made at once, and kept: fewer bits would save nothing.
    """
    del bits
    if least < 1:
        return _complement(gaussian_tail(variance, 1 - least))
    sums = _sums_from(variance)
    total = sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]
    beyond = sums[least] if least < len(sums) else (0, sums[-1][1])
    return quotient(beyond, total, TAIL_BITS)


def normal_tail_bounds(threshold: float) -> tuple[float, float]:
    """Return the bounds of the Gaussian tail lemma: of P(Z > t) for a standard normal Z and t > 0.

    t phi(t) / (1 + t^2) from below, and the less of phi(t) / t and exp(-t^2 / 2) / 2 from above, phi the
    density, in double precision (proof: docs/proofs/gaussian.md). The tail itself is `rounded_tail`'s.
    """
    t = float(threshold)
    if not 0 < t < inf:
        raise ParameterError("threshold", "is not a positive number", "above 0, and finite")
    peak = exp(-t * t / 2)
    density = peak / sqrt(2 * pi)
    return density / (t + 1 / t), min(density / t, peak / 2)


def rounded_tail(variance: Fraction, least: int, bits: int = TAIL_BITS) -> Enclosure:
    """Enclose P(N >= least) for rounded Gaussian noise: the tail of the normal law from least - 1/2."""
    return _widened(tail_from(variance, least - Fraction(1, 2), bits), bits)


def _widened(coarse: Enclosure, bits: int) -> Enclosure:
    """Return an enclosure at fewer bits as one at `TAIL_BITS`."""
    return coarse[0] << (TAIL_BITS - bits), coarse[1] << (TAIL_BITS - bits)


@lru_cache(maxsize=8)
def _sums_from(variance: Fraction) -> list[Enclosure]:
    """Enclose the sum of exp(-k^2 / (2 variance)) over k >= m, for m = 0, 1, …, until it vanishes.

    The weight at m + 1 is that at m times a ratio, and each ratio is the one before times exp(-1 / variance).
    What follows the first weight w at m that vanishes is at most w variance / m: a geometric series.
    """
    ratio = exponential(1 / (2 * variance), TAIL_BITS)
    step = product(ratio, ratio, TAIL_BITS)
    weights: list[Enclosure] = []
    weight: Enclosure = (_ONE, _ONE)
    while weight[0] > 0 or len(weights) < 2:
        weights.append(weight)
        weight = product(weight, ratio, TAIL_BITS)
        ratio = product(ratio, step, TAIL_BITS)
    low, high = 0, weight[1] + (weight[1] * variance / len(weights)).__ceil__()
    sums = [(low, high)]
    for term in reversed(weights):
        low, high = low + term[0], high + term[1]
        sums.append((low, high))
    return sums[::-1]


def _complement(probability: Enclosure) -> Enclosure:
    return _ONE - probability[1], _ONE - probability[0]


def passes_at_most(chance: Enclosure, keys: int, delta: Fraction) -> bool:
    """Return whether 1 - (1 - p)^keys <= delta for certain: whether any of the keys passes that rarely."""
    return any_passes_at_most([(chance, keys)], delta)


def any_passes_at_most(chances: Sequence[tuple[Enclosure, int]], delta: Fraction) -> bool:
    """Return whether 1 - prod (1 - p)^times <= delta for certain, for several p, each so many times."""
    none = _ONE
    for chance, times in chances:
        base, power = _ONE - min(chance[1], _ONE), _ONE
        for digit in bin(times)[2:]:
            power = power * power >> TAIL_BITS
            if digit == "1":
                power = power * base >> TAIL_BITS
        none = none * power >> TAIL_BITS
    return none * delta.denominator >= (delta.denominator - delta.numerator) << TAIL_BITS


def any_passes_more_often(chances: Sequence[tuple[Enclosure, int]], delta: Fraction) -> bool:
    """Return whether 1 - prod (1 - p)^times > delta for certain: the same, rounded to the other side."""
    none = _ONE
    for chance, times in chances:
        base, power = _ONE - max(chance[0], 0), _ONE
        for digit in bin(times)[2:]:
            power = -(-power * power >> TAIL_BITS)
            if digit == "1":
                power = -(-power * base >> TAIL_BITS)
        none = -(-none * power >> TAIL_BITS)
    return none * delta.denominator < (delta.denominator - delta.numerator) << TAIL_BITS


def smallest_threshold(tail: Callable[[int, int], Enclosure], keys: int, delta: Fraction) -> int:
    """Return the least T >= 1 at which keys of one person pass with total probability at most delta.

    A key of one person passes where 1 + N >= T. Where the enclosures cannot tell, T is one larger.
    """
    return smallest_threshold_for(tail, ((1, keys),), delta)


def smallest_threshold_for(
    tail: Callable[[int, int], Enclosure], moves: Sequence[tuple[int, int]], delta: Fraction
) -> int:
    """Return the least T >= 1 at which keys with these counts, each so often, pass at most that often.

    A key with a count of c passes where c + N >= T. Where the enclosures cannot tell, T is one larger.

    Parameters
    ----------
    tail : callable
        ``tail(least, bits)`` encloses P(N >= least) at `TAIL_BITS` bits, as narrowly as so many bits do.
    moves : pairs of int
        Counts, and how many keys have each.
    delta : Fraction
        How often any of them may pass.
    """
    keys = sum(times for _, times in moves)

    def test(threshold: int) -> tuple[bool, float]:
        chances = [(tail(threshold - move, COARSE_BITS), times) for move, times in moves]
        holds = any_passes_at_most(chances, delta)
        if not holds and not any_passes_more_often(chances, delta):
            chances = [(tail(threshold - move, TAIL_BITS), times) for move, times in moves]
            holds = any_passes_at_most(chances, delta)
        expected = sum(chance[1] * times for chance, times in chances)
        return holds, -deviations(expected, keys << TAIL_BITS)

    return least_that_holds(test, -deviations(delta.numerator, delta.denominator * keys))


def deviations(numerator: int, denominator: int) -> float:
    """Return about how many standard deviations from the mean a normal law has this probability below.

    It guides searches and decides nothing.
    """
    if 2 * numerator > denominator:
        return -deviations(max(denominator - numerator, 0), denominator)
    if numerator << 900 < denominator:  # beyond the range of floats: as far out as the square root says
        return -sqrt(2 * (log(denominator) - log(max(numerator, 1))))
    return NormalDist().inv_cdf(numerator / denominator)


def least_that_holds(test: Callable[[int], tuple[bool, float]], wanted: float) -> int:
    """Return the least n >= 1 at which a test holds that holds from there on.

    The next n to try lies where a line through the last two scores says, and now and then in the middle: the
    result is that of bisection, after some five tests where scores lie on a line, and never after more than
    eight times as many as bisection takes.

    Parameters
    ----------
    test : callable
        Returns whether it holds, and a finite score that is about linear in n.
    wanted : float
        The score from which on the test holds, nearly.
    """
    lower, upper, candidate = 0, 0, 1  # an upper end of 0 is not known yet
    before: tuple[int, float] | None = None
    step = 0
    while upper - lower != 1:
        holds, score = test(candidate)
        lower, upper = (lower, candidate) if holds else (candidate, upper)
        guess, step = 0, step + 1
        if before is not None and score != before[1]:
            slope = (candidate - before[0]) / (score - before[1])
            guess = ceil(min(max(candidate + (wanted - score) * slope, 0.0), 1e18))
        before = candidate, score
        if not upper:
            candidate = max(2 * lower, min(guess, 128 * lower))
        elif step % 8 == 0 or not guess:
            candidate = (lower + upper) // 2
        else:
            candidate = min(max(guess, lower + 1), upper - 1)
    return upper
