"""Gradients of one parameter that are measured and added up in floats, as a plain step does.

Of rows, and of outer products of one position, an example has one term in each coordinate of the sum, as long
as its gradient. So a sum of few examples in floats is off by little, which is charged; and the norm of a
vector is known but for its last bits, by which it is raised (docs/proofs/private_gradients.md, lemmas 2b and
3b). All holds where floats of 32 bits are multiplied as such.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.learning.deep.uses import OuterUse, RowsUse, TurnedRowsUse, Use

__all__ = [
    "FloatOuterUse",
    "FloatRowsUse",
    "FloatTurnedRowsUse",
    "FloatUse",
    "in_doubles",
    "in_floats",
    "multiplies_floats",
]

_MOST_WIDTH = 2**14  # numbers of a vector whose norm is taken in floats
_UNDERFLOW = 2.0**-55
"""More than what squares below the range of floats take from a norm."""


class FloatUse(Use):
    """Gradients that can be added up in floats."""

    __slots__ = ()

    @abstractmethod
    def in_doubles(self) -> Use:
        """Return the same gradients as they are measured and added up in doubles."""

    @abstractmethod
    def part(self, rows: slice) -> FloatUse:
        """Return the gradients of some examples."""

    @abstractmethod
    def float_sum(self, factors: Tensor, out: Tensor) -> None:
        """Write the sum of factor times gradient, all of 32 bits, over `out`."""


@dataclass(frozen=True, slots=True, eq=False)
class FloatRowsUse(RowsUse, FloatUse):
    """Gradients written out: one row of numbers for each example."""

    def mass(self) -> Tensor:
        """The norms, from above."""
        return _lengths_from_above(self.rows)

    def in_doubles(self) -> RowsUse:
        """Return the rows."""
        return RowsUse(self.rows)

    def part(self, rows: slice) -> FloatRowsUse:
        """Return some of the rows."""
        return FloatRowsUse(self.rows[rows])

    def float_sum(self, factors: Tensor, out: Tensor) -> None:
        """Multiply the rows by the vector of factors."""
        torch.mv(self.rows.T, factors, out=out)

    def without(self, kept: Tensor) -> FloatRowsUse:
        """Return zeros in rows that are not kept."""
        return FloatRowsUse(RowsUse.without(self, kept).rows)


@dataclass(frozen=True, slots=True, eq=False)
class FloatTurnedRowsUse(TurnedRowsUse, FloatUse):
    """Gradients written out with the axes of the parameter in another order."""

    turned: FloatRowsUse

    def in_doubles(self) -> TurnedRowsUse:
        """Return the rows, in the same order of axes."""
        return TurnedRowsUse(self.turned.in_doubles(), self.shape, self.order)

    def part(self, rows: slice) -> FloatTurnedRowsUse:
        """Return some of the rows."""
        return FloatTurnedRowsUse(self.turned.part(rows), self.shape, self.order)

    def float_sum(self, factors: Tensor, out: Tensor) -> None:
        """Put the sum in order, once."""
        found = torch.empty_like(out)
        self.turned.float_sum(factors, found)
        ordered = found.view(self.shape).permute(self.order)
        out.view(ordered.shape).copy_(ordered)

    def without(self, kept: Tensor) -> FloatTurnedRowsUse:
        """Return zeros in rows that are not kept."""
        return FloatTurnedRowsUse(self.turned.without(kept), self.shape, self.order)


@dataclass(frozen=True, slots=True, eq=False)
class FloatOuterUse(OuterUse, FloatUse):
    """Gradients of a matrix: the outer product left right^T of one position."""

    def mass(self) -> Tensor:
        """Return the product of the norms, from above."""
        return (_lengths_from_above(self.left) * _lengths_from_above(self.right))[:, 0]

    def in_doubles(self) -> OuterUse:
        """Return both sides."""
        return OuterUse(self.left, self.right)

    def part(self, rows: slice) -> FloatOuterUse:
        """Return the gradients of some examples."""
        return FloatOuterUse(self.left[rows], self.right[rows])

    def float_sum(self, factors: Tensor, out: Tensor) -> None:
        """Scale the smaller side, and multiply two matrices."""
        left, right = self.left[:, 0], self.right[:, 0]
        rows, columns = left.shape[1], right.shape[1]
        if rows <= columns:
            left = left * factors[:, None]
        else:
            right = right * factors[:, None]
        torch.mm(left.T, right, out=out.view(rows, columns))

    def without(self, kept: Tensor) -> FloatOuterUse:
        """Return zeros on both sides of examples that are not kept."""
        gone = ~kept[:, None, None]
        return FloatOuterUse(self.left.masked_fill(gone, 0), self.right.masked_fill(gone, 0))


def in_floats(use: Use) -> Use:
    """Return a use in the form that is added up in floats, if its types and shapes allow it."""
    if type(use) is RowsUse and _is_short(use.rows):
        return FloatRowsUse(use.rows)
    if type(use) is TurnedRowsUse and _is_short(use.turned.rows):
        return FloatTurnedRowsUse(FloatRowsUse(use.turned.rows), use.shape, use.order)
    if type(use) is OuterUse and use.positions == 1 and _is_short(use.left) and _is_short(use.right):
        return FloatOuterUse(use.left, use.right)
    return use


def in_doubles(use: Use) -> Use:
    """Return a use as it is measured in doubles: of uses that may cancel, norms from above say too little."""
    return use.in_doubles() if isinstance(use, FloatUse) else use


def multiplies_floats() -> bool:
    """Whether PyTorch multiplies floats of 32 bits as such on the processor, and not parts of their bits."""
    try:
        is_highest = torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # it was set for each backend by itself
        return False
    backend = torch.backends.mkldnn
    wanted = [getattr(each, "fp32_precision", "none") for each in (backend, getattr(backend, "matmul", None))]
    modes = [os.environ.get(f"{name}_DEFAULT_FPMATH_MODE", "STRICT").upper() for name in ("ONEDNN", "DNNL")]
    return is_highest and {*wanted} <= {"none", "ieee"} and {*modes} <= {"STRICT"}


def _is_short(vectors: Tensor) -> bool:
    is_float = vectors.dtype == torch.float32 and vectors.device.type == "cpu"
    return is_float and vectors.shape[-1] <= _MOST_WIDTH


def _lengths_from_above(vectors: Tensor) -> Tensor:
    """Return doubles that are at least the norms over the last axis, and at most 2^-10 more; or infinite."""
    found = torch.linalg.vector_norm(vectors, dim=-1).double()
    return found.mul_(1 + (vectors.shape[-1] + 16) * 2.0**-24).add_(_UNDERFLOW)
