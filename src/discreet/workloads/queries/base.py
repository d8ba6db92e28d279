"""What a workload is: many linear queries over one public domain, as an implicit matrix W.

A data vector x holds counts over the n cells of a domain (a product domain is flattened in C
order), and the answers are W x. What planning needs of W is its Gram matrix G = W^T W, which each family
applies without ever building it. Nothing here sees private data before `answer` is called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["LARGEST_DENSE", "Vector", "Workload", "about", "checked_shape", "checked_size", "flat"]

LARGEST_DENSE = 8192
"""The largest domain for which an n x n matrix is built."""
LARGEST_ENTRIES = 1 << 27
LARGEST_LISTED = 1 << 24
"""Coefficients of all queries, up to which each query's variance is worked out."""
LARGEST_DOMAIN = 1 << 27
_PLAIN_BITS = 64

Vector: TypeAlias = "NDArray[np.float64]"


def about(count: int) -> str:
    """Write a number of things in words that stay short: large ones as about 2^k."""
    return str(count) if count.bit_length() <= _PLAIN_BITS else f"about 2^{count.bit_length() - 1}"


def checked_size(size: int, name: str = "size") -> int:
    """Check the number of cells of a domain that is held in memory."""
    return whole(size, name, least=1, most=LARGEST_DOMAIN)


def checked_shape(shape: Sequence[int], name: str = "shape") -> tuple[int, ...]:
    """Check the shape of a product domain; only its axes need to fit in memory."""
    if isinstance(shape, str | bytes) or not hasattr(shape, "__len__") or len(shape) == 0:
        raise ParameterError(name, "is not a sequence of sizes", "one size of at least 1 for each attribute")
    return tuple(checked_size(size, name) for size in shape)


def flat(cells: NDArray[Any], size: int) -> NDArray[Any]:
    """Return a data vector, or an estimate of one, as one axis of `size` cells."""
    array = np.asarray(cells)
    if array.dtype.kind not in "iufb":
        raise ParameterError("x", "holds no numbers", "an array of counts")
    if array.size != size:
        raise ParameterError("x", "has another number of cells than the domain", f"{about(size)} cells")
    return array.reshape(size)


class Workload(Record, ABC):
    """Linear queries over a domain of `size` cells.

    Attributes
    ----------
    shape : tuple of int
        The domain: one number of values for each attribute.
    """

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells of the domain, n."""
        return prod(self.shape)

    @property
    @abstractmethod
    def queries(self) -> int:
        """The number of queries, m."""

    @abstractmethod
    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return W x for counts, or for an estimate of them."""

    @abstractmethod
    def gram_times(self, vectors: Vector) -> Vector:
        """Return G v for each vector v along the last axis."""

    @abstractmethod
    def row(self, index: int) -> Vector:
        """Return one query, as its n coefficients."""

    def gram(self) -> Vector:
        """Return G = W^T W as an array, for domains of at most 8192 cells."""
        self.check_dense()
        return self.gram_times(np.eye(self.size))

    def gram_diagonal(self) -> Vector:
        """Return the diagonal of G: for each cell, the sum of its squared coefficients."""
        return np.diagonal(self.gram()).copy()

    def matrix(self) -> Vector:
        """Return W as an array, where it is small."""
        if self.queries * self.size > LARGEST_ENTRIES:
            raise ParameterError(
                "workload",
                f"has {about(self.queries)} queries over {about(self.size)} cells, too many for an array",
                f"at most {LARGEST_ENTRIES} coefficients; use answer, row and gram_times instead",
            )
        return np.stack([self.row(index) for index in range(self.queries)])

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Return tr(G P_w), where P_w averages over blocks of w cells (the last may reach past the end).

        = (1 / w) times the sum over queries and blocks of the squared coefficient sums.
        """
        self.check_dense()
        gram = self.gram()
        traces = []
        for width in widths:
            starts = np.arange(0, self.size, width)
            sums = np.add.reduceat(np.add.reduceat(gram, starts, axis=0), starts, axis=1)
            traces.append(float(np.trace(sums)) / width)
        return np.array(traces)

    def gram_between(self, places: Sequence[int]) -> Vector:
        """Return u^T G v for the indicators u, v of the ranges from each place to the next, or to the end."""
        rows = []
        for first, end in zip(places, [*places[1:], self.size], strict=True):
            held = np.zeros(self.size)
            held[first:end] = 1.0
            rows.append(np.add.reduceat(self.gram_times(held), places))
        return np.array(rows)

    def diagonal_sums(self) -> Vector:
        """Return the sums of G along its wrapped diagonals: entry d sums G[i, (i + d) mod n]."""
        self.check_dense()
        gram, cells = self.gram(), np.arange(self.size)
        return np.array([gram[cells, (cells + shift) % self.size].sum() for shift in range(self.size)])

    def root_diagonal(self) -> Vector:
        """Return the diagonal of G^(1/2), or numbers below: their squares bound the error of every strategy.

        Computed eigenvalues are off by less than e = n 2^-52 times the largest; without it the matrix is
        below G, and so is its square root, which is monotone, and the root's diagonal.
        """
        self.check_dense(LARGEST_DENSE // 2)
        values, vectors = np.linalg.eigh(self.gram())
        rounding = self.size * float(np.finfo(np.float64).eps) * values.max()
        roots: Vector = (vectors**2) @ np.sqrt(np.maximum(values - rounding, 0.0))
        return roots

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """Return the largest of q^T S q over the queries, for the covariance S of the cells' estimates.

        None where there are more queries than can be gone through.
        """
        if self.queries * self.size > LARGEST_LISTED:
            return None
        rows = self.matrix()
        return float((rows * covariance_times(rows)).sum(axis=1).max())

    def check_dense(self, most: int = LARGEST_DENSE) -> None:
        """Refuse what needs an n x n array when the domain is too large for one."""
        if self.size > most:
            raise ParameterError(
                "workload",
                f"has a domain of {about(self.size)} cells, for which this needs an array of their square",
                f"at most {most} cells: coarsen the domain, or use a family with a closed form"
                " (ranges, prefixes, marginals, products of them)",
            )

    def check_answers(self) -> None:
        """Refuse to list more answers than fit in memory."""
        if self.queries > LARGEST_ENTRIES:
            raise ParameterError(
                "workload",
                f"has {about(self.queries)} queries, too many to list",
                f"at most {LARGEST_ENTRIES}; ask for single queries instead",
            )

    def check_index(self, index: int) -> int:
        """Check the number of a query."""
        return whole(index, "index", least=0, most=self.queries - 1)
