"""Rounded Gaussian noise: the nearest integer to an ideal normal number, drawn exactly.

P(k) = Phi((k + 1/2) / sigma) - Phi((k - 1/2) / sigma). For integers x, x + round(X) = round(x + X): what a
theorem says about the ideal Gaussian mechanism on integers holds for this noise, in any dimension.

Up to a standard deviation of 64 the law is one alias table. Beyond, J = floor(2 X), from which
round(X) = (J + 1) >> 1, is drawn as `gaussian` does it: sign and block from a table, an offset in the
block, and a candidate is kept with the probability that corrects for the offset, averaged over the
cell of width one that J stands for. A candidate and its complement weigh the same.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.alias import AliasTable
from discreet.noise.bernoulli import Coin
from discreet.noise.entropy import in_batches
from discreet.noise.gaussian import (
    BAND,
    LARGEST_SINGLE,
    LARGEST_TAYLOR_EXPONENT,
    check_variance,
    falling_exponential,
    keep_lanes,
    low_bits,
    sample_blocks,
)
from discreet.noise.geometric import LEAST_SCALE, sample_geometric
from discreet.noise.normal_cells import cell_average, cell_masses, tail_from
from discreet.noise.parameters import check_draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.array_types import Integers
    from discreet.noise.enclosure import Enclosure
    from discreet.noise.entropy import Source

__all__ = ["CellAcceptance", "estimate_averages", "rounded_table", "sample_rounded_gaussian"]

_TAIL_EXPONENT = Fraction(7 * 66, 10)
_LARGEST_SLOPE = 0.01
"""The square of the largest slope for which four terms of a cell's average are proven."""

_HALF = Fraction(1, 2)


def _tabulated(variance: Fraction) -> int:
    """Return the least n with (n - 1/2)^2 / (2 v) >= 66 log 2: beyond, both tails weigh less than 2^-66."""
    least = _TAIL_EXPONENT * 8 * variance  # (2 n - 1)^2 is at least this
    return (isqrt(least.__ceil__() - 1) + 2) // 2 + 1


@lru_cache(maxsize=64)
def rounded_table(variance: Fraction) -> AliasTable:
    """Tabulate the law itself, for standard deviations up to 64."""
    count = _tabulated(variance)
    values = [0, *(value for magnitude in range(1, count) for value in (magnitude, -magnitude))]

    def masses(bits: int) -> list[Enclosure]:
        kept = cell_masses(variance, count, bits)
        low, high = tail_from(variance, count - _HALF, bits)
        return [kept[0], *(mass for mass in kept[1:] for _ in "+-"), (2 * low, 2 * high)]

    def tail(source: Source) -> int:
        magnitude = _beyond(variance, count, source)
        return magnitude if source.decide(Coin(_HALF), 1)[0] else -magnitude

    return AliasTable([*values, 0], masses, tail)


def _beyond(variance: Fraction, start: int, source: Source) -> int:
    """Draw k >= start with the masses of the cells, exactly.

    With a = start - 1/2 and i = k - start, (a + i + u)^2 >= a^2 + 2 a i: a geometric i with a ratio of at
    least exp(-a / v) is kept with the mean, over u, of what is left.
    """
    edge = start - _HALF
    scale = max(variance / edge, LEAST_SCALE)
    while True:
        excess = int(sample_geometric(scale, 1, source)[0])
        base = edge * edge + 2 * variance * excess / scale
        if source.decide(_CellCoin(edge + excess, base, variance), 1)[0]:
            return start + excess


