"""The error of weighted sums of independent noises, of whose weights only the largest magnitudes are known.

Weights may depend on exact statistics, which are known within ends. A margin for the largest weights holds
for all smaller ones, since the noises are symmetric and unimodal.
(Proof: delta_method, lemma 1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.weighted import NoiseError

__all__ = ["LEAST_FAILURE", "MOST_NOISES", "margins_of_largest_weights", "total_in_units", "units_of"]

MOST_NOISES = 16
"""More are not worked out: what doubles lose by the transform is proven for so many."""
_LEVELS = (32, 16, 8, 4, 2, 1)
"""Weights are rounded up to so many parts of the largest, or to fewer where that leaves too many laws."""
_MOST_LAWS = 64
_BINS = 64
"""Noises are rounded to a 64th of the largest deviation."""
_FINE = 128
"""And, before they are weighted, to a 128th of their own."""
_LEFT = 1e-13
_TRANSFORM = 1e-10
"""More than what doubles lose: delta_method, lemma 1."""
_MOST_KNOWN, _MOST_TRANSFORMS = 1024, 256
LEAST_FAILURE = Fraction(1, 10**6)
"""Below, what doubles may lose is no longer small; no margin is given."""
_SLACK = 1 + 1e-9

_Transforms: TypeAlias = dict[tuple[int, int, int], Floats]
"""By the place of a noise, its level, and the length."""


def margins_of_largest_weights(
    laws: Sequence[NoiseError], weights: Floats, failure: Fraction | float
) -> Floats:
    """Return t, for each column of weights, with P(abs(w1 N1 + w2 N2 + …) > t) <= failure.

    It holds for every fixed choice of weights of at most the given magnitudes.

    Parameters
    ----------
    laws : sequence of error laws
        Of independent noises on the integers, each symmetric about 0 and unimodal, in steps.
    weights : array, one row for each noise
        Not negative; where one is not finite, the margin is infinite.
    failure : float
        The probability.
    """
    found = np.full(weights.shape[1], inf)
    if not 1 <= len(laws) <= MOST_NOISES or failure < LEAST_FAILURE:
        return found
    known = np.isfinite(weights).all(axis=0)
    units = units_of(laws)
    scaled = weights[:, known] * units[:, None]
    largest = scaled.max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(largest > 0, scaled / largest, 0.0)
    levels, patterns, which = _patterns(shares)
    quantiles = _sums_of(tuple(laws)).quantiles(patterns, levels, float(failure))
    # Weights were raised to multiples of a part of the largest; a step of each noise pays for the lattice.
    raised = np.asarray(patterns, np.float64).T[:, which] / levels * largest
    steps = (raised / units[:, None]).sum(axis=0)
    found[known] = (largest * quantiles[which] + steps) * _SLACK
    return found


def units_of(laws: Sequence[NoiseError]) -> Floats:
    """Return the deviation of each noise in steps; noise that is nearly always 0 is measured in quarters."""
    return np.array([_unit(law) for law in laws])


@lru_cache(maxsize=256)
def total_in_units(laws: tuple[NoiseError, ...], failure: Fraction) -> float:
    """Return a t with P(abs(N1) / u1 + abs(N2) / u2 + … > t) <= failure, where u are the units."""
    tables = [_rounded(_fine(law)[0], 1.0) for law in laws]
    size = 1 << sum(map(len, tables)).bit_length()
    transform = np.ones(size // 2 + 1, np.complex128)
    for masses in tables:
        transform *= np.fft.rfft(masses, size)
    summed = np.maximum(np.fft.irfft(transform, size), 0.0)
    left = sum(_fine(law)[1] for law in laws)
    return _first_place(summed, left, float(failure)) + len(laws) * _rounding(1.0)


def _patterns(shares: Floats) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return how many levels there are, the distinct columns of levels, and which of them each column has."""
    for levels in _LEVELS:
        raised = np.ceil(shares * levels * (1 - 1e-15)).astype(np.int64)
        patterns, which = np.unique(raised.T, axis=0, return_inverse=True)
        if len(patterns) <= _MOST_LAWS:
            break
    else:  # all noises of the largest weight; a pattern of zeros is raised, too
        patterns, which = np.ones((1, len(shares)), np.int64), np.zeros(shares.shape[1], np.int64)
    return levels, patterns, which.reshape(-1)


def _unit(law: NoiseError) -> float:
    return max(sqrt(law.variance), 0.25)


