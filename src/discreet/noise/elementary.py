"""Certified bounds on roots, logarithms, arc tangents and exponentials, in integers.

An `Enclosure` of a real number a at `bits` bits is a pair of integers (low, high) with
low <= a 2^bits <= high (see `enclosure`). The functions here take enclosures and return
enclosures: the image of every number that the argument encloses lies in the result. Series are
summed with directed rounding, and what is left out of them is bounded and added.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from discreet.noise.enclosure import Enclosure, exponential

__all__ = [
    "arctangent",
    "enclose",
    "exponential_minus",
    "exponential_plus",
    "log_two",
    "logarithm",
    "pi",
    "rational_root",
    "square_root",
]

_GUARD_BITS = 16
_HALVINGS = 4


def enclose(x: Fraction, bits: int) -> Enclosure:
    """Enclose a rational number."""
    low, rest = divmod(x.numerator << bits, x.denominator)
    return low, low + (rest > 0)


def square_root(a: Enclosure, bits: int) -> Enclosure:
    """Enclose the square root of a non-negative number."""
    low, high = max(a[0], 0) << bits, a[1] << bits
    root = isqrt(high)
    return isqrt(low), root + (root * root < high)


def rational_root(x: Fraction, bits: int) -> Enclosure:
    """Enclose the square root of a rational x >= 0, to one unit."""
    scaled, rest = divmod(x.numerator << (2 * bits), x.denominator)
    root = isqrt(scaled)
    return root, root + (rest > 0 or root * root < scaled)


def exponential_minus(a: Enclosure, bits: int) -> Enclosure:
    """Enclose exp(-a) of a number a >= 0.

    One series, at the lower end: exp(-(a + w)) >= exp(-a) (1 - w).
    """
    low = max(a[0], 0)
    start = exponential(Fraction(low, 1 << bits), bits)
    width = min(max(a[1] - low, 0), 1 << bits)
    return (start[0] * ((1 << bits) - width)) >> bits, start[1]


def exponential_plus(a: Enclosure, bits: int) -> Enclosure:
    """Enclose exp(a) of a number a >= 0, to about `bits` bits after the point."""
    whole = (a[1] >> bits) + 1
    working = bits + 3 * whole + _GUARD_BITS  # exp(whole) < 2^(3 whole / 2), and it enters squared
    shift = working - bits
    inverse = exponential_minus((a[0] << shift, a[1] << shift), working)
    one = 1 << (working + bits)
    return one // inverse[1], -(-one // inverse[0])


@lru_cache(maxsize=64)
def pi(bits: int) -> Enclosure:
    """Enclose pi by Machin's formula: 16 arctan(1/5) - 4 arctan(1/239)."""
    working = bits + _GUARD_BITS
    a, b = _inverse_arctangent(5, working), _inverse_arctangent(239, working)
    return (16 * a[0] - 4 * b[1]) >> _GUARD_BITS, -((4 * b[0] - 16 * a[1]) >> _GUARD_BITS)


