"""Vectors with a density in proportion to exp(-|x| / scale), |x| the Euclidean length, rounded exactly.

Such a vector is a length with the law Gamma(size, scale) times a direction with the uniform law. The length
is the sum of -log U over as many uniform numbers. For the direction, a point (a, b) of the quarter of the
unit disk, with s = a^2 + b^2, and signs, gives two independent normal numbers a sqrt(-2 log s / s) and b
sqrt(-2 log s / s) (the polar method). So roots and logarithms are all that it takes, and these are enclosed
by integers (`elementary`).

Every uniform number is revealed bit by bit: 128 bits at first. Where the enclosure of a coordinate holds a
border between two integers, all are revealed further, until the nearest integers are beyond doubt. So what is
drawn is the rounding of the ideal vector itself, and v + round(X) = round(v + X) for integers v: what a
theorem says about the real-valued law holds for the integers (docs/proofs/output_perturbation.md, lemma 3).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.noise.elementary import logarithm, square_root
from discreet.noise.enclosure import Enclosure, product, quotient
from discreet.noise.parameters import check_draws, check_rational

if TYPE_CHECKING:
    from discreet.noise.entropy import Source

__all__ = ["LARGEST_LENGTH_SCALE", "sample_euclidean"]

LARGEST_LENGTH_SCALE = Fraction(2**44)
"""The largest scale, in steps of the grid."""

_FIRST_BITS = 128
_MORE_BITS = 64


class _Uniform:
    """A uniform number in [0, 1), of which as many bits are drawn as anybody asks for."""

    __slots__ = ("_bits", "_known", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._bits = self._known = 0

    def begin(self, bits: int) -> int:
        """Return the first bits of it, as an integer: the number is in [it, it + 1) / 2^bits."""
        while self._known < bits:
            self._bits = (self._bits << _MORE_BITS) | self._source.bits(_MORE_BITS)
            self._known += _MORE_BITS
        return self._bits >> (self._known - bits)


_Point = tuple[_Uniform, _Uniform]


def sample_euclidean(scale: Fraction, size: int, source: Source) -> list[int]:
    """Draw the nearest integers to a vector X of `size` numbers with density ~ exp(-|X| / scale), exactly.

    Parameters
    ----------
    scale : Fraction or int
        Positive, up to 2^44, in steps of the grid: the mean of |X| is size times scale.
    size : int
        How many coordinates the vector has.
    source : Source
        Where the words come from.
    """
    scale, size = check_rational(scale, "scale"), check_draws(size)
    if not 0 < scale <= LARGEST_LENGTH_SCALE:
        raise ParameterError("scale", "is out of range", "a positive rational up to 2^44 grid steps")
    logarithms = [_Uniform(source) for _ in range(size)]
    points = [_point(source) for _ in range((size + 1) // 2)]
    signs = source.bits(64 * (size // 64 + 1))
    bits = _FIRST_BITS
    while (found := _nearest(scale, logarithms, points, bits)) is None:
        bits += _MORE_BITS
    # Integers of any size: a noise that is cut off is not private where it is added to another number.
    return [-one if signs >> place & 1 else one for place, one in enumerate(found)]


def _point(source: Source) -> _Point:
    """Draw a uniform point of the quarter disk: points of the square, until one is inside."""
    while True:
        point = _Uniform(source), _Uniform(source)
        if _inside(point):
            return point


def _inside(point: _Point) -> bool:
    """Return whether a^2 + b^2 < 1: as many bits as decide it."""
    bits = _FIRST_BITS
    while True:
        low, high = _squared_length(point, bits)
        if high <= 1 << (2 * bits):
            return True
        if low >= 1 << (2 * bits):
            return False
        bits += _MORE_BITS


def _squared_length(point: _Point, bits: int) -> Enclosure:
    """Enclose s = a^2 + b^2 at twice as many bits."""
    a, b = (one.begin(bits) for one in point)
    return a * a + b * b, (a + 1) ** 2 + (b + 1) ** 2


def _nearest(
    scale: Fraction, logarithms: list[_Uniform], points: list[_Point], bits: int
) -> list[int] | None:
    """Return the nearest integers to the absolute coordinates, or None where so few bits do not decide.

    With L = -log s of a point, a coordinate of the direction is sqrt(a^2 / s L / Q), Q the sum of the squares
    a^2 / s L of all coordinates.
    """
    if any(one.begin(bits) == 0 for one in logarithms) or any(
        _squared_length(point, bits)[0] >> bits == 0 for point in points
    ):
        return None  # a number that may be 0 has no logarithm yet
    total = _sum(_falling((one.begin(bits), one.begin(bits) + 1), bits) for one in logarithms)
    squares = [square for point in points for square in _squares(point, bits)][: len(logarithms)]
    whole = _sum(squares)
    if whole[0] <= 0:
        return None
    found = []
    for square in squares:
        low, high = product(square_root(quotient(square, whole, bits), bits), total, bits)
        # the nearest integer to scale times it
        least = (2 * low * scale.numerator + (scale.denominator << bits)) // (scale.denominator << (bits + 1))
        most = (2 * high * scale.numerator + (scale.denominator << bits)) // (scale.denominator << (bits + 1))
        if least != most:
            return None
        found.append(least)
    return found


def _squares(point: _Point, bits: int) -> tuple[Enclosure, Enclosure]:
    """Enclose a^2 / s L and b^2 / s L."""
    low, high = _squared_length(point, bits)
    fall = _falling((low >> bits, -(-high >> bits)), bits)
    first, second = (one.begin(bits) for one in point)
    return (
        product(quotient((first * first, (first + 1) ** 2), (low, high), bits), fall, bits),
        product(quotient((second * second, (second + 1) ** 2), (low, high), bits), fall, bits),
    )


def _falling(a: Enclosure, bits: int) -> Enclosure:
    """Enclose -log(a) of a number a of at most 1."""
    low, high = logarithm((a[0], min(a[1], 1 << bits)), bits)
    return max(-high, 0), -low


def _sum(numbers: Iterable[Enclosure]) -> Enclosure:
    least = most = 0
    for low, high in numbers:
        least, most = least + low, most + high
    return least, most
