"""Long vectors of rounded Gaussian noise, drawn exactly: nearly all of it by one look-up.

J = floor(2 X), from which the nearest integer to X is (J + 1) >> 1, is drawn as in `rounded_gaussian`: sign
and block, an offset in the block, and a candidate is kept with the probability that corrects for the
offset. Here the part of the law that is level over every block is a layer of its own: of 2^16 equally likely
cells, each block has as many as fit below its least mass, and one word of 64 bits has a cell and an offset. A
cell that no block has, one in a hundred, stands for the rest of the law: its values are drawn by trials
that begin above the layer (proof: docs/proofs/rounded_gaussian_sampler.md, lemmas 5 and 6).

Far values come from the rest alone, so the work of a single draw would tell of its size. So this is for
vectors: how many trials are made depends on their length, except with a probability below 2^-40.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.alias import AliasTable
from discreet.noise.bernoulli import Coin
from discreet.noise.enclosure import exponential, product, quotient
from discreet.noise.gaussian import (
    BAND,
    LARGEST_SINGLE,
    check_variance,
    low_bits,
    sample_beyond,
    tabulated_count,
    weight_series,
)
from discreet.noise.normal_cells import cell_average, root_of_two_pi
from discreet.noise.parameters import check_draws
from discreet.noise.rounded_gaussian import estimate_averages, sample_rounded_gaussian
from discreet.noise.uniform import UniformBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.array_types import Integers
    from discreet.noise.enclosure import Enclosure
    from discreet.noise.entropy import Source

__all__ = ["LayeredDraws", "Layers", "RestAcceptance", "layers_of", "sample_layered_gaussian"]

_CELL_BITS = 16
_CELLS = 1 << _CELL_BITS
_CELL_SHIFT = np.uint64(64 - _CELL_BITS)
_LANES = 1 << 16
_GUARD_BITS = 64
_CERTIFIED_BITS = 192
_SPARE = 8  # deviations by which trials are more than are needed on average


class Layers:
    """The level part of a law, and what is needed for the rest.

    Parameters
    ----------
    variance : Fraction
        V, that of 2 X; above 128^2.

    Attributes
    ----------
    shift : int
        Blocks have 2^shift offsets: between 64 and 128 of them are a standard deviation.
    counts : list of int
        How many cells each block has, on either side.
    values : array of int64
        Of each cell with a block, the sum of J + 1 and an offset counted upwards; 0 for the rest.
    decided : int
        How many cells have a block; they come first.
    """

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        self.shift = low_bits(variance) - 1
        self._curvature = Fraction(1 << (2 * self.shift)) / (2 * variance)
        self._blocks = tabulated_count(self._curvature)
        self.counts = self._fitting()
        width = 1 << self.shift
        upwards = np.repeat(np.arange(self._blocks, dtype=np.int64) * width, self.counts)
        self.decided = 2 * len(upwards)
        self.values = np.zeros(_CELLS, np.int64)
        self.values[: self.decided] = np.concatenate([upwards + 1, 1 - width - upwards])
        values = [value for h in range(self._blocks) for value in (h << self.shift, ~(h << self.shift))]
        self.rest = AliasTable([*values, 0], self._rest_masses, self._tail)
        shares = [self.share(h, _CERTIFIED_BITS)[0] / (1 << _CERTIFIED_BITS) for h in range(self._blocks)]
        self._shares = np.array([*shares, 0.0])

    def _fitting(self) -> list[int]:
        """Return how many cells fit below the least mass of each block, which is that of its end at least."""
        weights, _ = weight_series(self._curvature, self._blocks + 1, _CERTIFIED_BITS)
        height = self._height(_CERTIFIED_BITS)
        return [product(height, end, _CERTIFIED_BITS)[0] >> _CERTIFIED_BITS for end in weights[1:]]

    def _height(self, bits: int) -> Enclosure:
        """Enclose 2^16 2^shift / sqrt(2 pi V): the mass of a block of the greatest density, in cells."""
        cells = _CELLS << (self.shift + bits)
        return quotient((cells, cells), root_of_two_pi(self.variance, bits), bits)

    def share(self, block: int, bits: int) -> Enclosure:
        """Enclose how much of a block's greatest density is level: its cells, by those that it would fill."""
        if block >= self._blocks or not self.counts[block]:
            return 0, 0
        working = bits + _GUARD_BITS
        begin = exponential(self._curvature * block * block, working)
        cells = self.counts[block] << working
        low, high = quotient((cells, cells), product(self._height(working), begin, working), working)
        return low >> _GUARD_BITS, min(-(-high >> _GUARD_BITS), 1 << bits)

    def shares(self, starts: Integers) -> NDArray[np.float64]:
        """Return the shares of the blocks that start there, within 2^-50."""
        return self._shares.take(starts >> self.shift, mode="clip")

    def _rest_masses(self, bits: int) -> list[Enclosure]:
        """Enclose the probabilities of sign and block of a trial above the layer."""
        working = bits + _GUARD_BITS
        height = self._height(working)
        kept, beyond = weight_series(self._curvature, self._blocks, working)
        masses = []
        for weight, count in zip(kept, self.counts, strict=True):
            low, high = product(height, weight, working)
            masses += 2 * [(max(low - (count << working), 0), high - (count << working))]
        low, high = product(height, beyond, working)
        masses.append((2 * low, 2 * high))
        total = sum(low for low, _ in masses), sum(high for _, high in masses)
        scaled = (quotient(mass, total, working) for mass in masses)
        return [(low >> _GUARD_BITS, -(-high >> _GUARD_BITS)) for low, high in scaled]

    def _tail(self, source: Source) -> int:
        start = sample_beyond(self._curvature, self._blocks, source) << self.shift
        return start if source.decide(Coin(Fraction(1, 2)), 1)[0] else ~start

    @property
    def kept(self) -> float:
        """About how often a trial above the layer is kept."""
        deviation = sqrt(self.variance) / (1 << self.shift)
        return (_CELLS - self.decided) / (_CELLS * (1 + 0.4 / deviation) - self.decided)

    def trials(self, size: int) -> int:
        """Return how many trials are made for a vector, so that they are enough but with 2^-40."""
        rest = 1 - self.decided / _CELLS
        most = size * rest + _SPARE * sqrt(size * rest) + _SPARE**2
        return int((most + _SPARE * sqrt(most)) / self.kept) + 1

    def draw_rest(self, trials: int, source: Source) -> Integers:
        """Make some trials above the layer, and return J + 1 of those that are kept."""
        blocks = source.decide(self.rest, trials)
        offsets = source.decide(UniformBits(self.shift), trials)
        starts = blocks ^ (blocks >> 63)
        kept = source.decide(RestAcceptance(self, starts, offsets), trials)
        blocks ^= offsets
        blocks += 1
        found: Integers = blocks[kept == 1]
        return found


