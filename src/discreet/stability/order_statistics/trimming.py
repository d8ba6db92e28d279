"""Which ranks remain when a part of the values is trimmed at either end, near data of a given size.

Of N values, m(N) = floor(trim N) are trimmed at either end and the ranks m(N) + 1 to N - m(N) remain. When a
values low, c values high are added and b values are removed, x turns into y of size N = n + a + c - b, and

    Y(m(N) + 1) >= X(s),  s = m(N) + 1 - a,        Y(N + R - m(N + R)) <= X(e),  e = n + c + R - m(N + R).

With real a, c, b >= 0 of the sum M, and floor(z) > z - 1, the best e for each s is the solution of a small
linear program: each addition moves its own end outward by 1 - trim and the other inward by trim, each
removal moves both outward by trim (proof: docs/proofs/profiles.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import rational
from discreet.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.privacy.rational import Number

__all__ = ["Trimming", "trimming"]

LARGEST_TRIM_DENOMINATOR = 10**3
"""The largest denominator of a trimmed part, so that ranks of many sizes are exact in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming:
    """Trim floor(part n) of n values at either end, with 0 <= part < 1/2."""

    part: Fraction

    def cut(self, size: int) -> int:
        """Return how many values are trimmed at either end."""
        return self.part.numerator * size // self.part.denominator

    def cuts(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same of many sizes."""
        return self.part.numerator * sizes // self.part.denominator

    def least_kept(self, size: int) -> int:
        """Return a lower bound on how many of `size` or more values remain: ceil((1 - 2 part) size)."""
        kept = 1 - 2 * self.part
        return -(-kept.numerator * size // kept.denominator)

    def windows(self, size: int, moves: int, more: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return starts s and ends e of windows of x that hold all remaining ranks after `moves` moves.

        `more` is R of the formula above: the values of one further person who is added.
        """
        over, whole = self.part.numerator, self.part.denominator
        kept = whole - 2 * over
        first = (over * size - (whole - over) * moves) // whole + 1
        last = over * (size + moves) // whole + 1
        starts = np.arange(first, last + 1, dtype=np.int64)
        left = np.maximum(over * size - starts * whole, -over * moves)  # how far left, times `whole`
        if 4 * over <= whole:
            right, unit = kept * moves - left, 1
        else:
            knee = over * moves - left
            unit = 2 * over * kept
            right = unit * over * moves + np.where(knee >= 0, kept * kept, 4 * over * over) * knee
        edge = unit * (whole * (size + more + 1) - over * (size + more)) + right
        return starts, -(-edge // (unit * whole)) - 1


def trimming(trim: Number) -> Trimming:
    """Read which part of the values is trimmed at either end."""
    part = rational(trim, "trim")
    if not 0 <= part < Fraction(1, 2):
        raise ParameterError("trim", "leaves nothing", "from 0 to below 1/2 of the values at either end")
    if part.denominator > LARGEST_TRIM_DENOMINATOR:
        raise ParameterError(
            "trim", "is too long", f"a fraction of a denominator up to {LARGEST_TRIM_DENOMINATOR}"
        )
    return Trimming(part=part)
