"""Certified bounds on exponentials, in integers.

An enclosure of a real number a at `bits` bits is a pair of integers (low, high) with
low <= a 2^bits <= high. All arithmetic here is on Python integers with directed rounding,
so an enclosure is a proof, not an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Enclosure", "exponential", "product", "products", "quotient"]

Enclosure = tuple[int, int]

_GUARD_BITS = 32


def product(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    """Enclose a product of two non-negative numbers."""
    return (a[0] * b[0]) >> bits, -((-a[1] * b[1]) >> bits)


def products(numbers: Sequence[Enclosure], factor: Enclosure, bits: int, fewer: int) -> list[Enclosure]:
    """Enclose the product of each of some non-negative numbers with one factor, at no more than `fewer` bits.

    Rounding to fewer bits at once loses no more than rounding twice.
    """
    least, most = factor
    shift = 2 * bits - fewer
    return [((low * least) >> shift, -((-high * most) >> shift)) for low, high in numbers]


def quotient(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    """Enclose a quotient of a non-negative by a positive number."""
    return (a[0] << bits) // b[1], -((-a[1] << bits) // b[0])


def exponential(x: Fraction, bits: int) -> Enclosure:
    """Enclose exp(-x) for a rational x >= 0.

    The argument is halved until it is at most 1/2, the alternating Taylor series is summed
    with every term rounded down and up, and the sum is squared back. An alternating series
    with decreasing terms lies between any two of its consecutive partial sums, so the
    first term that is left out bounds what is left out.

    For x > bits the answer is (0, 1): exp(-x) < 2^-bits.
    """
    if x > bits:
        return 0, 1
    halvings = max(0, (2 * x.numerator // x.denominator).bit_length())
    working = bits + 2 * halvings + _GUARD_BITS
    numerator, denominator = x.numerator, x.denominator << halvings
    one = 1 << working
    term: Enclosure = (one, one)
    total: Enclosure = (one, one)
    order = 0
    while term[1] > 1:
        order += 1
        term = term[0] * numerator // (denominator * order), -(-term[1] * numerator // (denominator * order))
        if order % 2:
            total = total[0] - term[1], total[1] - term[0]
        else:
            total = total[0] + term[0], total[1] + term[1]
    total = max(total[0] - term[1], 0), total[1] + term[1]
    for _ in range(halvings):
        total = product(total, total, working)
    return total[0] >> (working - bits), min(-(-total[1] >> (working - bits)), 1 << bits)
