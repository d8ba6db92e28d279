"""Discrete Gaussian noise: P(y) proportional to exp(-y^2 / (2 variance)) on the integers.

Up to a standard deviation of 64 the law is one alias table. Beyond, an integer x >= 0 is
split into 2^shift h + r, the pair (sign, h) is drawn from a table with weights
exp(-(2^shift h)^2 / (2 variance)), r is uniform, and the candidate is kept with the
probability that corrects for r, above 97 in 100. The number of trials of a rejection sampler is
independent of what it returns, so neither path's work depends on the value drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.alias import AliasTable
from discreet.noise.bernoulli import Coin, ExponentialCoin, settle_exponential
from discreet.noise.enclosure import Enclosure, exponential, product, quotient
from discreet.noise.entropy import in_batches
from discreet.noise.geometric import LARGEST_SCALE, LEAST_SCALE, sample_geometric
from discreet.noise.parameters import check_draws, check_rational
from discreet.noise.uniform import UniformBits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from discreet.array_types import Integers
    from discreet.noise.entropy import Decision, Source

    AcceptanceRule: TypeAlias = Callable[[Integers, Integers, Integers, int], Decision]

__all__ = [
    "Acceptance",
    "block_table",
    "check_variance",
    "falling_exponential",
    "keep_lanes",
    "least_kept",
    "low_bits",
    "sample_beyond",
    "sample_blocks",
    "sample_gaussian",
    "single_table",
    "tabulated_count",
    "weight_series",
]

LARGEST_SINGLE = 64

_TAIL_BITS = 66
_GUARD_BITS = 32
_LONGEST_DENOMINATOR = 2048
BAND = 2.0**-31
LARGEST_TAYLOR_EXPONENT = 1 / 3
TAYLOR = [(-1) ** order / factorial(order) for order in range(8, -1, -1)]


def check_variance(variance: Fraction) -> Fraction:
    """Return a variance for which the tables are certified, or refuse it."""
    variance = check_rational(variance, "variance")
    in_range = LEAST_SCALE**2 <= variance <= LARGEST_SCALE**2
    if not in_range or variance.denominator.bit_length() > _LONGEST_DENOMINATOR:
        raise ParameterError(
            "variance", "is out of range", "a rational from 1/10^4 to 2^80 squared grid steps"
        )
    return variance


def low_bits(variance: Fraction) -> int:
    """Return the smallest shift with sqrt(variance) / 2^shift <= 64."""
    shift = 0
    while variance > LARGEST_SINGLE**2 << (2 * shift):
        shift += 1
    return shift


def tabulated_count(curvature: Fraction) -> int:
    """Return a count n with sum over h >= n of exp(-curvature h^2) below 2^-66 of the first term.

    The sum is at most exp(-c n^2) (1 + 1 / (2 c n)). The least n is returned with
    c n^2 >= 66 log 2 + log(1 + 1 / (2 c n)), where log 2 < 7/10 and log(1 + z) <= bit length of z: the left
    side grows with n, and the right one does not.
    """

    def is_enough(count: int) -> bool:
        spread = 1 / (2 * curvature * count)
        needed = Fraction(7 * _TAIL_BITS, 10) + (int(spread) + 2).bit_length()
        return curvature * count * count >= needed

    enough = 1
    while not is_enough(enough):
        enough *= 2
    return bisect_left(range(enough + 1), x=True, lo=1, key=is_enough)


def _weights(curvature: Fraction, bits: int) -> Iterator[Enclosure]:
    """Enclose exp(-curvature h^2) for h = 0, 1, 2, …: each step multiplies by one more ratio."""
    first = exponential(curvature, bits)
    step = product(first, first, bits)
    weight, ratio = (1 << bits, 1 << bits), first
    while True:
        yield weight
        weight = product(weight, ratio, bits)
        ratio = product(ratio, step, bits)


def weight_series(curvature: Fraction, count: int, bits: int) -> tuple[list[Enclosure], Enclosure]:
    """Enclose the first `count` weights and the sum of all that follow."""
    kept: list[Enclosure] = []
    low = high = 0
    for index, weight in enumerate(_weights(curvature, bits)):
        if index < count:
            kept.append(weight)
        else:
            low, high = low + weight[0], high + weight[1]
            if weight[0] == 0:
                # What follows is at most this weight times 1 / (2 c index).
                rest = weight[1] / (2 * curvature * index)
                return kept, (low, high + rest.__ceil__())
    raise AssertionError("the weights never end")


@lru_cache(maxsize=64)
def single_table(variance: Fraction) -> AliasTable:
    """Tabulate the law itself, for standard deviations up to 64."""
    curvature = 1 / (2 * variance)
    count = tabulated_count(curvature)
    values = [0, *(value for magnitude in range(1, count) for value in (magnitude, -magnitude))]

    def masses(bits: int) -> list[Enclosure]:
        working = bits + _GUARD_BITS
        kept, rest = weight_series(curvature, count, working)
        total = (
            kept[0][0] + 2 * (sum(low for low, _ in kept[1:]) + rest[0]),
            kept[0][1] + 2 * (sum(high for _, high in kept[1:]) + rest[1]),
        )
        weights = [kept[0], *(weight for weight in kept[1:] for _ in "+-"), (2 * rest[0], 2 * rest[1])]
        scaled = (quotient(weight, total, working) for weight in weights)
        return [(low >> _GUARD_BITS, -(-high >> _GUARD_BITS)) for low, high in scaled]

    def tail(source: Source) -> int:
        magnitude = sample_beyond(curvature, count, source)
        return magnitude if source.decide(Coin(Fraction(1, 2)), 1)[0] else -magnitude

    return AliasTable([*values, 0], masses, tail)


@lru_cache(maxsize=64)
def block_table(variance: Fraction, shift: int) -> AliasTable:
    """Tabulate sign and block: h 2^shift, or its bitwise complement."""
    curvature = Fraction(1 << (2 * shift)) / (2 * variance)
    count = tabulated_count(curvature)
    values = [value for h in range(count) for value in (h << shift, ~(h << shift))]

    def masses(bits: int) -> list[Enclosure]:
        working = bits + _GUARD_BITS
        kept, rest = weight_series(curvature, count, working)
        total = (
            2 * (sum(low for low, _ in kept) + rest[0]),
            2 * (sum(high for _, high in kept) + rest[1]),
        )
        weights = [*(weight for weight in kept for _ in "+-"), (2 * rest[0], 2 * rest[1])]
        scaled = (quotient(weight, total, working) for weight in weights)
        return [(low >> _GUARD_BITS, -(-high >> _GUARD_BITS)) for low, high in scaled]

    def tail(source: Source) -> int:
        start = sample_beyond(curvature, count, source) << shift
        return start if source.decide(Coin(Fraction(1, 2)), 1)[0] else ~start

    return AliasTable([*values, 0], masses, tail)


@lru_cache(maxsize=64)
def least_kept(variance: Fraction, shift: int) -> tuple[int, int]:
    """Return the start b of the last tabulated block, and 2^64 times how often candidates are kept at least.

    That is exp(-d) >= 1 - d with d = ((b + 2^shift)^2 - b^2) / (2 variance), rounded down.
    """
    width = 1 << shift
    last = (tabulated_count(Fraction(width**2) / (2 * variance)) - 1) << shift
    exponent = (2 * last + width) * width / (2 * variance)
    return last, max(0, ((1 - exponent) * 2**64).__floor__())


def sample_beyond(curvature: Fraction, start: int, source: Source) -> int:
    """Draw h >= start with P(h) proportional to exp(-curvature h^2), exactly.

    With h = start + k: h^2 = start^2 + 2 start k + k^2, so a geometric k with ratio
    exp(-2 curvature start) is kept with probability exp(-curvature k^2).
    """
    scale = max(1 / (2 * curvature * start), LEAST_SCALE)
    while True:
        excess = int(sample_geometric(scale, 1, source)[0])
        # Where the scale had to be raised, the coin makes up for the difference.
        exponent = curvature * excess * excess + (2 * curvature * start - 1 / scale) * excess
        if source.decide(ExponentialCoin(exponent), 1)[0]:
            return start + excess


def falling_exponential(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exp(-d) for exponents d, by the Taylor polynomial of eight terms that `Acceptance` bounds."""
    found: NDArray[np.float64] = exponents * TAYLOR[0]
    for coefficient in TAYLOR[1:-1]:
        found += coefficient
        found *= exponents
    found += TAYLOR[-1]
    return found


