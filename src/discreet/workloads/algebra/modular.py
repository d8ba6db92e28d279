"""Integer linear algebra that is exact modulo 2^64, at the speed of floating-point transforms.

Private counts are multiplied by public integer matrices. Products are taken on short limbs, whose sums a
float holds exactly, or whose transforms are off by provably less than one half; they are put together
in 64-bit integers that wrap around. `fold_wrapped` then turns what wrapped into values that mechanisms
accept.
"""

from __future__ import annotations

from fractions import Fraction
from math import log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.values import Lattice
from discreet.records import dataclass
from discreet.workloads.algebra.sine import circle, spectrum_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector

__all__ = [
    "LARGEST_CELL",
    "LARGEST_SUM",
    "IntegerMatrix",
    "SineProduct",
    "clamped_counts",
    "cyclic_product",
    "fold_wrapped",
    "self_overlap",
]

LARGEST_CELL = (1 << 29) - 1
"""Cells are clamped to this magnitude before they are measured."""
LARGEST_SUM = 1 << 62
"""Sums up to this magnitude are measured as they are; larger ones are reflected here."""
_QUARTER_TURN = np.int64(LARGEST_SUM)
_HALF_TURN = np.int64(-(1 << 63))  # 2^63, which wraps
_ROUNDING = 2.0**-53
_FAR_FROM_HALF = 0.375
_INTEGERS = Lattice(step=Fraction(1), integers=True)


def clamped_counts(x: Any, size: int, name: str = "x") -> NDArray[np.int64]:
    """Return private counts in their own shape, clamped to magnitude 2^29 - 1.

    What is refused depends on the type and the number of counts alone: integers of any size enter.
    """
    try:
        counts = _INTEGERS.enter(x, name)
    except ParameterError:
        counts = np.zeros(0, np.int64)
    if counts.size != size:
        raise ParameterError(
            name, "is not an array of as many integers as the domain has cells", f"{size} counts"
        )
    return counts.clip(-LARGEST_CELL, LARGEST_CELL)


def fold_wrapped(wrapped: NDArray[np.int64]) -> NDArray[np.int64]:
    """Map integers modulo 2^64 into [-2^62, 2^62], moving no two of them further apart.

    The triangle wave with period 2^64: y for abs(y) <= 2^62, and reflected there. It depends on y
    modulo 2^64 alone and is 1-Lipschitz, so that the sensitivity of a wrapped product is that of the
    exact one (docs/proofs/strategies.md). Which tables are measured as they are: `Strategy.largest_total`.
    """
    inside = (wrapped >= -_QUARTER_TURN) & (wrapped <= _QUARTER_TURN)
    return np.where(inside, wrapped, _HALF_TURN - wrapped)


def limbs_of(values: NDArray[np.int64], bits: int, count: int) -> list[Vector]:
    """Split integers into balanced digits of the base 2^bits; the last one takes what is left."""
    base, half = np.int64(1 << bits), np.int64(1 << (bits - 1))
    limbs, rest = [], values
    for _ in range(count - 1):
        low = ((rest + half) & (base - 1)) - half
        limbs.append(low.astype(np.float64))
        rest = (rest - low) >> np.int64(bits)
    return [*limbs, rest.astype(np.float64)]