class RestAcceptance:
    """The decisions s + (1 - s) U < p, as 1 or 0, with p that of `CellAcceptance` and s the block's share.

    Floats are believed where the two sides differ by more than the band of 2^-31: the share is
    within 2^-50, and p within 2^-32. Enclosures of both decide about the others.
    """

    blocks = 1

    def __init__(self, layers: Layers, starts: Integers, offsets: Integers) -> None:
        self._layers = layers
        self._starts, self._offsets = starts, offsets

    def outcomes(self, words: NDArray[np.uint64], lane: int, source: Source) -> NDArray[np.int64]:
        """Decide lanes `lane`, `lane + 1`, …: 1 keeps the candidate."""
        lanes = slice(lane, lane + len(words))
        starts, offsets = self._starts[lanes], self._offsets[lanes]
        cuts, undecided = estimate_averages(starts, offsets, float(1 / (2 * self._layers.variance)))
        shares = self._layers.shares(starts)
        levels = words * 2.0**-64
        levels *= 1 - shares
        levels += shares
        kept = (levels < cuts).astype(np.int64)
        cuts -= levels
        undecided |= np.abs(cuts) <= BAND
        for position in np.flatnonzero(undecided):
            kept[position] = self._settle(
                int(words[position]), int(starts[position]), int(offsets[position]), source
            )
        return kept

    def _settle(self, word: int, start: int, offset: int, source: Source) -> int:
        """Decide it for the U that starts with the 64 bits of `word`."""
        known, layers = 64, self._layers
        while True:
            bits = known + 64
            low, high = cell_average(Fraction(start + offset), Fraction(start * start), layers.variance, bits)
            share_low, share_high = layers.share(start >> layers.shift, bits)
            least = (share_low << known) + ((1 << bits) - share_low) * word
            most = (share_high << known) + ((1 << bits) - share_high) * (word + 1)
            if most <= low << known:
                return 1
            if least >= high << known:
                return 0
            word = (word << 64) | source.bits(64)
            known += 64


@lru_cache(maxsize=8)
def layers_of(variance: Fraction) -> Layers:
    """Return the layers of 2 X, for the variance of X."""
    return Layers(4 * variance)


class LayeredDraws:
    """The numbers of one vector of noise, drawn some at a time: the vector need not be in memory at once.

    Parameters
    ----------
    variance : Fraction or int
        sigma^2 of the normal numbers that are rounded, the square of a number from 1/100 to 2^40.
    size : int
        How many numbers the vector has.
    source : Source
        Where the words come from.
    """

    def __init__(self, variance: Fraction, size: int, source: Source) -> None:
        self._variance, self._left, self._source = check_variance(variance), check_draws(size), source
        self._layers = layers_of(self._variance) if self._variance > LARGEST_SINGLE**2 else None
        if self._layers is not None:
            self._trials = self._layers.trials(size)
            self._rest = self._layers.draw_rest(self._trials, source)
            self._cells = np.empty(min(size, _LANES), np.int64)
            self._values = np.empty_like(self._cells)

    def next(self, count: int) -> Integers:
        """Return the next numbers, at most 2^16 of them, which the next call writes over."""
        if not 0 <= count <= min(self._left, _LANES):
            raise ParameterError("count", "is out of range", "at most 2^16, and what is left of the vector")
        self._left -= count
        if self._layers is None:
            return sample_rounded_gaussian(self._variance, count, self._source)
        words, cells, values = self._source.words(count), self._cells[:count], self._values[:count]
        np.right_shift(words, _CELL_SHIFT, out=cells.view(np.uint64))
        self._layers.values.take(cells, mode="clip", out=values)
        words &= np.uint64((1 << self._layers.shift) - 1)
        values += words.view(np.int64)
        lanes = np.flatnonzero(cells >= self._layers.decided)
        values[lanes] = self._next_rest(self._layers, len(lanes))
        values >>= 1
        return values

    def _next_rest(self, layers: Layers, count: int) -> Integers:
        while len(self._rest) < count:
            self._rest = np.concatenate([self._rest, layers.draw_rest(self._trials, self._source)])
        found, self._rest = self._rest[:count], self._rest[count:]
        return found


def sample_layered_gaussian(variance: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Draw a vector of `size` values round(sigma Z), Z standard normal, exactly.

    Parameters
    ----------
    variance : Fraction or int
        sigma^2, the square of a number from 1/100 to 2^40.
    size : int
        How many to draw.
    source : Source
        Where the words come from.
    """
    draws = LayeredDraws(variance, size, source)
    drawn = np.empty(size, np.int64)
    for start in range(0, size, _LANES):
        some = drawn[start : start + _LANES]
        some[:] = draws.next(len(some))
    return drawn
