"""The algebra of matrices that the sine transform diagonalizes.

Let S be the sine matrix of order n, S[i, k] = sqrt(2 / N) sin(pi i k / N) with N = n + 1 and i, k =
1 … n: it is symmetric and its own inverse. For an even sequence t of period 2 N, the matrix

    M[i, j] = t(i - j) - t(i + j)

equals S diag(lambda) S, where lambda is the discrete Fourier transform of t over one period. So an
*integer* sequence t gives an integer matrix that is inverted, and applied, in O(n log n).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector

__all__ = ["bilinear_minimum", "circle", "kernel", "sine_diagonal", "sine_transform", "spectrum_of"]

_LEAF = 64


def kernel(spectrum: Vector, last: float = 0.0) -> Vector:
    """Return t(0) … t(N) for eigenvalues lambda_1 … lambda_n.

    lambda_0 and lambda_N have no part in the matrix. The first is 0; the second is `last`, which
    makes t smooth when it continues the others.
    """
    from scipy import fft

    order = len(spectrum) + 1
    full = np.zeros(order + 1)
    full[1:order] = spectrum
    full[order] = last
    values: Vector = fft.irfft(full, 2 * order)[: order + 1]
    return values


def circle(half: NDArray[Any]) -> NDArray[Any]:
    """Return one whole period of the even sequence with the values t(0) … t(N)."""
    return np.concatenate([half, half[-2:0:-1]])


def spectrum_of(half: NDArray[Any]) -> Vector:
    """Return the eigenvalues lambda_1 … lambda_n that the values t(0) … t(N) give."""
    from scipy import fft

    values: Vector = fft.rfft(circle(half).astype(np.float64)).real[1:-1]
    return values


def sine_transform(vectors: Vector) -> Vector:
    """Return S v for each vector along the last axis."""
    from scipy import fft

    if vectors.shape[-1] == 1:
        return np.array(vectors)  # S is the number 1
    transformed: Vector = fft.dst(vectors, type=1, norm="ortho", axis=-1)
    return transformed


def sine_diagonal(spectrum: Vector) -> Vector:
    """Return the diagonal of S diag(lambda) S: t(0) - t(2 j)."""
    half, order = kernel(spectrum), len(spectrum) + 1
    doubled = 2 * np.arange(1, order)
    diagonal: Vector = half[0] - half[np.where(doubled > order, 2 * order - doubled, doubled)]
    return diagonal


def bilinear_minimum(weights: Vector, half: Vector, spectrum: Vector) -> float:
    """Return the sum over i and j of min(i, j) a_i a_j (t(i - j) - t(i + j)), in O(n log^2 n).

    min(i, j) = (i + j - abs(i - j)) / 2. The term in i + j is a product with the matrix; the term in
    abs(i - j) t(i - j) a convolution; that in abs(i - j) t(i + j) is one where i < j, so it is added up
    over pairs of neighboring blocks of every size.
    """
    places = np.arange(1.0, len(weights) + 1)
    extended = np.zeros(len(spectrum))
    extended[: len(weights)] = weights
    applied = sine_transform(spectrum * sine_transform(extended))[: len(weights)]
    linear = float((places * weights) @ applied)
    return linear - (_distances(weights, half) - _reflected(weights, half)) / 2


def _distances(weights: Vector, half: Vector) -> float:
    """Sum of abs(i - j) t(i - j) a_i a_j: a convolution with d t(d)."""
    from scipy import fft

    count = len(weights)
    length = 2 * count
    shifts = np.arange(count)
    taps = np.zeros(length)
    taps[:count] = shifts * half[:count]
    taps[count + 1 :] = taps[1:count][::-1]
    spread = fft.irfft(fft.rfft(weights, length) * fft.rfft(taps), length)[:count]
    return float(weights @ spread)


def _reflected(weights: Vector, half: Vector) -> float:
    """Sum of abs(i - j) t(i + j) a_i a_j, by blocks."""
    order, count = len(half) - 1, _LEAF
    while count < len(weights):
        count *= 2
    padded = np.zeros(count)
    padded[: len(weights)] = weights
    sums = np.arange(2, 3 * count + 2) % (2 * order)  # entry s is t(s + 2), as places begin with 1
    symbol = half[np.where(sums > order, 2 * order - sums, sums)]
    total, width = _within(padded, symbol), _LEAF
    while width < count:
        total += _across(padded, symbol, width)
        width *= 2
    return total


def _within(padded: Vector, symbol: Vector) -> float:
    """Pairs in the same block of the smallest width, by their distance."""
    blocks = padded.reshape(-1, _LEAF)
    local = symbol[: 2 * len(padded)].reshape(-1, 2 * _LEAF)
    total = 0.0
    for distance in range(1, _LEAF):
        pairs = blocks[:, :-distance] * blocks[:, distance:]
        total += 2 * distance * float((pairs * local[:, distance : 2 * _LEAF - distance : 2]).sum())
    return total


def _across(padded: Vector, symbol: Vector, width: int) -> float:
    """Pairs with j in the left and i in the right one of two neighboring blocks."""
    from scipy import fft

    pairs, offset, length = padded.reshape(-1, 2, width), np.arange(width), 2 * width
    left, right = fft.rfft(pairs[:, 0], length), fft.rfft(pairs[:, 1], length)
    left_moment = fft.rfft(pairs[:, 0] * offset, length)
    right_moment = fft.rfft(pairs[:, 1] * (offset + width), length)
    products = fft.irfft(right_moment * left - right * left_moment, length)
    local = symbol[width : width + 2 * len(padded)].reshape(-1, 2 * length)
    return 2 * float((products[:, :-1] * local[:, : length - 1]).sum())
