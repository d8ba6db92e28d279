"""How noisy answers, their weights and public constants enter inference.

Everything here was released already or is public: no rule about private values applies, and
refusals may say which entry they are about. They still never print a value.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError

__all__ = [
    "MOST_ENTRIES",
    "Operator",
    "Real",
    "check_entries",
    "precision",
    "real_matrix",
    "real_vector",
    "weight_vector",
]

Real: TypeAlias = NDArray[np.float64]

MOST_ENTRIES = 1 << 26
"""The most entries of a matrix that is held as such: half a gibibyte of floats."""


class Operator(Protocol):
    """A linear map that is applied and never written down; `scipy`'s operators are such."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many answers it gives, and from how many cells."""
        ...

    def matvec(self, x: Real, /) -> Any:
        """Return its answers on a vector of cells."""
        ...

    def rmatvec(self, y: Real, /) -> Any:
        """Return its transpose on a vector of answers."""
        ...


def real_matrix(values: ArrayLike, name: str, rows: str, instead: str) -> Real:
    """Return finite numbers as a matrix of floats of its own, if it is not too large to hold."""
    try:
        given = np.asarray(values)
    except ValueError:
        raise ParameterError(name, "does not form a matrix", f"two dimensions: {rows}") from None
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise ParameterError(name, "is not a matrix of numbers", f"two dimensions: {rows}")
    check_entries(given.shape, name, instead)
    matrix = given.astype(np.float64)
    if not np.isfinite(matrix).all():
        raise ParameterError(name, "holds NaN or an infinity", "finite numbers")
    return matrix


def real_vector(values: ArrayLike, name: str, size: int | None = None) -> Real:
    """Return finite numbers as a vector of floats of its own, of a given size if one is given."""
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            name, "hold something that is not a number", "a list or array of numbers"
        ) from None
    if array.ndim != 1:
        raise ParameterError(name, f"have {array.ndim} dimensions", "numbers in one dimension")
    if size is not None and array.size != size:
        raise ParameterError(name, f"are {array.size} numbers", f"{size}, one for each answer")
    if not np.isfinite(array).all():
        raise ParameterError(name, "hold NaN or an infinity", "finite numbers")
    return array


def weight_vector(weights: ArrayLike | None, size: int, name: str = "weights") -> Real:
    """Return positive weights, scaled to a mean of one: only their ratios matter."""
    if weights is None:
        return np.ones(size)
    if np.ndim(weights) == 0:
        weights = np.full(size, weights)
    array = real_vector(weights, name, size)
    if (array <= 0).any():
        raise ParameterError(name, "are not all positive", "positive numbers, such as 1 / variance")
    array /= array.max(initial=1.0)
    return array / array.mean() if size else array


def precision(variances: Real) -> Real:
    """Return 1 / variance, which is 0 where nothing was measured and infinite if a value is known."""
    with np.errstate(divide="ignore"):
        return np.divide(1.0, variances)


def check_entries(shape: tuple[int, ...], name: str, instead: str) -> None:
    """Refuse a matrix that would not fit, and name a smaller way."""
    rows, columns = shape
    if rows * columns > MOST_ENTRIES:
        raise ParameterError(
            name,
            f"would be a matrix of {rows} x {columns} = {rows * columns} entries",
            f"at most {MOST_ENTRIES} entries; {instead}",
        )
