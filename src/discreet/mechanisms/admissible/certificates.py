"""Bounds on the formulas of the guarantees: rationals of a few digits, each on its stated side."""

from __future__ import annotations

from fractions import Fraction

from discreet.noise.elementary import enclose, exponential_minus, exponential_plus
from discreet.noise.enclosure import Enclosure

__all__ = [
    "BITS",
    "exponential_of",
    "hyperbolic_cosine",
    "root_below",
    "rounded_down",
    "rounded_up",
    "short_above",
    "short_below",
]

BITS = 320
"""Precision of every bound, before it is rounded to digits."""

_DIGITS = 15


def rounded_down(x: Fraction) -> Fraction:
    """Return the largest number of fifteen significant digits that is at most x, for x >= 0."""
    return _rounded(x, up=False)


def rounded_up(x: Fraction) -> Fraction:
    """Return the smallest number of fifteen significant digits that is at least x, for x >= 0."""
    return _rounded(x, up=True)


def _rounded(x: Fraction, *, up: bool) -> Fraction:
    if x <= 0:
        return Fraction(0)
    # A power of ten near x: a bit is three tenths of a digit.
    exponent = (x.numerator.bit_length() - x.denominator.bit_length()) * 3 // 10 - _DIGITS
    unit = Fraction(10) ** exponent
    steps = x / unit
    return (steps.__ceil__() if up else steps.__floor__()) * unit


def short_below(a: Enclosure) -> Fraction:
    """Return a short rational below an enclosed number, or 0 if it may be negative."""
    return rounded_down(Fraction(a[0], 1 << BITS))


def short_above(a: Enclosure) -> Fraction:
    """Return a short rational above an enclosed non-negative number."""
    return rounded_up(Fraction(max(a[1], 1), 1 << BITS))


def exponential_of(x: Fraction) -> Enclosure:
    """Enclose exp(x) for a rational x of either sign."""
    if x > 0:
        return exponential_plus(enclose(x, BITS), BITS)
    return exponential_minus(enclose(-x, BITS), BITS)


def hyperbolic_cosine(x: Fraction) -> Enclosure:
    """Enclose cosh(x)."""
    up, down = exponential_of(abs(x)), exponential_of(-abs(x))
    return (up[0] + down[0]) // 2, -(-(up[1] + down[1]) // 2)


def root_below(n: int, order: int) -> int:
    """Return floor(n^(1 / order)) for an integer n >= 0, by Newton's method from above."""
    if n <= 0:
        return 0
    root = 1 << -(-n.bit_length() // order)
    while (lower := ((order - 1) * root + n // root ** (order - 1)) // order) < root:
        root = lower
    return root