def keep_lanes(
    words: NDArray[np.uint64], least: int, judge: Callable[[Integers], NDArray[np.bool_]]
) -> NDArray[np.int64]:
    """Keep lanes with words below `least` at sight, and of the others those that `judge` does.

    Which lanes are judged depends on their words alone, not on the candidates.
    """
    at_sight = words < np.uint64(least)
    kept = at_sight.astype(np.int64)
    judged = np.flatnonzero(~at_sight)
    if judged.size:
        kept[judged] = judge(judged)
    return kept


class Acceptance:
    """The decisions U < exp(-d), one for each candidate, as 1 (kept) or 0.

    d = ((x + s)^2 - b^2) / (2 variance) = (2 b + a) a / (2 variance), where b = 2^shift h starts
    the block, x = b + r, s is 1 for negative candidates (whose magnitude is x + 1) and
    a = r + s. Tabulated blocks have d <= 1/3. There the Taylor polynomial of exp(-d) with
    eight terms is off by at most (1/3)^9 / 9! < 2^-32.6, and rounding adds less than 2^-48.
    A comparison is believed outside a band of 2^-31 around the polynomial; inside it, and
    for blocks beyond the tables, enclosures decide. With U below `least` 2^-64, which no exp(-d)
    is below, a candidate is kept at sight.
    """

    blocks = 1

    def __init__(
        self, starts: NDArray[np.int64], advances: NDArray[np.int64], variance: Fraction, least: int = 0
    ) -> None:
        self._starts = starts
        self._advances = advances
        self._variance = variance
        self._least = least
        self._half_precision = float(1 / (2 * variance))

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …: 1 keeps the candidate."""
        return keep_lanes(words, self._least, lambda these: self._judge(words[these], these + lane, source))

    def _judge(self, words: NDArray[np.uint64], lanes: Integers, source: Source) -> NDArray[np.bool_]:
        starts = self._starts[lanes].astype(np.float64)
        advances = self._advances[lanes].astype(np.float64)
        exponents = (2.0 * starts + advances) * advances * self._half_precision
        cuts = falling_exponential(exponents)
        uniforms = words * 2.0**-64
        kept: NDArray[np.bool_] = uniforms < cuts
        undecided = (np.abs(uniforms - cuts) <= BAND) | (exponents > LARGEST_TAYLOR_EXPONENT)
        if undecided.any():
            for position in np.flatnonzero(undecided):
                start, advance = int(self._starts[lanes[position]]), int(self._advances[lanes[position]])
                exponent = (2 * start + advance) * advance / (2 * self._variance)
                kept[position] = settle_exponential(int(words[position]), exponent, source)
        return kept


def sample_blocks(
    variance: Fraction, shift: int, size: int, source: Source, acceptance: AcceptanceRule
) -> NDArray[np.int64]:
    """Draw candidates, and keep those that are accepted until every lane has one.

    Parameters
    ----------
    variance : Fraction
        Of the blocks.
    shift : int
        A block has 2^shift offsets.
    size : int
        How many to draw.
    source : Source
        Where the words come from.
    acceptance : function
        Returns the decision, given where blocks start, their signs (0 or -1), the offsets, and 2^64 times
        a probability with which all candidates are kept at least.
    """
    table, low = block_table(variance, shift), UniformBits(shift)
    last, least = least_kept(variance, shift)

    def trial(lanes: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        blocks = source.decide(table, lanes)
        offsets = source.decide(low, lanes)
        signs = blocks >> 63
        starts = blocks ^ signs
        known = least if starts.max() <= last else 0
        kept = source.decide(acceptance(starts, signs, offsets, known), lanes)
        blocks ^= offsets
        return blocks, np.flatnonzero(kept == 0)

    if size == 0:
        return np.empty(0, np.int64)
    drawn, rejected = trial(size)
    while rejected.size:
        drawn[rejected], again = trial(rejected.size)
        rejected = rejected[again]
    return drawn


def sample_gaussian(variance: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw `size` values with P(y) proportional to exp(-y^2 / (2 variance)), exactly.

    Parameters
    ----------
    variance : Fraction or int
        The square of a standard deviation from 1/100 to 2^40. (The variance of the discrete law is
        at most this, and indistinguishably close to it above 1.)
    size : int
        How many to draw.
    source : Source
        Where the words come from.
    """
    variance, size = check_variance(variance), check_draws(size)
    shift = low_bits(variance)
    if shift == 0:
        return source.decide(single_table(variance), size)

    def acceptance(starts: Integers, signs: Integers, offsets: Integers, least: int) -> Acceptance:
        return Acceptance(starts, offsets - signs, variance, least)

    return in_batches(lambda lanes: sample_blocks(variance, shift, lanes, source, acceptance), size)
