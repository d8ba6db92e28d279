"""What a constraint is to inference: a convex set with a projection and a check of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from discreet.records import dataclass
from discreet.workloads.algebra.arrays import Real

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ConvexSet", "LinearRows"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearRows:
    """A polyhedron as rows: `equal` x = `values`, and `least` x >= `bounds`; None if there are none."""

    equal: csr_array[Any] | None = None
    values: Real | None = None
    least: csr_array[Any] | None = None
    bounds: Real | None = None


class ConvexSet(Protocol):
    """A closed convex set of vectors, described by public constants.

    Attributes
    ----------
    words : str
        The constraint in words, for refusals and records.
    affine : bool
        Whether it is a set of linear equalities, under which least squares stays unbiased.
    """

    @property
    def words(self) -> str:
        """The constraint in words."""
        ...

    @property
    def affine(self) -> bool:
        """Whether only equalities describe it."""
        ...

    def check(self, size: int) -> None:
        """Refuse a number of entries for which it is empty or has no meaning."""
        ...

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """Return the point of the set that minimizes sum w_i (x_i - y_i)^2."""
        ...

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """Return by how much `point` misses the conditions for being that projection.

        Computed from the conditions, not from `project`.
        """
        ...

    def along(self, point: Real, direction: Real) -> Real:
        """Return the part of a direction that stays, for short steps both ways, in the face of `point`."""
        ...

    def rows(self, size: int) -> LinearRows:
        """Return the set as linear rows."""
        ...