def _inverse_arctangent(n: int, bits: int) -> Enclosure:
    """Enclose arctan(1/n), n >= 2: an alternating series of unit fractions with decreasing terms."""
    low = high = 0
    power, order = n, 0
    while (term := (1 << bits) // (power * (2 * order + 1))) > 0:
        if order % 2:
            low, high = low - term - 1, high - term
        else:
            low, high = low + term, high + term + 1
        power, order = power * n * n, order + 1
    return low - 1, high + 1


@lru_cache(maxsize=64)
def log_two(bits: int) -> Enclosure:
    """Enclose log 2 = 2 artanh(1/3)."""
    working = bits + _GUARD_BITS
    third = _artanh(((1 << working) // 3, (1 << working) // 3 + 1), working)
    return third[0] >> (_GUARD_BITS - 1), -(-third[1] >> (_GUARD_BITS - 1))


def _artanh(u: Enclosure, bits: int) -> Enclosure:
    """Enclose artanh(u) for 0 <= u <= 1/2: u + u^3/3 + …; what follows a term is at most a third of it."""
    low, high = _odd_series(u[0], bits, upward=False), _odd_series(u[1], bits, upward=True)
    return low, high


def _odd_series(u: int, bits: int, *, upward: bool) -> int:
    square = -((-u * u) >> bits) if upward else (u * u) >> bits
    power, total, order = u, u, 3
    while power > 1:
        power = -((-power * square) >> bits) if upward else (power * square) >> bits
        total += -(-power // order) if upward else power // order
        order += 2
    return total + 2 if upward else total


def logarithm(a: Enclosure, bits: int) -> Enclosure:
    """Enclose log(a) of a positive number; a lower end of 0 is refused by ZeroDivisionError."""
    if a[0] <= 0:
        raise ZeroDivisionError("the logarithm of an enclosure that reaches zero")
    return _logarithm_of(a[0], bits)[0], _logarithm_of(a[1], bits)[1]


def _logarithm_of(n: int, bits: int) -> Enclosure:
    """Enclose log(n / 2^bits): n = 2^e m with m in [2/3, 4/3), and log m = 2 artanh((m - 1) / (m + 1))."""
    size = n.bit_length()
    exponent = size if 3 * n >= 1 << (size + 1) else size - 1  # so that 2/3 <= n / 2^exponent < 4/3
    working = bits + _GUARD_BITS + abs(exponent - bits).bit_length()
    shift = working - bits
    numerator, denominator = n - (1 << exponent), n + (1 << exponent)
    magnitude = (abs(numerator) << working) // denominator
    part = _artanh((magnitude, magnitude + 1), working)
    if numerator < 0:
        part = -part[1], -part[0]
    two = log_two(working)
    count = exponent - bits
    low = 2 * part[0] + (count * two[0] if count >= 0 else count * two[1])
    high = 2 * part[1] + (count * two[1] if count >= 0 else count * two[0])
    return low >> shift, -(-high >> shift)


def arctangent(a: Enclosure, bits: int) -> Enclosure:
    """Enclose arctan(a) of a number a >= 0."""
    return _arctangent_of(max(a[0], 0), bits)[0], _arctangent_of(max(a[1], 0), bits)[1]


def _arctangent_of(n: int, bits: int) -> Enclosure:
    """Enclose arctan(n / 2^bits).

    Above 1 it is pi/2 - arctan(1/x). Then arctan(x) = 2 arctan(x / (1 + sqrt(1 + x^2))) halves the
    angle until the alternating series is short.
    """
    one = 1 << bits
    if n > one:
        inverse = (one * one) // n
        low, high = arctangent((inverse, inverse + 1), bits)
        half = pi(bits + 1)
        return (half[0] >> 2) - high, -(-half[1] >> 2) - low
    working = bits + _GUARD_BITS
    unit = 1 << working
    x: Enclosure = (n << _GUARD_BITS, n << _GUARD_BITS)
    for _ in range(_HALVINGS):
        square = (x[0] * x[0]) >> working, -((-x[1] * x[1]) >> working)
        root = square_root((unit + square[0], unit + square[1]), working)
        x = (x[0] << working) // (unit + root[1]), -((-x[1] << working) // (unit + root[0]))
    low, high = _alternating(x[0], working)[0], _alternating(x[1], working)[1]
    shift = _GUARD_BITS - _HALVINGS
    return max(low >> shift, 0), -(-high >> shift)


def _alternating(u: int, bits: int) -> Enclosure:
    """Enclose u - u^3/3 + u^5/5 - … for 0 <= u <= 1/2: the first term left out bounds the rest."""
    square = ((u * u) >> bits, -((-u * u) >> bits))
    power: Enclosure = (u, u)
    low = high = u
    order = 3
    while power[1] > 1:
        power = (power[0] * square[0]) >> bits, -((-power[1] * square[1]) >> bits)
        term = power[0] // order, -(-power[1] // order)
        if order % 4 == 3:
            low, high = low - term[1], high - term[0]
        else:
            low, high = low + term[0], high + term[1]
        order += 2
    return low - power[1], high + power[1]
