"""The Fourier strategy: cyclic convolution with the kernel whose spectrum suits the workload best."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.algebra.modular import LARGEST_CELL, cyclic_product
from discreet.workloads.queries.base import Vector, Workload
from discreet.workloads.strategies.base import Strategy, check_domain
from discreet.workloads.strategies.dense import LEAST_CONDITION

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Fourier"]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Fourier(Strategy):
    """Fourier coefficients of an ordered domain, weighted for a workload, turned back into integers.

    Parameters
    ----------
    workload : Workload
        For which the weights are best.
    bits : int
        The kernel's largest tap is about 2^bits.

    Notes
    -----
    To add Gaussian noise to weighted Fourier coefficients is to add it to A x, where A is the
    circulant matrix with the same spectrum: the transform is a rotation. Among circulant matrices
    the best has the spectrum gamma_k^(1/4), where gamma_k = f_k^* G f_k for the k-th Fourier
    vector. All columns of A have the same norms.
    """

    shape: tuple[int, ...]
    taps: NDArray[np.int64] = field(repr=False)

    def __init__(self, workload: Workload, bits: int = 20) -> None:
        bits = whole(bits, "bits", least=1, most=24)
        gamma = np.maximum(np.fft.rfft(workload.diagonal_sums() / workload.size).real, 0.0)
        roots = np.maximum(gamma, gamma.max() * 1e-14) ** 0.25
        ideal = np.fft.irfft(roots, workload.size)
        half = np.rint(ideal * (2.0**bits / np.abs(ideal).max())).astype(np.int64)[: workload.size // 2 + 1]
        self._set(shape=(workload.size,), taps=np.append(half, half[1 : (workload.size + 1) // 2][::-1]))
        magnitudes = np.abs(self.spectrum)
        if magnitudes.min() <= LEAST_CONDITION * magnitudes.max():
            raise ParameterError(
                "bits",
                "rounds the kernel to one from which cells cannot be told apart",
                "more bits, up to 24",
            )

    @property
    def spectrum(self) -> Vector:
        """The eigenvalues of A, which is symmetric: those of frequencies 0 … n / 2."""
        return np.fft.rfft(self.taps.astype(np.float64)).real

    @property
    def measurements(self) -> int:
        """As many as cells."""
        return self.size

    @property
    def column_norm1(self) -> int:
        """The sum of magnitudes of the taps."""
        return int(np.abs(self.taps).sum())

    @property
    def squared_column_norm2(self) -> int:
        """The sum of squares of the taps."""
        return sum(int(tap) ** 2 for tap in self.taps)

    @property
    def largest_entry(self) -> int:
        """The largest tap."""
        return int(np.abs(self.taps).max())

    def times(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convolve, exactly."""
        if cells.ndim == 1:
            return cyclic_product(self.taps, cells, LARGEST_CELL)
        return np.stack([self.times(row) for row in cells])

    def reconstruct(self, measured: NDArray[Any]) -> Vector:
        """Divide by the spectrum: A is square, so least squares is the inverse."""
        return self._divide(np.asarray(measured, np.float64), self.spectrum)

    def covariance_times(self, vectors: Vector) -> Vector:
        """Divide by the squared spectrum."""
        return self._divide(vectors, self.spectrum**2)

    def trace(self, workload: Workload) -> float:
        """Sum gamma_k / lambda_k^2 over all frequencies."""
        check_domain(self, workload)
        gamma = np.fft.rfft(workload.diagonal_sums() / self.size).real
        return float(np.fft.irfft(gamma / self.spectrum**2, self.size)[0] * self.size)

    def _divide(self, vectors: Vector, divisor: Vector) -> Vector:
        return np.asarray(np.fft.irfft(np.fft.rfft(vectors, axis=-1) / divisor, self.size, axis=-1))
