"""Sorted values with their partial sums in exact integers, and the steps that their variance may take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactIntegers", "SortedSums", "VarianceSteps", "largest_variance_change", "listed"]

_MOST_MOVES = 2**10
_ROUNDING = 2.0**-44
"""Of the sizes of all terms: what floats may be wrong by. Each is rounded fewer than 100 times."""

ExactIntegers: TypeAlias = NDArray[Any]
"""Of 64 bits, or of Python's where these would not do."""


class SortedSums:
    """Sorted values in [0, bound] with the sums of the smallest, and of their squares."""

    def __init__(self, values: NDArray[np.int64], bound: int, rows: int = 1) -> None:
        self.bound, self.count, self.rows = bound, len(values), rows
        # Products of a sum, a count and the values of a person must fit, or Python's integers are used.
        wide = ((self.count + 2 * _MOST_MOVES) * max(bound, 1) * rows) ** 2 >= 2**60
        self.values: ExactIntegers = values.astype(object) if wide else values
        none = np.zeros(1, dtype=self.values.dtype)
        self.sums = np.concatenate([none, np.cumsum(self.values)])
        self.squares = np.concatenate([none, np.cumsum(self.values * self.values)])

    def fitting(self, numbers: NDArray[Any]) -> ExactIntegers:
        """Return numbers in a type that holds their products with sums."""
        return numbers.astype(self.values.dtype)

    def mirrored(self) -> SortedSums:
        """Return the values mirrored within the bounds."""
        return SortedSums((self.bound - self.values[::-1]).astype(np.int64), self.bound, self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class VarianceSteps:
    """How y arises from x, for several sizes of y, and y' from y.

    Attributes
    ----------
    size : integers
        How many values y has.
    added : integers
        How many values of y are not of x.
    removed : integers
        How many values of x are in neither y nor y'.
    own : int
        How many values of x join y.
    free : int
        How many values join y that may be any.
    """

    size: NDArray[np.int64]
    added: NDArray[np.int64]
    removed: NDArray[np.int64]
    own: int
    free: int

    @property
    def joined(self) -> int:
        """How many values y' has more than y."""
        return self.own + self.free

    def at(self, places: NDArray[Any]) -> VarianceSteps:
        """Return some of them, or some several times."""
        return VarianceSteps(self.size[places], self.added[places], self.removed[places], self.own, self.free)


def listed(numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return all (i, j) with j from 0 to the i-th number."""
    which = np.repeat(np.arange(len(numbers)), numbers + 1)
    start = np.cumsum(numbers + 1) - (numbers + 1)
    return which, np.arange(len(which)) - start[which]


def largest_variance_change(
    size: NDArray[np.int64], joined: int, parts: tuple[ExactIntegers, ExactIntegers, ExactIntegers], sign: int
) -> Fraction:
    """Return the largest rise of the variance, or the largest fall: floats choose, integers decide.

    Parameters
    ----------
    size : integers
        N, how many values y has: at least 1.
    joined : int
        d, how many values join.
    parts : integers
        P = N^2 V(y), T = d^2 times the variance of what joins, and W = d S - N s, where S and s are the sums
        of y and of what joins. The rise is T / (d N') - d P / (N' N^2) + W^2 / (d N N'^2), N' = N + d.
    sign : int
        1 for a rise, -1 for a fall.
    """
    flat = [each.ravel() for each in np.broadcast_arrays(size, *parts)]
    own, spread, inner, away = (each.astype(np.float64) for each in flat)
    after = own + joined
    terms = (
        inner / (joined * after),
        joined * spread / (after * own**2),
        away**2 / (joined * own * after**2),
    )
    near = sign * (terms[0] - terms[1] + terms[2])
    error = (terms[0] + terms[1] + terms[2]) * _ROUNDING
    chosen = np.flatnonzero(near + error >= np.max(near - error))
    found = set(zip(*(each[chosen].tolist() for each in flat), strict=True))
    return max(sign * _change(joined, *each) for each in found)


def _change(joined: int, size: int, spread: int, inner: int, away: int) -> Fraction:
    after = size + joined
    numerator = size**2 * after * inner - joined**2 * after * spread + size * away**2
    return Fraction(numerator, joined * (size * after) ** 2)
