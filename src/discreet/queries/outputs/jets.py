"""Numbers with their first and second derivatives by the noisy integers that they are made of, in intervals.

A jet holds, for every group, what a function can be on a box of integers, what its derivatives can be, and
how large its second derivatives can be in magnitude. (Proof: delta_method, lemma 2.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.array_types import Floats
from discreet.privacy.rational import float_above, float_below
from discreet.queries.outputs.float_interval import FloatInterval, product
from discreet.records import dataclass

__all__ = [
    "Jet",
    "between",
    "difference",
    "divided_by",
    "inverse",
    "public_number",
    "repeated",
    "root_of",
    "total_of",
    "variables",
]

_SLACK = 1 + 2.0**-40
"""More than the roundings of the sums and products that bound a second derivative."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Jet:
    """What a function and its derivatives can be on a box.

    Attributes
    ----------
    value : FloatInterval
        The function, in every group.
    slopes : FloatInterval
        Its derivatives: a row for each variable, a column for each group.
    bends : array
        Bounds on the magnitudes of its second derivatives, by both variables and the group.
    """

    value: FloatInterval
    slopes: FloatInterval
    bends: Floats

    def __mul__(self, other: Jet) -> Jet:
        """Return the product: (u v)'' = u v'' + v u'' + u' v' + v' u'."""
        sizes, others = _largest(self.slopes), _largest(other.slopes)
        crossed = sizes[:, None] * others[None, :]
        bends = _largest(self.value) * other.bends + _largest(other.value) * self.bends
        return Jet(
            value=product(self.value, other.value),
            slopes=_sum(product(self.slopes, other.value), product(other.slopes, self.value)),
            bends=(bends + crossed + crossed.transpose(1, 0, 2)) * _SLACK,
        )


def variables(lows: Sequence[Floats], values: Sequence[Floats], highs: Sequence[Floats]) -> list[Jet]:
    """Return the integers themselves, which are between two numbers."""
    many, groups = len(lows), len(values[0])
    found = []
    for place, (low, value, high) in enumerate(zip(lows, values, highs, strict=True)):
        own = np.zeros((many, groups))
        own[place] = 1.0
        ends = FloatInterval(low=low, value=value, high=high).widened()
        found.append(Jet(value=ends, slopes=_same(own), bends=np.zeros((many, many, groups))))
    return found


def public_number(number: Fraction | int, like: Jet) -> Jet:
    """Return a number that depends on nothing."""
    groups, exact = np.ones(like.value.value.shape), Fraction(number)
    value = FloatInterval(
        low=float_below(exact) * groups, value=float(exact) * groups, high=float_above(exact) * groups
    )
    return between(value, like)


def between(value: FloatInterval, like: Jet) -> Jet:
    """Return fixed numbers that are known within ends, and that depend on no variable."""
    slopes = _same(np.zeros(like.slopes.value.shape))
    return Jet(value=value, slopes=slopes, bends=np.zeros(like.bends.shape))


def repeated(one: Jet, times: int) -> Jet:
    """Return all groups several times, one round of them after another."""

    def rounds(ends: FloatInterval) -> FloatInterval:
        low, value, high = (
            np.concatenate([end] * times, axis=-1) for end in (ends.low, ends.value, ends.high)
        )
        return FloatInterval(low=low, value=value, high=high)

    bends = np.concatenate([one.bends] * times, axis=-1)
    return Jet(value=rounds(one.value), slopes=rounds(one.slopes), bends=bends)


def total_of(one: Jet, other: Jet) -> Jet:
    """Return the sum."""
    return Jet(
        value=_sum(one.value, other.value),
        slopes=_sum(one.slopes, other.slopes),
        bends=(one.bends + other.bends) * _SLACK,
    )


def difference(one: Jet, other: Jet) -> Jet:
    """Return the difference."""
    return total_of(one, public_number(-1, other) * other)


def inverse(one: Jet) -> Jet:
    """Return 1 / u: (1 / u)' = -u' / u^2, (1 / u)'' = 2 u' u' / u^3 - u'' / u^2.

    Where u may be 0, nothing is known.
    """
    value = one.value
    apart = (value.low > 0) | (value.high < 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = FloatInterval(
            low=np.where(apart, 1 / value.high, -np.inf),
            value=1 / value.value,
            high=np.where(apart, 1 / value.low, np.inf),
        ).widened()
        negative = product(product(ends, ends), _same(-np.ones(value.value.shape)))
    return _composed(one, ends, negative, 2 * _largest(ends) ** 3)


def divided_by(one: Jet, other: Jet) -> Jet:
    """Return u / v."""
    return one * inverse(other)


def root_of(one: Jet) -> Jet:
    """Return the root: its derivative is 1 / (2 r), the second -1 / (4 r^3).

    Where u may be 0 or less, nothing is known.
    """
    value = one.value
    apart = value.low > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, middle, high = (np.sqrt(np.maximum(end, 0.0)) for end in (value.low, value.value, value.high))
        ends = FloatInterval(
            low=np.where(apart, low, -np.inf), value=middle, high=np.where(apart, high, np.inf)
        ).widened()
        slope = FloatInterval(
            low=np.where(apart, 0.5 / high, -np.inf),
            value=0.5 / middle,
            high=np.where(apart, 0.5 / low, np.inf),
        ).widened()
        bend = np.where(apart, 0.25 / low**3, np.inf)
    return _composed(one, ends, slope, bend)


def _composed(one: Jet, value: FloatInterval, slope: FloatInterval, bend: Floats) -> Jet:
    """Return f(u), given f, f' and the largest abs(f'') on what u can be."""
    sizes = _largest(one.slopes)
    with np.errstate(invalid="ignore", over="ignore"):
        bends = bend * sizes[:, None] * sizes[None, :] + _largest(slope) * one.bends
        return Jet(value=value, slopes=product(one.slopes, slope), bends=bends * _SLACK)


def _same(values: Floats) -> FloatInterval:
    return FloatInterval(low=values, value=values, high=values)


def _sum(one: FloatInterval, other: FloatInterval) -> FloatInterval:
    size = np.abs(one.low) + np.abs(one.high) + np.abs(other.low) + np.abs(other.high)
    found = FloatInterval(low=one.low + other.low, value=one.value + other.value, high=one.high + other.high)
    return found.widened(size)


def _largest(one: FloatInterval) -> Floats:
    return np.maximum(np.abs(one.low), np.abs(one.high))
