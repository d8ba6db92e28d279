"""The square-root strategy: for ranges within hundredths of a percent of the best, in O(n log n).

For all ranges and for prefixes the eigenvectors of G are sines. With D = diag(G^(1/2)), the matrix
G^(1/4) D^(-1/2) has columns of norm 1, and its error is close to a bound on every strategy's. It is
rounded in two places that keep its structure: A = M diag(h), where M[i, j] = t(i - j) - t(i + j)
for an *integer* sequence t, and h are integers. So A is an integer matrix, its columns' norms are
exact by one exact convolution, and it is multiplied and inverted by sine transforms at any size.
"""

from __future__ import annotations

from dataclasses import field
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.algebra.modular import LARGEST_CELL, SineProduct, self_overlap
from discreet.workloads.algebra.sine import (
    bilinear_minimum,
    circle,
    kernel,
    sine_diagonal,
    sine_transform,
    spectrum_of,
)
from discreet.workloads.queries.base import Vector, Workload
from discreet.workloads.queries.ranges import AllRanges, Prefixes
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SquareRoot"]

_TAP_BITS = 16
_PADDED_FROM = 8192


@dataclass(frozen=True, slots=True, init=False, eq=False)
class SquareRoot(Strategy):
    """The column-normalized square root of the Gram matrix, for `AllRanges` or `Prefixes`, on integers.

    Parameters
    ----------
    workload : AllRanges or Prefixes
        The queries. Domains of more than 8192 cells are padded by empty cells to a length whose transform
        is fast, and estimates are least squares over those too: unbiased, with the variance that is
        stated, and slightly worse than least squares over the cells of the domain.
    bits : int, optional
        Entries of the matrix are about 2^bits, 16 to 30.

    Guarantee
    ---------
    `column_norm1` and `squared_column_norm2` bound the columns of the integer matrix that is
    applied, the second exactly (docs/proofs/strategies.md, proposition 4).

    Error
    -----
    `trace` is exact for the rounded matrix. For all ranges at Gaussian noise it lies within 0.07 percent of
    `lower_bound` from 256 cells on.
    """

    shape: tuple[int, ...]
    folded: bool
    padded: int
    half: NDArray[np.int64] = field(repr=False)
    scales: NDArray[np.int64] = field(repr=False)
    squared_column_norm2: int
    _spectrum: Vector = field(repr=False)
    _product: SineProduct = field(repr=False)

    def __init__(self, workload: AllRanges | Prefixes, bits: int | None = None) -> None:
        if not isinstance(workload, AllRanges | Prefixes):
            raise ParameterError("workload", "has no closed square root", "AllRanges or Prefixes")
        folded = isinstance(workload, Prefixes)
        usual = 30 if workload.size <= _PADDED_FROM else 28
        bits = whole(usual if bits is None else bits, "bits", least=16, most=30)
        taps = min(_TAP_BITS, bits // 2 + 2)
        padded = _fast_size(workload.size, folded)
        values = (Prefixes(padded) if folded else AllRanges(padded)).singular_values()
        half = _integer_kernel(_spread(np.sqrt(values), folded), folded, taps)
        ideal = _scales(sine_diagonal(_spread(values, folded))[:padded], bits - taps)
        scales = ideal[::-1].copy() if folded else ideal  # prefixes: cells in reversed order
        scales = scales[: workload.size]
        norms = _squared_norms(half, padded, folded)
        norms = (norms[::-1] if folded else norms)[: workload.size]
        self._set(
            shape=workload.shape,
            folded=folded,
            padded=padded,
            half=half,
            scales=scales,
            squared_column_norm2=_largest(norms, scales),
            _spectrum=_eigenvalues(half, folded),
            _product=SineProduct.of(half, LARGEST_CELL * int(scales.max())),
        )

    @property
    def measurements(self) -> int:
        """As many as the padded domain has cells."""
        return self.padded

    @property
    def column_norm1(self) -> int:
        """The largest column sum: entries are not negative, since t falls from 0 to N."""
        places = np.arange(1, self.padded + 1)
        table = _running_sums(self.half)
        inner = table(self.padded - places) + table(places - 1) - int(self.half[0])
        sums = inner - (table(self.padded + places) - table(places))
        sums = (sums[::-1] if self.folded else sums)[: self.size]
        return _largest(sums, self.scales, power=1)

    @property
    def largest_entry(self) -> int:
        """A bound: the taps' spread times the largest scale; and no entry exceeds its column's norm."""
        spread = int(self.half[0] - self.half[-1]) * int(self.scales.max())
        return min(spread, isqrt(self.squared_column_norm2))

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Scale the cells and multiply by the matrix of t, exactly."""
        if cells.ndim > 1:
            return np.stack([self.times(row) for row in cells])
        scaled = np.zeros(len(self.half) - 2, np.int64)
        scaled[: self.padded] = self._placed(cells * self.scales)
        return self._product.times(scaled)[: self.padded]

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Invert M by sine transforms and divide by the scales: on the padded domain A is square."""
        return self._taken(self._apply(np.asarray(measured, np.float64), 1 / self._spectrum)) / self.scales

    def covariance_times(self, vectors: Vector) -> Vector:
        """Return H^-1 M^-2 H^-1 v."""
        placed = self._placed(np.asarray(vectors, np.float64) / self.scales)
        return self._taken(self._apply(placed, self._spectrum**-2.0)) / self.scales

    def trace(self, workload: Workload) -> float:
        """Sum G[i, j] (M^-2)[i, j] / (h_i h_j) by G = (n + 1) min(i, j) - i j, or min(i, j) for prefixes."""
        if self.folded != isinstance(workload, Prefixes) or not isinstance(workload, AllRanges | Prefixes):
            return Strategy.trace(self, workload)
        check_domain(self, workload)
        weights = self._placed(1 / self.scales)
        inverse = _spread(self._spectrum**-2.0, self.folded)
        minimum = bilinear_minimum(weights, kernel(inverse), inverse)
        if self.folded:
            beyond = self.padded - self.size
            return minimum - beyond * float(weights @ self._apply(weights, self._spectrum**-2.0))
        moments = np.arange(1.0, self.padded + 1) * weights
        return (self.size + 1) * minimum - float(moments @ self._apply(moments, self._spectrum**-2.0))

    def _placed(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """Put cells on the places 1 … padded of the sine matrix."""
        extra = [(0, 0)] * (vectors.ndim - 1) + [(0, self.padded - self.size)]
        padded = np.pad(vectors, extra)
        return padded[..., ::-1] if self.folded else padded

    def _taken(self, places: NDArray[Any]) -> NDArray[Any]:
        return (places[..., ::-1] if self.folded else places)[..., : self.size]

    def _apply(self, vectors: Vector, spectrum: Vector) -> Vector:
        """Multiply by the matrix of the algebra that has these eigenvalues."""
        if not self.folded:
            return sine_transform(spectrum * sine_transform(vectors))
        mirrored = np.concatenate([vectors, vectors[..., ::-1]], axis=-1)
        transformed = sine_transform(mirrored)
        transformed[..., 1::2] = 0.0
        transformed[..., ::2] *= spectrum
        return sine_transform(transformed)[..., : vectors.shape[-1]]


def _fast_size(size: int, folded: bool) -> int:
    """Return the number of places: the size itself, or for large domains one whose transform is fast."""
    from scipy.fft import next_fast_len

    if size <= _PADDED_FROM:
        return size
    if not folded:
        return int(next_fast_len(size + 1, real=False)) - 1
    order = 2 * size + 1
    while order % 2 == 0 or next_fast_len(order, real=False) != order:
        order = int(next_fast_len(order + 1, real=False))
    return (order - 1) // 2


def _spread(values: Vector, folded: bool) -> Vector:
    """Return eigenvalues of sines of all orders; folded ones have odd orders and twice the eigenvalue."""
    if not folded:
        return values
    spectrum = np.zeros(2 * len(values))
    spectrum[::2] = 2 * values
    return spectrum


def _eigenvalues(half: NDArray[np.int64], folded: bool) -> Vector:
    spectrum = spectrum_of(half)
    return spectrum[::2] / 2 if folded else spectrum


def _integer_kernel(spectrum: Vector, folded: bool, bits: int) -> NDArray[np.int64]:
    """Round t so that t(0) is about 2^bits, and never let it rise; folded, keep t(N - d) = -t(d)."""
    order = len(spectrum) + 1
    last = spectrum[-2] if folded and order > 3 else spectrum[-1]
    ideal = kernel(spectrum, 2 * last if folded and order == 3 else last)
    if not folded:
        ideal -= ideal.min()  # a constant has no part in t(i - j) - t(i + j)
    rounded = np.minimum.accumulate(np.rint(ideal * (2.0**bits / ideal[0])).astype(np.int64))
    if not folded:
        return rounded
    first = rounded[: len(rounded) // 2]
    return np.concatenate([first, -first[::-1]])


def _scales(diagonal: Vector, bits: int) -> NDArray[np.int64]:
    """Round D^(-1/2) to integers below 2^bits."""
    ideal = diagonal**-0.5
    return np.asarray(np.rint(ideal * ((2.0**bits - 1) / ideal.max())), np.int64)


def _squared_norms(half: NDArray[np.int64], padded: int, folded: bool) -> NDArray[np.int64]:
    """Return the squared norms of M's columns: c(0) - c(2 j) for t's overlap c with itself; folded, half."""
    overlap = self_overlap(circle(half))
    norms = overlap[0] - overlap[(2 * np.arange(1, padded + 1)) % len(overlap)]
    return np.asarray(norms // 2 if folded else norms, np.int64)


def _largest(values: NDArray[np.int64], scales: NDArray[np.int64], power: int = 2) -> int:
    """Return the largest value times scale^power, exactly: those near the largest are multiplied out."""
    rough = values.astype(np.float64) * scales.astype(np.float64) ** power
    near = np.flatnonzero(rough >= rough.max() * (1 - 1e-9))
    exact: list[int] = [int(values[place]) * int(scales[place]) ** power for place in near]
    return max(exact)


def _running_sums(half: NDArray[np.int64]) -> Any:
    """Return a function that sums t(0) … t(d)."""
    period = circle(half)
    sums = np.cumsum(np.concatenate([period, period[:1]]))
    return lambda last: sums[last]