class _WeightedSums:
    """The quantiles of weighted sums of some noises; those that were found last are known.

    Parameters
    ----------
    laws : sequence of error laws
        Of the noises.
    """

    __slots__ = ("_fine", "_known")

    def __init__(self, laws: Sequence[NoiseError]) -> None:
        self._fine = [_fine(law) for law in laws]
        self._known: dict[tuple[tuple[int, ...], int, float], float] = {}

    def quantiles(self, patterns: NDArray[np.int64], levels: int, failure: float) -> Floats:
        """Return a t for each pattern, with P(abs(sum of level / levels noise / unit) > t) <= failure."""
        transforms: _Transforms = {}  # patterns share them; long, so that they are kept no longer
        found = []
        for pattern in map(tuple, patterns.tolist()):
            quantile = self._known.get((pattern, levels, failure))
            if quantile is None:
                quantile = self._quantile(pattern, levels, failure, transforms)
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[pattern, levels, failure] = quantile
            found.append(quantile)
        return np.array(found)

    def _quantile(
        self, pattern: tuple[int, ...], levels: int, failure: float, transforms: _Transforms
    ) -> float:
        weighted = [(place, level) for place, level in enumerate(pattern) if level]
        if not weighted:
            return 0.0
        lengths = [_length(len(self._fine[place][0]), level / levels) for place, level in weighted]
        size = 1 << (2 * sum(lengths) + 1).bit_length()
        transform = np.ones(size // 2 + 1)
        for place, level in weighted:
            if (place, level, size) not in transforms:
                if len(transforms) >= _MOST_TRANSFORMS:
                    transforms.clear()
                masses = _rounded(self._fine[place][0], level / levels)
                transforms[place, level, size] = _transform(masses, size)
            transform *= transforms[place, level, size]
        summed = np.maximum(np.fft.irfft(transform, size)[: size // 2], 0.0)
        summed[1:] *= 2
        left = sum(self._fine[place][1] for place, _ in weighted)
        rounding = sum(_rounding(level / levels) for _, level in weighted)
        return (_first_place(summed, left, failure) + rounding) * _SLACK


@lru_cache(maxsize=64)
def _sums_of(laws: tuple[NoiseError, ...]) -> _WeightedSums:
    return _WeightedSums(laws)


def _transform(masses: Floats, size: int) -> Floats:
    """Return the transform of a symmetric law, of whose magnitude these are the masses."""
    around = np.zeros(size)
    around[: len(masses)] = masses / 2
    around[0] = masses[0]
    around[size - len(masses) + 1 :] = masses[:0:-1] / 2
    return np.fft.rfft(around).real


def _rounding(weight: float) -> float:
    """Return what rounding a noise twice may move it by."""
    return weight / (2 * _FINE) + 1 / (2 * _BINS)


def _first_place(masses: Floats, left: float, failure: float) -> float:
    """Return the first multiple of a bin beyond which at most the failure probability lies.

    What was left out of the masses is beyond all of them.
    """
    beyond = np.append(masses[::-1].cumsum()[::-1][1:], 0.0)
    return int(np.argmax(beyond * _SLACK + (left + _TRANSFORM) <= failure)) / _BINS


def _length(fine: int, weight: float) -> int:
    """Return how many bins `_rounded` makes of so many parts."""
    return int(np.rint((fine - 1) * (weight * _BINS / _FINE))) + 1


def _rounded(fine: Floats, weight: float) -> Floats:
    """Return the masses of abs(weight N / unit) near 0, 1, 2, … bins, from those of abs(N)."""
    places = np.rint(np.arange(len(fine)) * (weight * _BINS / _FINE)).astype(np.int64)
    return np.bincount(places, weights=fine).astype(np.float64)


@lru_cache(maxsize=256)
def _fine(law: NoiseError) -> tuple[Floats, float]:
    """Return the masses of abs(N) near 0, 1, 2, … parts of its unit, and what is left out."""
    width = _unit(law) / _FINE
    if isinstance(law, LaplaceError):
        # P(abs(N) > m) = 2 r^(m + 1) / (1 + r) with r = exp(-1 / scale).
        rate = float(law.step / law.scale)
        last = int(30 / rate / width) + 2
        edges = np.floor((np.arange(last) + 0.5) * width)
        beyond = np.exp(-rate * (edges + 1)) * (2 / (1 + exp(-rate)))
    else:
        tails = [1.0]
        while tails[-1] > _LEFT:
            tails.append(law.tail_in_steps(int((len(tails) - 0.5) * width)))
        beyond = np.array(tails[1:])
    beyond = np.minimum.accumulate(np.minimum(beyond, 1.0))
    return -np.diff(beyond, prepend=1.0), float(beyond[-1])
