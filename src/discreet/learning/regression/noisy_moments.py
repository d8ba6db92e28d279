"""Noisy second moments of rows: how they are released, and the least squares that they give."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.array_types import Floats, Integers

__all__ = ["OFF_DIAGONAL", "RegressionMoments", "product_steps", "symmetric"]

OFF_DIAGONAL = 10
"""By what products beside the diagonal are multiplied before they are released."""
_DIAGONAL = 7  # 2 * 7^2 < 10^2, so that all directions of a row cost alike: lemma 3 of the proof page


def product_steps(products: Integers) -> Integers:
    """Return the upper half of a matrix of products for release: 10 times those beside the diagonal, 7 on it.

    A row of length L moves them by sqrt(50) L^2 at most, and its L1 norm is at most 5 |x|_1^2 + 2 L^2.
    """
    factors = np.where(np.eye(len(products), dtype=bool), _DIAGONAL, OFF_DIAGONAL)
    found: Integers = (products * factors)[np.triu_indices(len(products))]
    return found


def symmetric(released: Floats, width: int) -> Floats:
    """Return the matrix of products that was released."""
    square = np.zeros((width, width))
    square[np.triu_indices(width)] = released
    half: Floats = np.triu(square, 1) / OFF_DIAGONAL + np.diag(np.diag(square)) / (2 * _DIAGONAL)
    return half + half.T


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegressionMoments:
    """Released products of rows x, their responses y and a constant, where the longest row has length 1.

    Attributes
    ----------
    matrix : array
        G, the sum of x x^T, with noise.
    products : array
        The sum of x y, with noise.
    squares, count : float
        The sum of y^2 and of squared weights, with noise.
    noise : float
        The standard deviation of the noise beside the diagonal.
    least : float
        How small an eigenvalue is believed to be at least.
    """

    matrix: Floats
    products: Floats
    squares: float
    count: float
    noise: float
    least: float

    @classmethod
    def of(cls, released: Floats, *, width: int, steps: int, noise: float, floor: float) -> RegressionMoments:
        """Return what was released of `width` coordinates, the response, and a constant of 1/4."""
        square = symmetric(released, width + 2) / steps**2
        return cls(
            matrix=square[:width, :width],
            products=square[:width, width],
            squares=float(square[width, width]),
            count=16 * float(square[width + 1, width + 1]),
            noise=noise,
            least=floor * noise * sqrt(width),
        )

    def inverse(self, penalty: Floats | None = None) -> tuple[Floats, Floats]:
        """Return (G + penalty + L)^-1 and L, which raises eigenvalues below the least one to it."""
        values, vectors = np.linalg.eigh(self.matrix if penalty is None else self.matrix + penalty)
        raised = np.maximum(values, self.least)
        return (vectors / raised) @ vectors.T, (vectors * (raised - values)) @ vectors.T

    @property
    def believed(self) -> Floats:
        """G with no negative eigenvalue: noise made those."""
        values, vectors = np.linalg.eigh(self.matrix)
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T, dtype=np.float64)

    @property
    def weights(self) -> Floats:
        """Least squares."""
        return np.asarray(self.inverse()[0] @ self.products, dtype=np.float64)

    @property
    def variance(self) -> float:
        """The variance of a residual: the mean square, what fitting the noise hides added, and its deviation.

        At weights w, noise of deviation s moves the sum of squares by s sqrt(2) (1 + |w|^2), and least
        squares lower it by s^2 (1 + |w|^2) trace(G^-1).
        """
        inverse, weights = self.inverse()[0], self.weights
        size = float(1 + weights @ weights)
        total = self.squares + float(weights @ (self.matrix @ weights - 2 * self.products))
        total += self.noise * size * (sqrt(2) + self.noise * float(np.trace(inverse)))
        return max(total, self.noise) / max(self.count - len(weights), 1.0)
