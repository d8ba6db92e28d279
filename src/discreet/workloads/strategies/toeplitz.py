"""The square root of running sums, as a stream: measurement t needs nothing that comes after t.

The matrix P of running sums is the power series 1 / (1 - z) in the shift z, so P^(1/2) has the taps
binom(2 k, k) / 4^k of (1 - z)^(-1/2): lower triangular, and so is A = R diag(h) with taps r rounded
to integers and integer scales h_j that make all columns alike (Fichtenberger, Henzinger & Upadhyay
2023; normalized as in Henzinger, Kalinin & Upadhyay 2025).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.queries.base import Vector, Workload, checked_size
from discreet.workloads.queries.ranges import Prefixes
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ToeplitzRoot", "triangular_inverse"]

LARGEST_STREAM = 1 << 16
_TAP_BITS = 16
_SCALE_BITS = 14
_COLUMNS_AT_ONCE = 1 << 12


@dataclass(frozen=True, slots=True, init=False, eq=False)
class ToeplitzRoot(Strategy):
    """The column-normalized Toeplitz square root for prefixes of a stream of `size` steps.

    Parameters
    ----------
    size : int
        The number of steps, at most 65,536.
    normalized : bool
        Whether columns are scaled to the same norm: about 5 percent less error. Without it A is the plain
        square root of Fichtenberger et al.
    """

    shape: tuple[int, ...]
    taps: NDArray[np.int64] = field(repr=False)
    scales: NDArray[np.int64] = field(repr=False)
    inverse: Vector = field(repr=False)

    def __init__(self, size: int, *, normalized: bool = True) -> None:
        size = whole(checked_size(size), "size", least=1, most=LARGEST_STREAM)
        orders = np.arange(1, size)
        ideal = np.concatenate([[1.0], np.cumprod((2 * orders - 1) / (2 * orders))])
        taps = np.rint(ideal * 2.0**_TAP_BITS).astype(np.int64)
        norms = np.sqrt(np.cumsum(ideal**2))[::-1]  # of the column that has size - j taps
        scales = np.rint(2.0**_SCALE_BITS * (norms.min() / norms)) if normalized else np.ones(size)
        self._set(
            shape=(size,),
            taps=taps,
            scales=scales.astype(np.int64),
            inverse=triangular_inverse(taps.astype(np.float64)),
        )

    @property
    def measurements(self) -> int:
        """One for each step."""
        return self.size

    @property
    def column_norm1(self) -> int:
        """The largest scaled sum of taps."""
        return max(int(a) * int(b) for a, b in zip(np.cumsum(self.taps)[::-1], self.scales, strict=True))

    @property
    def squared_column_norm2(self) -> int:
        """The largest scaled sum of squared taps."""
        sums = np.cumsum(self.taps**2)[::-1]
        return max(int(a) * int(b) ** 2 for a, b in zip(sums, self.scales, strict=True))

    @property
    def largest_entry(self) -> int:
        """The first tap times the largest scale."""
        return int(self.taps[0]) * int(self.scales.max())

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convolve the scaled cells with the taps, step by step: O(n^2), and exact modulo 2^64."""
        scaled = cells * self.scales
        result = np.zeros_like(scaled)
        for lag, tap in enumerate(self.taps):
            result[..., lag:] += scaled[..., : self.size - lag] * tap
        return result

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Convolve with the taps of the inverse and divide by the scales."""
        return self._convolved(np.asarray(measured, np.float64)) / self.scales

    def covariance_times(self, vectors: Vector) -> Vector:
        """Return H^-1 R^-1 R^-T H^-1 v: the transpose is the convolution of the reversed vector."""
        backward = self._convolved((np.asarray(vectors, np.float64) / self.scales)[..., ::-1])[..., ::-1]
        return self._convolved(backward) / self.scales

    def trace(self, workload: Workload) -> float:
        """For prefixes, the squared Frobenius norm of P H^-1 R^-1, row by row: O(n^2) time, O(n) memory."""
        check_domain(self, workload)
        if not isinstance(workload, Prefixes):
            return Strategy.trace(self, workload)
        backward, shares = self.inverse[::-1].copy(), 1 / self.scales
        total, added = 0.0, np.zeros(_COLUMNS_AT_ONCE)
        for first in range(0, self.size, _COLUMNS_AT_ONCE):
            row = np.zeros(min(_COLUMNS_AT_ONCE, self.size - first))
            for step in range(first, self.size):
                # row t of P H^-1 R^-1 is row t - 1 plus row t of H^-1 R^-1
                held = row[: step + 1 - first]
                start = self.size - 1 - step + first
                taps = backward[start : start + len(held)]
                held += np.multiply(taps, shares[step], out=added[: len(held)])
                total += float(np.einsum("i,i->", held, held))
        return total

    def _convolved(self, vectors: Vector) -> Vector:
        from scipy import fft

        length = fft.next_fast_len(2 * self.size, real=True)
        product = fft.rfft(vectors, length, axis=-1) * fft.rfft(self.inverse, length)
        return np.asarray(fft.irfft(product, length, axis=-1)[..., : self.size])


def triangular_inverse(taps: Vector) -> Vector:
    """Return the taps of the inverse of a lower triangular Toeplitz matrix, by Newton's iteration."""
    from scipy import fft

    result = np.array([1 / taps[0]])
    while len(result) < len(taps):
        count = min(2 * len(result), len(taps))
        length = fft.next_fast_len(3 * count, real=True)
        spectrum = fft.rfft(result, length)
        product = fft.irfft(fft.rfft(taps[:count], length) * spectrum * spectrum, length)[:count]
        doubled = np.zeros(count)
        doubled[: len(result)] = 2 * result
        result = doubled - product
    return result
