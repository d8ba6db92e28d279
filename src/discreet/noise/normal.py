"""Certified bounds on the normal law: its upper tail Q(x) = P(Y > x).

For x >= 0, 1/2 - Q(x) = phi(x) (x + x^3/3 + x^5/(3 5) + …), a series of positive terms whose
ratio x^2 / (2 k + 1) is known: sums are rounded down and up, and what is left out is bounded by a
geometric series. Far out Q(x) <= exp(-x^2 / 2) / 2 says all.
"""

from __future__ import annotations

from discreet.noise.elementary import exponential_minus, pi, square_root
from discreet.noise.enclosure import Enclosure

__all__ = ["upper_tail"]

_GUARD_BITS = 24
_NARROW = 4
"""Over so many units Q falls by less than two, as its slope is at most 2/5: one series does for both ends."""


def upper_tail(x: Enclosure, bits: int) -> Enclosure:
    """Enclose Q(x) = P(Y > x) of a number x of any sign, given at `bits` bits, at `bits` bits."""
    if x[1] < 0:
        low, high = upper_tail((-x[1], -x[0]), bits)
        return (1 << bits) - high, (1 << bits) - low
    if x[0] < 0:
        # The number may have either sign: Q falls with a slope of at most 2/5.
        return (1 << (bits - 1)) - x[1], (1 << (bits - 1)) - x[0]
    low, high = _tail_of(x[0], bits)
    doubt = x[1] - x[0]
    if doubt > _NARROW:
        return _tail_of(x[1], bits)[0], high
    return max(low - -(-2 * doubt // 5), 0), high


def _tail_of(n: int, bits: int) -> Enclosure:
    """Enclose Q(n / 2^bits), n >= 0."""
    square = n * n
    if square >> (2 * bits) >= 2 * bits:  # exp(-x^2 / 2) / 2 < 2^-bits
        return 0, 1
    working = bits + _GUARD_BITS + (square >> (2 * bits))  # the sum is up to exp(x^2 / 2) < 2^(x^2)
    shift = working - bits
    x = n << shift
    squared = (x * x) >> working, -((-x * x) >> working)
    low, high = _series(x, squared, working)
    half = squared[0] >> 1, -(-squared[1] >> 1)
    peak = exponential_minus(half, working)
    circle = pi(working)
    root = square_root((2 * circle[0], 2 * circle[1]), working)
    below = (low * peak[0] >> working) * (1 << working) // root[1]
    above = -(-(-(-high * peak[1] >> working) * (1 << working)) // root[0])
    one_half = 1 << (working - 1)
    return max((one_half - above) >> shift, 0), -(-(one_half - below) >> shift)


def _series(x: int, squared: Enclosure, bits: int) -> Enclosure:
    """Enclose x + x^3/3 + x^5/15 + …, until the terms fall by half or more and are below a unit."""
    low_term = high_term = low = high = x
    order = 3
    while high_term > 1 or 2 * squared[1] > order << bits:
        low_term = (low_term * squared[0] >> bits) // order
        high_term = -((-high_term * squared[1] >> bits) // order)
        low, high = low + low_term, high + high_term
        order += 2
    return low, high + 2 * high_term
