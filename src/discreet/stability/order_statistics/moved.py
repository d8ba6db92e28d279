"""The largest change of a statistic over all data that a given number of moves leads to.

From sorted x, a values are added and b removed. Let W have its peaks at P <= Q (`LevelWeights.peaks`).
The integral of W(level) over all such y is largest for one of this family: i values are added at the lower
bound, and j where the level first exceeds P; g values are removed where the level would exceed P, and b - g
where it would exceed Q; the other values are added at the upper bound (proof: docs/proofs/profiles.md).
So y has the ranks

    Y(r) = X(r - i)                      r <= P,
    Y(r) = X(P + 1 - i + g)              P < r <= P + j,
    Y(r) = X(r - i - j + g)              P + j < r <= Q,
    Y(r) = X(r - i - j + b)              r > Q.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from discreet.stability.order_statistics.blocks import Blocks
    from discreet.stability.order_statistics.levels import LevelWeights

__all__ = ["Moves", "largest_integral"]

Moves: TypeAlias = tuple[int, int]
"""How many values are added, and how many removed."""

_Ranks: TypeAlias = NDArray[np.int64]
_Numbers: TypeAlias = NDArray[Any]

_ROUNDING = 2.0**-45
"""Of the sizes of all terms: what floats may be wrong by. Each is rounded fewer than 60 times."""


class _Family:
    """Members of the family, a grid of (i, j, g) or a list, with their integrals in one kind of numbers."""

    def __init__(
        self,
        data: Blocks,
        weights: LevelWeights,
        peaks: tuple[int, int],
        removed: int,
        members: tuple[_Ranks, ...],
    ) -> None:
        self.data, self.weights, self.removed = data, weights, removed
        self.low, self.high = peaks
        self.below, self.between, early = members
        self.turn = self.low - self.below + early  # the last rank of x that is at a level up to P
        self.shift = self.below + self.between

    def integral(self, kind: type) -> tuple[_Numbers, _Numbers]:
        """Return the integrals times the denominator, and the sum of the sizes of what was added up."""
        top = self.weights.ends()[-1][1] * self.data.data.spread
        total: Any = top
        size: Any = abs(top)
        for rank, jump in self.weights.jumps():
            value: _Numbers = self._value(rank).astype(kind)
            total, size = total + jump * value, size + abs(jump) * value
        for first, last, slope in self.weights.slopes():
            upper: _Numbers = self._sum(last).astype(kind)
            lower: _Numbers = self._sum(first).astype(kind)
            total, size = total - slope * (upper - lower), size + abs(slope) * (upper + lower)
        return total, size

    def _value(self, rank: int) -> _Ranks:
        """Return Y(rank), less the lower bound."""
        if rank <= self.low:
            return self.data.above(rank - self.below)
        if rank > self.high:
            return self.data.above(rank - self.shift + self.removed)
        return self.data.above(np.maximum(rank - self.low - self.between, 1) + self.turn)

    def _sum(self, rank: int) -> _Numbers:
        """Return Y(1) + … + Y(rank), less the lower bound each."""
        to = self.data.totals
        total = to(min(rank, self.low) - self.below)
        if rank > self.low:
            inner = min(rank, self.high) - self.low
            copies = np.minimum(self.between, inner)
            total = total + copies * self.data.above(self.turn + 1)
            total = total + to(inner - copies + self.turn) - to(self.turn)
        if rank > self.high:
            move = self.removed - self.shift
            total = total + to(rank + move) - to(self.high + move)
        return total


def largest_integral(
    data: Blocks, mirrored: Blocks, weights: LevelWeights, moves: Moves, least: Fraction
) -> Fraction:
    """Return the largest integral of the weights over all data that the moves lead to, or `least` if less.

    Parameters
    ----------
    data, mirrored : Blocks
        The values, and the values mirrored at zero, for weights that have their two peaks the other way.
    weights : LevelWeights
        What is integrated.
    moves : (int, int)
        How many values are added and removed.
    least : Fraction
        What has been found before.
    """
    peaks = weights.peaks()
    if peaks is None:
        data, weights = mirrored, weights.reflected()
        peaks = weights.peaks()
    if peaks is None:
        raise AssertionError("weights of more than two peaks")
    added, removed = moves
    members, allowed = _grid(added, removed, peaks)
    shape = np.broadcast_shapes(*(member.shape for member in members))
    spread = data.data.spread
    largest = spread * (abs(weights.ends()[-1][1]) + sum(abs(jump) for _, jump in weights.jumps()))
    largest += 4 * spread * sum(abs(slope) * last for _, last, slope in weights.slopes())
    if largest < 2**62:
        found, _ = _Family(data, weights, peaks, removed, members).integral(np.int64)
        return max(least, Fraction(int(np.max(np.where(allowed, found, 0))), weights.whole))
    near, size = (
        np.broadcast_to(numbers, shape)
        for numbers in _Family(data, weights, peaks, removed, members).integral(np.float64)
    )
    error = size * _ROUNDING
    sure = max(
        float(np.max(np.where(allowed, near - error, 0))), float(least * weights.whole) * (1 - _ROUNDING)
    )
    chosen = np.nonzero(allowed & (near + error > sure))
    if not len(chosen[0]):
        return least
    picked = tuple(np.broadcast_to(member, shape)[chosen] for member in members)
    exact, _ = _Family(data, weights, peaks, removed, picked).integral(object)
    return max(least, Fraction(int(np.max(exact)), weights.whole))


def _grid(added: int, removed: int, peaks: tuple[int, int]) -> tuple[tuple[_Ranks, ...], NDArray[np.bool_]]:
    """Return all (i, j, g) along three axes, and where i + j values are few enough."""
    below = np.arange(added + 1, dtype=np.int64)
    none = np.zeros(1, dtype=np.int64)
    if peaks[0] == peaks[1]:
        return (below, none, none), np.ones(added + 1, dtype=np.bool_)
    between = np.arange(min(added, peaks[1] - peaks[0]) + 1, dtype=np.int64)[:, None]
    early = np.arange(removed + 1, dtype=np.int64)[:, None, None]
    return (below, between, early), np.broadcast_to(
        below + between <= added, (removed + 1, len(between), added + 1)
    )
