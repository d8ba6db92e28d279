"""Spaces for the bound on strategies with Laplace noise: leading eigenvectors, turned until they are flat.

The spaces of theorem 8 (docs/proofs/workloads.md) are spanned by the first columns of one matrix Y, so that
they lie in each other. What counts is, for each of them, how large a vector of length 1 can be in a cell:
the diagonal of Y_k (Y_k^T G Y_k)^-1 Y_k^T. Leading eigenvectors make its sum the least; turned among
themselves, they make it nearly as small in every cell (proposition 10). How they were found is of no concern
to the proof: it holds for any Y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.workloads.algebra.lbfgs import minimize

if TYPE_CHECKING:
    from discreet.workloads.queries.base import Vector

__all__ = ["cell_weights", "flat_levels", "largest_in_cells", "unevenness"]

_RATIO = 2.5
_TURNED = 64
"""How many of the leading eigenvectors are turned."""
_STEPS = 200
_POWER = 12
"""Of the mean that stands for the largest entry in the search."""
_LEAST_EIGENVALUE = 1e-11
_LEAST_WEIGHT = 1e-6
_LARGEST_DEFECT = 0.01
_EPSILON = float(np.finfo(np.float64).eps)


def flat_levels(gram: Vector) -> tuple[Vector, Vector]:
    """Return, for each level and cell, a bound on the diagonal, and the leverage of each level.

    Levels that cannot be told in double precision are left out; if that is all of them, both are empty.
    """
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int((values > _LEAST_EIGENVALUE * values[0]).sum())
    basis = vectors[:, :rank] / np.sqrt(values[:rank])
    dimensions = _dimensions(rank)
    turned = min(rank, _TURNED)
    below = [dimension for dimension in dimensions if dimension < turned]
    if below:
        basis[:, :turned] = basis[:, :turned] @ _turn(basis[:, :turned], below)
    return largest_in_cells(gram, basis, dimensions), -np.diff(np.array([*dimensions, 0], dtype=np.float64))


def largest_in_cells(gram: Vector, basis: Vector, dimensions: list[int]) -> Vector:
    """Bound the diagonals of Y_k (Y_k^T G Y_k)^-1 Y_k^T from above, for the first k columns of a basis.

    Y^T G Y is nearly 1: with what it is off by, and what rounding may hide, each inverse is bounded. If that
    is too much, nothing is returned.
    """
    size = len(gram)
    product = basis.T @ gram @ basis
    hidden = 4 * size * _EPSILON * float(np.linalg.norm(np.abs(basis).T @ np.abs(gram) @ np.abs(basis)))
    defect = float(np.linalg.norm(product - np.eye(len(product)))) * (1 + 1e-6) + hidden
    if not defect < _LARGEST_DEFECT:
        return np.zeros((0, size))
    sums = np.cumsum(basis**2, axis=1)[:, np.array(dimensions) - 1].T
    return np.asarray(sums * (1 + 1e-9) / (1 - defect))


def cell_weights(bounds: Vector, power: float) -> tuple[Vector, Vector]:
    """Return weights w of cells, and 1 / c_l^2 = max_j P_l[j] / w_j^2 for each level.

    The weight of a cell is the most that one of the levels has there, each in units of its mean of a power.
    """
    highest = bounds.max(axis=1, keepdims=True)
    units = highest * ((bounds / highest) ** power).mean(axis=1, keepdims=True) ** (1 / power)
    weights = np.sqrt((bounds / units).max(axis=0))
    weights = np.maximum(weights, _LEAST_WEIGHT * weights.max())  # cells that no query tells have none
    return weights, (bounds / weights**2).max(axis=1)


def _dimensions(rank: int) -> list[int]:
    found = [rank]
    while found[-1] > 1:
        found.append(max(1, min(found[-1] - 1, round(found[-1] / _RATIO))))
    return found


def _turn(basis: Vector, dimensions: list[int]) -> Vector:
    """Return an orthogonal matrix whose first columns span spaces that reach all cells alike."""
    count = basis.shape[1]

    def cost(flat: Vector) -> tuple[float, Vector]:
        total, slope = unevenness(flat.reshape(count, count), basis, dimensions)
        return total, slope.reshape(-1)

    found, _ = minimize(cost, np.eye(count).reshape(-1), _STEPS)
    return np.asarray(np.linalg.qr(found.reshape(count, count))[0])


def unevenness(matrix: Vector, basis: Vector, dimensions: list[int]) -> tuple[float, Vector]:
    """Return the sum over spaces of the logarithm of a high mean of their reach, and its gradient.

    With E the basis, H the projection on the first k columns B of the matrix and P = diag(E H E^T), a change
    of B by b changes H by (1 - H) b B^+ and its transpose.
    """
    total, slope = 0.0, np.zeros_like(matrix)
    orthonormal, triangle = np.linalg.qr(matrix)
    for dimension in dimensions:
        own = orthonormal[:, :dimension]
        spread = basis @ own
        heights = (spread**2).sum(axis=1)
        highest = heights.max()
        shares = (heights / highest) ** _POWER
        total += float(np.log(highest) + np.log(shares.mean()) / _POWER)
        scaled = np.divide(shares, heights * shares.sum(), out=np.zeros_like(shares), where=shares > 0)
        pulled = basis.T @ (scaled[:, None] * spread)
        pulled -= own @ (own.T @ pulled)
        slope[:, :dimension] += 2 * np.linalg.solve(triangle[:dimension, :dimension], pulled.T).T
    return total, slope