class _CellCoin:
    """The decision U < mean of exp(-((left + u)^2 - base) / (2 variance)), by enclosures alone."""

    blocks = 1

    def __init__(self, left: Fraction, base: Fraction, variance: Fraction) -> None:
        self._cell = left, base, variance

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide one lane per word."""
        del lane
        return np.array([_settle(int(word), *self._cell, source) for word in words], np.int64)


def _settle(word: int, left: Fraction, base: Fraction, variance: Fraction, source: Source) -> int:
    """Decide it for the U that starts with the 64 bits of `word`."""
    known = 64
    while True:
        low, high = cell_average(left, base, variance, known + 64)
        if (word + 1) << 64 <= low:
            return 1
        if word << 64 >= high:
            return 0
        word = (word << 64) | source.bits(64)
        known += 64


class CellAcceptance:
    """The decisions U < mean over u in [0, 1) of exp(-((b + r + u)^2 - b^2) / (2 variance)), as 1 or 0.

    b = 2^shift h starts the block and r is the offset. With x = b + r + 1/2, a = r + 1/2,
    d = (2 b + a) a / (2 v), k = x / v and e = 1 / (2 v) it is exp(-d) times

        1 + k^2 / 24 + k^4 / 1920 - e (1/12 + k^2 / 160) + e^2 / 160,

    except for less than 2^-37 where k^2 <= 1/100 and v > 128^2. The exponential is that of
    `gaussian.Acceptance`, and so is the band outside which a comparison in floats is believed, and the
    probability `least` 2^-64 below which a candidate is kept at sight: x + u stays within its block.
    """

    blocks = 1

    def __init__(
        self, starts: NDArray[np.int64], offsets: NDArray[np.int64], variance: Fraction, least: int = 0
    ) -> None:
        self._starts = starts
        self._offsets = offsets
        self._variance = variance
        self._least = least
        self._half_precision = float(1 / (2 * variance))

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …: 1 keeps the candidate."""
        return keep_lanes(words, self._least, lambda these: self._judge(words[these], these + lane, source))

    def _judge(self, words: NDArray[np.uint64], lanes: Integers, source: Source) -> NDArray[np.bool_]:
        cuts, undecided = estimate_averages(self._starts[lanes], self._offsets[lanes], self._half_precision)
        uniforms = words * 2.0**-64
        kept: NDArray[np.bool_] = uniforms < cuts
        cuts -= uniforms
        undecided |= np.abs(cuts) <= BAND
        if undecided.any():
            for position in np.flatnonzero(undecided):
                start, offset = int(self._starts[lanes[position]]), int(self._offsets[lanes[position]])
                cell = Fraction(start + offset), Fraction(start * start), self._variance
                kept[position] = _settle(int(words[position]), *cell, source)
        return kept


def estimate_averages(
    starts: Integers, offsets: Integers, half_precision: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the means that `CellAcceptance` compares with, and where they are not within 2^-32.

    Parameters
    ----------
    starts, offsets : arrays of int
        b and r.
    half_precision : float
        1 / (2 variance).
    """
    half = half_precision
    begins = starts.astype(np.float64)
    advances = offsets + 0.5
    slopes = begins + advances
    exponents = slopes + begins
    exponents *= advances
    exponents *= half
    slopes *= 2 * half
    slopes *= slopes
    averages = slopes * (1 / 1920)
    averages += 1 / 24 - half / 160
    averages *= slopes
    averages += 1 - half / 12 + half * half / 160
    cuts = falling_exponential(exponents)
    cuts *= averages
    doubtful = exponents > LARGEST_TAYLOR_EXPONENT
    doubtful |= slopes > _LARGEST_SLOPE
    return cuts, doubtful


def sample_rounded_gaussian(variance: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` values round(sigma Z), Z standard normal, exactly.

    Parameters
    ----------
    variance : Fraction or int
        sigma^2, the square of a number from 1/100 to 2^40. The variance of the rounded number is larger, by
        about 1/12.
    size : int
        How many to draw.
    source : Source
        Where the words come from.
    """
    variance, size = check_variance(variance), check_draws(size)
    if variance <= LARGEST_SINGLE**2:
        return source.decide(rounded_table(variance), size)
    doubled = 4 * variance
    shift = low_bits(doubled)

    def acceptance(starts: Integers, signs: Integers, offsets: Integers, least: int) -> CellAcceptance:
        del signs  # a candidate and its complement weigh the same
        return CellAcceptance(starts, offsets, doubled, least)

    def draw(lanes: int) -> NDArray[np.int64]:
        floors = sample_blocks(doubled, shift, lanes, source, acceptance)
        floors += 1
        floors >>= 1
        return floors

    return in_batches(draw, size)
