"""What one step changes, as a function of how many values lie below: a weight for each level.

Of sorted y the *level* at t is the number of values up to t. A statistic that is linear in the ordered
values is the integral of W(level) over t between the bounds, plus a constant: the mean of the ranks
m + 1 … N - m has W = 1 up to the level m, falls by 1/(N - 2m) with each level, and is 0 from N - m on. What
one step changes is such an integral too, with the difference of two weights.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from discreet.records import dataclass

__all__ = ["LevelWeights", "falling", "minus", "raised"]


@dataclass(frozen=True, slots=True)
class LevelWeights:
    """A weight for each level from 0 to `size`: `base` + `slope` level, piece by piece, over `whole`.

    Attributes
    ----------
    size : int
        The number of values.
    pieces : tuple of (start, base, slope)
        Each holds from its start, the first from 0, to before the next. None is empty.
    whole : int
        The common denominator.
    """

    size: int
    pieces: tuple[tuple[int, int, int], ...]
    whole: int

    def at(self, level: int) -> Fraction:
        """Return the weight of a level."""
        _, base, slope = next(piece for piece in reversed(self.pieces) if piece[0] <= level)
        return Fraction(base + slope * level, self.whole)

    def stops(self) -> list[int]:
        """Return before which level each piece ends."""
        return [*(start for start, _, _ in self.pieces[1:]), self.size + 1]

    def ends(self) -> list[tuple[int, int]]:
        """Return the first and last level of every piece with their weights, times `whole`."""
        return [
            (level, base + slope * level)
            for (start, base, slope), stop in zip(self.pieces, self.stops(), strict=True)
            for level in dict.fromkeys((start, stop - 1))
        ]

    def jumps(self) -> list[tuple[int, int]]:
        """Return the levels where pieces begin, after the first, with how much the weight falls there."""
        return [
            (start, base + slope * (start - 1) - less - steep * start)
            for (_, base, slope), (start, less, steep) in pairwise(self.pieces)
            if base + slope * (start - 1) != less + steep * start
        ]

    def slopes(self) -> list[tuple[int, int, int]]:
        """Return the first and last level of every piece of several, with its slope, unless that is 0."""
        return [
            (start, stop - 1, slope)
            for (start, _, slope), stop in zip(self.pieces, self.stops(), strict=True)
            if slope and stop - 1 > start
        ]

    def reflected(self) -> LevelWeights:
        """Return the weights of the mirrored values: level c becomes N - c."""
        pieces = tuple(
            (self.size - stop + 1, base + slope * self.size, -slope)
            for (_, base, slope), stop in zip(self.pieces, self.stops(), strict=True)
        )
        return LevelWeights(self.size, pieces[::-1], self.whole)

    def peaks(self) -> tuple[int, int] | None:
        """Return levels P <= Q so that W does not fall up to P, nor from P + 1 to Q, nor rise from Q on.

        None if there are no such levels.
        """
        ends = self.ends()
        last = len(ends) - 1
        while last and ends[last - 1][1] >= ends[last][1]:
            last -= 1
        falls = [index for index in range(last) if ends[index][1] > ends[index + 1][1]]
        if not falls:
            return ends[last][0], ends[last][0]
        (level, _), (after, _) = ends[falls[0]], ends[falls[0] + 1]
        return (level, ends[last][0]) if len(falls) == 1 and after == level + 1 else None


def falling(size: int, cut: int, top: int, *, whole: int, bottom: int, shift: int = 0) -> LevelWeights:
    """Return `top` up to the level `cut`, then `bottom` less the level, and 0 from `size` - `cut` on.

    With a shift, a level is that much higher: so many values are below all others and do not count.
    """
    pieces = ((0, top, 0), (cut + 1, bottom, -1), (size - cut, 0, 0))
    moved = tuple(
        (start + shift if start else 0, base - slope * shift, slope) for start, base, slope in pieces
    )
    return LevelWeights(size + shift, _without_empty(moved, size + shift), whole)


def raised(size: int, first: int, stop: int) -> LevelWeights:
    """Return 1 at the levels from `first` to before `stop`, and 0 elsewhere."""
    first, stop = max(first, 0), max(stop, first, 0)
    return LevelWeights(size, _without_empty(((0, 0, 0), (first, 1, 0), (stop, 0, 0)), size), 1)


def minus(one: LevelWeights, other: LevelWeights, size: int) -> LevelWeights:
    """Return the difference of two weights at the levels up to `size`."""
    starts = sorted({start for start, _, _ in (*one.pieces, *other.pieces) if start <= size})
    pieces = []
    for start in starts:
        held = [next(piece for piece in reversed(each.pieces) if piece[0] <= start) for each in (one, other)]
        (_, base, slope), (_, less, steep) = held
        pieces.append((start, base * other.whole - less * one.whole, slope * other.whole - steep * one.whole))
    return LevelWeights(size, tuple(pieces), one.whole * other.whole)


def _without_empty(pieces: tuple[tuple[int, int, int], ...], size: int) -> tuple[tuple[int, int, int], ...]:
    """Leave out pieces that the next one hides, or that begin beyond the size."""
    kept: list[tuple[int, int, int]] = []
    for piece in pieces:
        if piece[0] > size:
            break
        while kept and kept[-1][0] >= piece[0]:
            kept.pop()
        kept.append(piece)
    return tuple(kept)