def transform_error(length: int, first: float, second: float) -> float:
    """Bound how far a product by transforms of this length is off, from the norms of both factors.

    abs(error) <= ||a|| ||b|| ((1 + u)^(3 m) (1 + u sqrt 5)^(3 m + 1) (1 + u)^(3 m) - 1) with m =
    log2(length) and u = 2^-53 (Brent, Percival & Zimmermann 2007, theorem 5.1); doubled for other
    small radices, and sixteenfold for lengths with large primes, which take several transforms.
    """
    from scipy.fft import next_fast_len

    stages = log2(length) + 1
    safety = 2.0 if next_fast_len(length, real=True) == length else 16.0
    return safety * first * second * _ROUNDING * (3 * stages * (2 + sqrt(5)) + 3)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SineProduct:
    """Multiply by the integer matrix t(i - j) - t(i + j), exactly modulo 2^64.

    Attributes
    ----------
    bits : int
        The length of limbs.
    digits : int
        How many of them a vector's entries have.
    spectra : list of arrays
        The eigenvalues that the limbs of t give.
    """

    bits: int
    digits: int
    spectra: list[Vector]

    @classmethod
    def of(cls, half: NDArray[np.int64], largest: int) -> SineProduct:
        """Prepare the matrix of t(0) … t(N), for vectors of entries up to `largest`.

        Limbs are as long as they may be for every rounding to go to the right integer.
        """
        order = len(half) - 1
        for bits in range(14, 3, -1):
            count = _limb_count(int(np.abs(half).max()), bits)
            parts = limbs_of(half, bits, count)
            norm = max(float(np.linalg.norm(circle(part))) for part in parts)
            if count * transform_error(2 * order, norm, sqrt(2 * order) * 2.0 ** (bits - 1)) < _FAR_FROM_HALF:
                return cls(
                    bits=bits,
                    digits=_limb_count(largest, bits),
                    spectra=[spectrum_of(part) for part in parts],
                )
        raise ParameterError("size", "is too large for exact products", "at most 2^27 cells")

    def times(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return M v modulo 2^64, for integers no larger than was said."""
        from scipy.fft import dst

        order = len(self.spectra[0]) + 1
        limbs = [_forward(limb) for limb in limbs_of(values, self.bits, self.digits)]
        result = np.zeros(len(values), np.int64)
        for place in range(len(limbs) + len(self.spectra) - 1):
            pairs = [
                (spectrum, limbs[place - shift])
                for shift, spectrum in enumerate(self.spectra)
                if 0 <= place - shift < len(limbs)
            ]
            product = pairs[0][0] * pairs[0][1]
            for spectrum, limb in pairs[1:]:
                product += spectrum * limb
            exact = np.rint((dst(product, type=1) if order > 2 else 2 * product) / (2 * order)).astype(
                np.int64
            )
            result += exact << np.int64(self.bits * place)
        return result


def _forward(limb: Vector) -> Vector:
    from scipy.fft import dst

    transformed: Vector = dst(limb, type=1) if len(limb) > 1 else 2 * limb
    return transformed


def _limb_count(largest: int, bits: int) -> int:
    """Return how many balanced digits hold integers up to this magnitude."""
    count = 1
    while (1 << (bits * count - 1)) - (1 << (bits * (count - 1))) < largest:
        count += 1
    return count


def cyclic_product(first: NDArray[np.int64], second: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Return the cyclic convolution of two integer sequences, exactly modulo 2^64."""
    length = len(first)
    for bits in range(14, 3, -1):
        parts = limbs_of(first, bits, _limb_count(int(np.abs(first).max()), bits))
        norm = max(float(np.linalg.norm(part)) for part in parts)
        if len(parts) * transform_error(length, norm, sqrt(length) * 2.0 ** (bits - 1)) < _FAR_FROM_HALF:
            break
    spectra = [np.fft.rfft(part) for part in parts]
    others = [np.fft.rfft(part) for part in limbs_of(second, bits, _limb_count(largest, bits))]
    result = np.zeros(length, np.int64)
    for place in range(len(spectra) + len(others) - 1):
        product = sum(
            spectrum * others[place - shift]
            for shift, spectrum in enumerate(spectra)
            if 0 <= place - shift < len(others)
        )
        result += np.rint(np.fft.irfft(product, length)).astype(np.int64) << np.int64(bits * place)
    return result


def self_overlap(period: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of t(i) t(i + d) over one period of an even sequence, for each d: exact below 2^63."""
    return cyclic_product(period, period, int(np.abs(period).max()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntegerMatrix:
    """A matrix of integers, multiplied exactly modulo 2^64 by floating-point products of limbs.

    Attributes
    ----------
    entries : array of float64
        Integers.
    bits : int
        The length of limbs: entry times limb, summed over a row, stays below 2^53.
    """

    entries: Vector
    bits: int

    @classmethod
    def of(cls, matrix: NDArray[np.int64]) -> IntegerMatrix:
        """Prepare an array of integers, of which no row's magnitudes sum to 2^48 or more."""
        rough = float(np.abs(matrix.astype(np.float64)).sum(axis=1).max())
        if rough >= 2.0**48:
            raise ParameterError(
                "matrix", "has rows that are too large", "rows whose magnitudes sum to below 2^48"
            )
        largest = int(np.abs(matrix.astype(np.int64)).sum(axis=1).max())
        return cls(entries=matrix.astype(np.float64), bits=52 - largest.bit_length())

    def times(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return M v for each vector along the last axis."""
        result: NDArray[Any] = np.zeros((*values.shape[:-1], len(self.entries)), np.int64)
        for place in range(0, 64, self.bits):
            limb = (values.view(np.uint64) >> np.uint64(place)) & np.uint64((1 << self.bits) - 1)
            part = (limb.astype(np.float64) @ self.entries.T).astype(np.int64)
            result += part << np.int64(place)
        return result
