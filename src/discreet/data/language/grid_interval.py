"""Ranges of numbers under calculations: their ends and their grid, if the operands stay within theirs.

An end that is None is not known. The step s says that the values are multiples of s; 0 is a multiple of
everything, and None says that nothing is known. Data may break what is declared about them, and doubles are
rounded: values are clipped to the resulting bounds once more in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, floor, gcd, isqrt

from discreet.data.language.declarations import LARGEST_BOUND_STEPS, Bounds
from discreet.data.language.types import Type
from discreet.errors import ParameterError
from discreet.records import dataclass

__all__ = ["UNKNOWN", "GridInterval", "bounds_of", "constant", "hull"]

_DEFAULT_STEPS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GridInterval:
    """What is known about some numbers."""

    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None

    def plus(self, other: GridInterval) -> GridInterval:
        """Return the range of sums."""
        return GridInterval(
            low=None if self.low is None or other.low is None else self.low + other.low,
            high=None if self.high is None or other.high is None else self.high + other.high,
            step=_common(self.step, other.step),
        )

    def negative(self) -> GridInterval:
        """Return the range of the numbers with their signs changed."""
        return GridInterval(
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            step=self.step,
        )

    def times(self, other: GridInterval) -> GridInterval:
        """Return the range of products."""
        step = None if self.step is None or other.step is None else self.step * other.step
        ends = (self.low, self.high, other.low, other.high)
        if None not in ends:
            products = [one * two for one in (self.low, self.high) for two in (other.low, other.high)]  # type: ignore[operator]
            return GridInterval(low=min(products), high=max(products), step=step)
        for one, two in ((self, other), (other, self)):
            if two.low is not None and two.low == two.high:
                return _scaled(one, two.low, step)
        if self.low is not None and other.low is not None and self.low >= 0 and other.low >= 0:
            return GridInterval(low=self.low * other.low, step=step)
        return GridInterval(step=step)

    def over(self, other: GridInterval) -> GridInterval:
        """Return the range of quotients, if the divisors keep away from 0; at 0 there is none.

        Of numbers that are not negative, so are the quotients.
        """
        if other.high is not None and other.high < 0:
            return self.negative().over(other.negative())
        if other.low == 0 and self.low is not None and self.low >= 0:
            return GridInterval(low=Fraction(0))
        if other.low is None or other.low <= 0:
            return UNKNOWN
        inverse = GridInterval(low=Fraction(0) if other.high is None else 1 / other.high, high=1 / other.low)
        found = self.times(inverse)
        exact = other.low == other.high and self.step is not None
        return GridInterval(low=found.low, high=found.high, step=self.step / other.low if exact else None)  # type: ignore[operator]

    def magnitude(self) -> GridInterval:
        """Return the range of magnitudes."""
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return self.negative()
        high = None if self.low is None or self.high is None else max(-self.low, self.high)
        return GridInterval(low=Fraction(0), high=high, step=self.step)

    def rounded(self, step: Fraction) -> GridInterval:
        """Return the range after rounding, in any direction, to multiples of a step."""
        if self.step is not None and (self.step / step).denominator == 1:
            return self
        return GridInterval(
            low=None if self.low is None else floor(self.low / step) * step,
            high=None if self.high is None else ceil(self.high / step) * step,
            step=step,
        )

    def root(self) -> GridInterval:
        """Return the range of square roots, of numbers that are not negative."""
        low = Fraction(0) if self.low is None or self.low < 0 else _root(self.low)
        return GridInterval(
            low=low, high=None if self.high is None else _root(max(self.high, Fraction(0))) + _FINE
        )

    def within(self, low: Fraction | None, high: Fraction | None) -> GridInterval:
        """Return what is left of the range between two further ends."""
        return GridInterval(
            low=_tighter(max, self.low, low), high=_tighter(min, self.high, high), step=self.step
        )


UNKNOWN = GridInterval()
_FINE = Fraction(1, 1 << 20)


def constant(value: Fraction) -> GridInterval:
    """Return the range of one number."""
    return GridInterval(low=value, high=value, step=abs(value))


def hull(ranges: Sequence[GridInterval]) -> GridInterval:
    """Return the range of numbers that come from one of several."""
    return GridInterval(
        low=_outer(min, (one.low for one in ranges)),
        high=_outer(max, (one.high for one in ranges)),
        step=_common(*(one.step for one in ranges)),
    )


def bounds_of(found: GridInterval, kind: Type) -> Bounds | None:
    """Return bounds and a grid for numbers of a range, if both its ends are known.

    Integers have a whole step. Where no exact grid is known, or it would have too many points, the step is
    the power of ten that is about 2^-20 of the width.
    """
    if found.low is None or found.high is None:
        return None
    low, high, step = found.low, found.high, found.step
    if low == high:  # bounds have a width, and zero in them costs nothing
        low, high = (min(low, Fraction(0)), max(high, Fraction(0))) if low else (low, Fraction(1))
        step = step or Fraction(1)
    whole = kind is Type.INTEGER
    if whole and (not step or step.denominator != 1):
        step = Fraction(1)
    largest = max(abs(low), abs(high))
    if not step or largest / step > LARGEST_BOUND_STEPS:
        step = _default_step(high - low, largest)
        if whole:
            step = max(step, Fraction(1))
    try:
        return Bounds(floor(low / step) * step, ceil(high / step) * step, step=step)
    except ParameterError:
        return None


def _default_step(width: Fraction, largest: Fraction) -> Fraction:
    step, wanted = Fraction(1), width / _DEFAULT_STEPS
    while step > wanted:
        step /= 10
    while step * 10 <= wanted or largest / step > LARGEST_BOUND_STEPS // 2:
        step *= 10
    return step


def _scaled(one: GridInterval, factor: Fraction, step: Fraction | None) -> GridInterval:
    ends = [None if end is None else end * factor for end in (one.low, one.high)]
    if factor == 0:
        return constant(Fraction(0))
    low, high = ends if factor > 0 else reversed(ends)
    return GridInterval(low=low, high=high, step=step)


def _common(*steps: Fraction | None) -> Fraction | None:
    """Return the greatest step of which all are multiples; 0 is a multiple of every step."""
    found = Fraction(0)
    for step in steps:
        if step is None:
            return None
        found = Fraction(
            gcd(found.numerator * step.denominator, step.numerator * found.denominator),
            found.denominator * step.denominator,
        )
    return found


def _outer(
    choose: Callable[[Sequence[Fraction]], Fraction], ends: Iterable[Fraction | None]
) -> Fraction | None:
    listed = list(ends)
    known = [end for end in listed if end is not None]
    return None if len(known) < len(listed) else choose(known)


def _tighter(
    choose: Callable[[Sequence[Fraction]], Fraction], one: Fraction | None, other: Fraction | None
) -> Fraction | None:
    known = [end for end in (one, other) if end is not None]
    return choose(known) if known else None


def _root(value: Fraction) -> Fraction:
    """Return a number that is at most a root, and less than 2^-20 below it."""
    return Fraction(isqrt(floor(value * (1 << 40))), 1 << 20)
