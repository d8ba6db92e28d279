"""Certified masses of a normal law on cells of width one: what rounding makes of it.

X is normal with mean 0 and a rational variance v. Rounded to the nearest integer it is k with the mass
P(k - 1/2 <= X < k + 1/2). Near the middle of a wide law these masses are close to each other; a
difference of two tails for each of them would cost a long series for each. Instead, with y = k / (2 v) and
e = 1 / (8 v),

    mass(k) = exp(-k^2 / (2 v)) / sqrt(2 pi v) * sum over m of y^(2 m) / (2 m)! * J_m,
    J_m = sum over j of (-e)^j / (j! (2 m + 2 j + 1)),

where only y depends on k (docs/proofs/rounded_gaussian_sampler.md, lemma 1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from discreet.noise.elementary import enclose, pi, rational_root, square_root
from discreet.noise.enclosure import Enclosure, exponential, product, quotient
from discreet.noise.normal import upper_tail

__all__ = ["cell_average", "cell_masses", "root_of_two_pi", "tail_from"]

_GUARD_BITS = 32
_LEAST_SUMMED = 1
"""The variance from which the series above is short: y is at most 5 for all masses that matter."""


def tail_from(variance: Fraction, edge: Fraction, bits: int) -> Enclosure:
    """Enclose P(X >= edge), for an edge of any sign."""
    if edge < 0:
        low, high = tail_from(variance, -edge, bits)
        return (1 << bits) - high, (1 << bits) - low
    return upper_tail(rational_root(edge * edge / variance, bits), bits)


def cell_masses(variance: Fraction, count: int, bits: int) -> list[Enclosure]:
    """Enclose P(k - 1/2 <= X < k + 1/2) for k = 0, …, count - 1."""
    if variance < _LEAST_SUMMED:
        edges = [tail_from(variance, k - Fraction(1, 2), bits) for k in range(count + 1)]
        return [(max(near[0] - far[1], 0), near[1] - far[0]) for near, far in pairwise(edges)]
    working = bits + _GUARD_BITS
    root = root_of_two_pi(variance, working)
    first = exponential(1 / (2 * variance), working)
    step = product(first, first, working)
    weight, ratio = (1 << working, 1 << working), first
    averages = _moments(variance, working)
    masses = []
    for k in range(count):
        mass = quotient(product(weight, _average(k, variance, averages, working), working), root, working)
        masses.append((mass[0] >> _GUARD_BITS, -(-mass[1] >> _GUARD_BITS)))
        weight = product(weight, ratio, working)
        ratio = product(ratio, step, working)
    return masses


def cell_average(left: Fraction, base: Fraction, variance: Fraction, bits: int) -> Enclosure:
    """Enclose the mean of exp(-((left + u)^2 - base) / (2 variance)) over u from 0 to 1; left, base >= 0.

    It is exp(base / (2 v)) sqrt(2 pi v) (P(X >= left) - P(X >= left + 1)): the tails are computed to as many
    more bits as the factor before them takes.
    """
    exponent = base / (2 * variance)
    spread = variance.numerator.bit_length() - variance.denominator.bit_length()
    # exp(x) < 2^(3 x / 2), and sqrt(2 pi v) < 2^(2 + spread) for v >= 1
    working = bits + 3 * int(exponent + 1) // 2 + 3 + max(spread, 0) + _GUARD_BITS
    near, far = (tail_from(variance, edge, working) for edge in (left, left + 1))
    between = max(near[0] - far[1], 0), near[1] - far[0]
    whole = product(between, root_of_two_pi(variance, working), working)
    low, high = quotient(whole, exponential(exponent, working), working)
    return low >> (working - bits), -(-high >> (working - bits))


@lru_cache(maxsize=64)
def root_of_two_pi(variance: Fraction, bits: int) -> Enclosure:
    """Enclose sqrt(2 pi variance)."""
    circle, times = pi(bits), enclose(2 * variance, bits)
    return square_root(product(circle, times, bits), bits)


def _moments(variance: Fraction, bits: int) -> list[Enclosure]:
    """Enclose J_0, J_1, …, as many as any mass takes: alternating sums with decreasing terms.

    With v >= 1, e <= 1/8 and a sum lies between any two of its consecutive partial sums.
    """
    terms: list[Enclosure] = [(1 << bits, 1 << bits)]
    numerator, denominator = variance.denominator, 8 * variance.numerator
    while terms[-1][1] > 1:
        order = len(terms) * denominator
        low, high = terms[-1]
        terms.append((low * numerator // order, -(-high * numerator // order)))
    moments = []
    for m in range(_longest(bits)):
        low = high = 0
        for j, term in enumerate(terms):
            order = 2 * m + 2 * j + 1
            below, above = term[0] // order, -(-term[1] // order)
            low, high = (low - above, high - below) if j % 2 else (low + below, high + above)
        moments.append((low - 1, high + 1))
    return moments


def _longest(bits: int) -> int:
    """Return how many terms suffice for y <= 6: 6^(2 m) / (2 m)! is below 2^-bits from there on."""
    m, term = 0, Fraction(1)
    while term * (1 << bits) >= 1 or m < 6:
        m += 1
        term *= Fraction(36, (2 * m - 1) * (2 * m))
    return m


def _average(k: int, variance: Fraction, moments: list[Enclosure], bits: int) -> Enclosure:
    """Enclose the sum over m of y^(2 m) / (2 m)! J_m: all terms are positive.

    J_m <= 1, and from m >= 6 on, where y <= 6, a factor is at most 36 / (13 * 14) < 1/4: what follows is less
    than the last factor.
    """
    square = enclose(Fraction(k * k) / (4 * variance * variance), bits)
    if square[1] > 36 << bits:
        raise ArithmeticError("a mass so far out is not summed")
    factor: Enclosure = (1 << bits, 1 << bits)
    low = high = 0
    for m, moment in enumerate(moments):
        low += factor[0] * moment[0] >> bits
        high += -((-factor[1] * moment[1]) >> bits)
        if factor[1] <= 1 and m >= 6:
            break
        order = (2 * m + 1) * (2 * m + 2)
        factor = (
            (factor[0] * square[0] >> bits) // order,
            -(((-factor[1] * square[1]) >> bits) // order),
        )
    return low, high + factor[1] + 1
