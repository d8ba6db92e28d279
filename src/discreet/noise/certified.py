"""The rounding of an ideal real draw, exactly: floor(center + scale Z + 1/2) for Z of a continuous law.

Z is the quantile of a uniform real number U, so the outcome is at least k exactly where U is at
least F(b_k), b_k = (k - 1/2 - center) / scale. U is revealed bit by bit and compared with certified
bounds on F(b_k), at rising precision, until both neighbors of an outcome are beyond doubt. Floats
only suggest where to look first. So what is drawn is the image, under a rounding, of the ideal law
itself: everything that a theorem says about the real-valued law holds for the integers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.enclosure import Enclosure
    from discreet.noise.entropy import Source

__all__ = ["CertifiedRounding", "SymmetricLaw", "cumulative", "sample_rounded"]

_SPARE_BITS = 32
_FARTHEST = 1e300


class SymmetricLaw(Protocol):
    """A continuous law that is symmetric around 0, known by certified bounds on its upper tail."""

    def upper(self, z: Fraction, bits: int) -> Enclosure:
        """Enclose P(Z > z) for z >= 0."""
        ...

    def guess(self, probability: float) -> float:
        """Return a z >= 0 with P(Z > z) about `probability`, from 0 to 1/2: a suggestion, no promise."""
        ...

    def density(self, z: float) -> float:
        """Return the density at z, about."""
        ...


def cumulative(law: SymmetricLaw, z: Fraction, bits: int) -> Enclosure:
    """Enclose P(Z <= z) for a z of any sign."""
    if z < 0:
        return law.upper(-z, bits)
    low, high = law.upper(z, bits)
    return (1 << bits) - high, (1 << bits) - low


class CertifiedRounding:
    """The decision floor(center + scale Z + 1/2), clamped to least … most; Z is the quantile of U.

    The outcome never falls as U grows: its law can be found by bisection.
    """

    blocks = 1

    def __init__(self, law: SymmetricLaw, center: Fraction, scale: Fraction, least: int, most: int) -> None:
        self._law = law
        self._center = center
        self._scale = scale
        self._least = least
        self._most = most

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        return np.array([self._one(int(word), source) for word in words], np.int64)

    def _one(self, word: int, source: Source) -> int:
        """Search for k with F(b_k) <= U < F(b_(k + 1)), from a guess outward."""
        known, first, last = 64, self._least, self._most + 1
        candidate = max(self._guess(word), first + 1)
        step, moves = 1, 0
        while last - first > 1:
            border = candidate if first < candidate < last else (first + last) // 2
            z = (border - self._center - Fraction(1, 2)) / self._scale
            bits = known + _SPARE_BITS
            low, high = cumulative(self._law, z, bits)
            if word << _SPARE_BITS >= high:
                first, direction = border, 1
            elif (word + 1) << _SPARE_BITS <= low:
                last, direction = border, -1
            else:
                word, known = (word << 64) | source.bits(64), known + 64
                continue
            off = ((word << (_SPARE_BITS + 1)) - low - high) / (1 << (bits + 1))
            candidate = border + direction * max(step, self._steps(abs(off), z))
            step, moves = (2 * step if moves else step), moves + 1
        return first

    def _guess(self, word: int) -> int:
        """Return about the outcome for a U with these first 64 bits."""
        odd = 2 * word + 1
        negative = odd < 1 << 64
        magnitude = min(self._law.guess((odd if negative else (1 << 65) - odd) / (1 << 65)), _FARTHEST)
        z = Fraction(-magnitude if negative else magnitude)
        return min(
            max((self._center + self._scale * z + Fraction(1, 2)).__floor__(), self._least), self._most
        )

    def _steps(self, off: float, z: Fraction) -> int:
        """Return about how many outcomes away a difference in U is, by the density at z."""
        if abs(z) > _FARTHEST or self._scale > _FARTHEST:
            return 1
        density = self._law.density(float(z))
        away = off * float(self._scale) / density if density > 0 else 0.0
        return int(min(away, 2.0**62))


def sample_rounded(
    law: SymmetricLaw, *, center: Fraction, scale: Fraction, least: int, most: int, source: Source
) -> int:
    """Draw floor(center + scale Z + 1/2), clamped to least … most, exactly.

    Parameters
    ----------
    law : SymmetricLaw
        The law of Z.
    center, scale : Fraction
        In units of the grid; the scale is positive.
    least, most : int
        What the result is clamped to, at most 2^62 in magnitude.
    source : Source
        Where the words come from.
    """
    return int(source.decide(CertifiedRounding(law, center, scale, least, most), 1)[0])
