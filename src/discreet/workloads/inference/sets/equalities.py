"""Linear equalities: the closest point that meets them, dense or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import ParameterError
from discreet.records import Record, dataclass
from discreet.workloads.algebra.arrays import (
    Operator,
    Real,
    check_entries,
    real_matrix,
    real_vector,
    weight_vector,
)
from discreet.workloads.algebra.conjugate_gradients import minimum_norm
from discreet.workloads.inference.sets.base import LinearRows

__all__ = ["Equalities", "ImplicitEqualities"]

_CONTRADICTION = 1e-8
_MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Equalities(Record):
    """C x = d for a small matrix C and public numbers d.

    Parameters
    ----------
    matrix : array of shape (k, n)
        One row for each equality; rows may depend on each other.
    values : array of k numbers
        What they equal.
    names : sequence of str, optional
        What to call them in a refusal; by default their positions.

    Notes
    -----
    With s the shortest solution of C W^(-1/2) s = C y - d, the projection is y - W^(-1/2) s: this meets the
    equalities, and W (y - x) = W^(1/2) s lies in the range of C^T, which is what the optimum asks.
    Where no x meets all equalities, the part r of d outside the range of C has r^T C = 0 and
    r^T d > 0: the rows with r_i != 0 contradict each other, and are the ones that a refusal names.
    """

    matrix: Real
    values: Real
    names: tuple[str, ...]
    origin: Real = field(repr=False)
    basis: Real = field(repr=False)

    affine = True
    words = "linear equalities"

    def __init__(self, matrix: ArrayLike, values: ArrayLike, *, names: Sequence[str] | None = None) -> None:
        instead = "give an operator to ImplicitEqualities"
        rows = real_matrix(matrix, "matrix", "one row for each equality", instead)
        right = real_vector(values, "values", rows.shape[0])
        called = _names(names, right.size)
        origin, basis = _shortest_solution(rows, right)
        _check_consistent(right - rows @ origin, right, called)
        self._set(matrix=rows, values=right, names=called, origin=origin, basis=basis)

    def check(self, size: int) -> None:
        """Refuse another number of entries than the matrix has columns."""
        _check_columns(self.matrix.shape[1], size)

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """Return y - W^(-1/2) s, with s the shortest solution of C W^(-1/2) s = C y - d."""
        values = real_vector(answers, "answers")
        self.check(values.size)
        if weights is None or self.matrix.size == 0:
            inside: Real = self.basis.T @ (self.basis @ (values - self.origin))
            return values - inside
        root = 1 / np.sqrt(weight_vector(weights, values.size))
        for _ in range(2):
            correction = np.linalg.lstsq(self.matrix * root, self.matrix @ values - self.values, rcond=None)
            values = values - root * correction[0]
        return values

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """How far C x is from d, and w (y - x) from the range of C^T."""
        values, weight = real_vector(answers, "answers", point.size), weight_vector(weights, point.size)
        force = weight * (values - point)
        if self.matrix.size == 0:
            return float(np.abs(force).max(initial=0.0))
        multipliers = np.linalg.lstsq(self.matrix.T, force, rcond=None)[0]
        outside = np.abs(force - self.matrix.T @ multipliers).max(initial=0.0)
        return float(max(np.abs(self.matrix @ point - self.values).max(initial=0.0), outside))

    def along(self, point: Real, direction: Real) -> Real:
        """The part that C takes to zero."""
        del point
        inside: Real = self.basis.T @ (self.basis @ direction)
        return direction - inside

    def rows(self, size: int) -> LinearRows:
        """The equalities themselves."""
        from scipy.sparse import csr_array

        self.check(size)
        return LinearRows(equal=csr_array(self.matrix), values=self.values)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class ImplicitEqualities(Record):
    """C x = d for an operator C that is applied and never written down.

    As `Equalities`, with every shortest solution found by conjugate gradients. One projection takes
    about as many products with C and its transpose as C has distinct singular values.
    """

    operator: Operator
    values: Real
    names: tuple[str, ...]

    affine = True
    words = "linear equalities"

    def __init__(self, operator: Operator, values: ArrayLike, *, names: Sequence[str] | None = None) -> None:
        right = real_vector(values, "values", operator.shape[0])
        called = _names(names, right.size)
        solution, _ = minimum_norm(operator.matvec, operator.rmatvec, right, operator.shape[1])
        _check_consistent(right - operator.matvec(solution), right, called)
        self._set(operator=operator, values=right, names=called)

    def check(self, size: int) -> None:
        """Refuse another number of entries than the operator takes."""
        _check_columns(self.operator.shape[1], size)

    def project(self, answers: ArrayLike, weights: ArrayLike | None = None) -> Real:
        """Return y - W^(-1/2) s, with s the shortest solution of C W^(-1/2) s = C y - d."""
        values = real_vector(answers, "answers")
        self.check(values.size)
        root = 1 / np.sqrt(weight_vector(weights, values.size))
        shortest, _ = minimum_norm(
            lambda x: self.operator.matvec(root * x),
            lambda y: root * self.operator.rmatvec(y),
            self.operator.matvec(values) - self.values,
            values.size,
        )
        return values - root * shortest

    def residual(self, point: Real, answers: ArrayLike, weights: ArrayLike | None = None) -> float:
        """How far C x is from d, and w (y - x) from the range of C^T."""
        values, weight = real_vector(answers, "answers", point.size), weight_vector(weights, point.size)
        force = weight * (values - point)
        multipliers, _ = minimum_norm(self.operator.rmatvec, self.operator.matvec, force, self.values.size)
        outside = np.abs(force - self.operator.rmatvec(multipliers)).max(initial=0.0)
        return float(max(np.abs(self.operator.matvec(point) - self.values).max(initial=0.0), outside))

    def along(self, point: Real, direction: Real) -> Real:
        """The part that C takes to zero."""
        del point
        right = self.operator.matvec(direction)
        return direction - minimum_norm(self.operator.matvec, self.operator.rmatvec, right, direction.size)[0]

    def rows(self, size: int) -> LinearRows:
        """The equalities, written down; refused where they are too many for that."""
        from scipy.sparse import csr_array

        self.check(size)
        check_entries((self.values.size, size), "operator", "leave the constraints that come with it out")
        matrix, unit = np.empty((self.values.size, size)), np.zeros(size)
        for cell in range(size):
            unit[cell] = 1.0
            matrix[:, cell] = self.operator.matvec(unit)
            unit[cell] = 0.0
        return LinearRows(equal=csr_array(matrix), values=self.values)


def _shortest_solution(matrix: Real, values: Real) -> tuple[Real, Real]:
    """Return the shortest least-squares solution of C x = d, and an orthonormal basis of the rows of C."""
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    kept = singular > singular.max(initial=0.0) * max(matrix.shape) * np.finfo(float).eps
    basis = right[kept]
    origin: Real = basis.T @ ((left.T @ values)[kept] / singular[kept])
    return origin, basis


def _names(names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"equality {index}" for index in range(size))
    if len(names) != size:
        raise ParameterError("names", f"are {len(names)}", f"{size}, one for each equality")
    return tuple(str(name) for name in names)


def _check_consistent(outside: Real, right: Real, names: tuple[str, ...]) -> None:
    scale = _CONTRADICTION * float(np.abs(right).max(initial=0.0))
    blamed = [name for name, part in zip(names, outside, strict=True) if abs(part) > scale]
    if blamed:
        shown = ", ".join(blamed[:_MOST_NAMED]) + (", …" if len(blamed) > _MOST_NAMED else "")
        raise ParameterError(
            "constraints",
            f"contradict each other: no vector meets all of {shown}",
            "equalities that hold for the same vector",
        )


def _check_columns(columns: int, size: int) -> None:
    if columns != size:
        raise ParameterError("answers", f"have {size} entries", f"{columns}, as the equalities have columns")
