"""Per-example gradients of one parameter, in the form in which a layer leaves them.

A layer that is called once gives its parameter one *use*: a family of gradients G_i, one for each example i
of the batch, that is kept without writing all of them out where that is cheaper. A parameter that is called
several times, or tied to another layer, has several uses, and the gradient of an example is their sum; its
norm has all inner products between them.

Each use is a function of stored numbers, which are what they are: whatever the framework rounded on the way
to them, G_i is by definition the exact real function of the stored numbers of example i. Norms are computed
in doubles, or from above (`lengths`); `mass` bounds the terms that were added up, so that the rounding of a
norm and of a sum is bounded by it (docs/proofs/private_gradients.md, lemmas 2 and 3).

Products of four numbers of 32 bits fit into doubles. Of doubles they may not, so that doubles below 2^-200
are stored as 0 and those above 2^200 as infinite, each by itself: none hides behind a norm of 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import torch
from torch import Tensor

from discreet.learning.deep.lengths import lengths
from discreet.records import Record

__all__ = [
    "LookupUse",
    "OuterUse",
    "RowsUse",
    "TurnedRowsUse",
    "Use",
    "inner_products",
    "is_written_out",
    "outer_use",
    "squared_norms",
]

_LEAST, _MOST = 2.0**-200, 2.0**200  # of doubles: products of four neither underflow nor overflow
_IN_CACHE = 1 << 19  # numbers that become doubles at once; more would wait for memory, by time measured
_LONG_RUN = 1 << 13  # numbers of a row that are read at once


class Use(Record, ABC):
    """Gradients of one parameter by one call of a layer."""

    __slots__ = ()

    @property
    def made(self) -> Use:
        """The form in which it is measured and added up: mostly itself."""
        return self

    @property
    @abstractmethod
    def terms(self) -> int:
        """How many products a coordinate of the sum over the batch has at most."""

    @abstractmethod
    def mass(self) -> Tensor:
        """For each example, a sum of norms of terms that add up to its gradient: at least its norm."""

    @abstractmethod
    def squares(self, mass: Tensor) -> Tensor:
        """The squared norm of each gradient, given the masses."""

    @abstractmethod
    def each(self) -> Tensor:
        """The gradients written out, as rows of doubles."""

    @abstractmethod
    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Write the sum of factor times gradient over `out`, doubles, flat, and return it."""

    @abstractmethod
    def without(self, kept: Tensor) -> Use:
        """Return the same with zeros for examples that are not kept: 0 times infinity is not 0."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsUse(Use):
    """Gradients written out: one row of numbers for each example."""

    rows: Tensor

    def __post_init__(self) -> None:
        self._amend(rows=_held(self.rows))

    @property
    def terms(self) -> int:
        """One for each example."""
        return len(self.rows)

    def mass(self) -> Tensor:
        """The norms themselves: nothing was added up."""
        return lengths(self.rows)

    def squares(self, mass: Tensor) -> Tensor:
        """Return the squared norms of the rows."""
        return mass.square()

    def each(self) -> Tensor:
        """Return the rows."""
        return self.rows.double()

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Sum block by block, so that the doubles never leave the cache, and long runs of rows are read."""
        if self.rows.numel() <= _IN_CACHE:
            return torch.mv(self.rows.double().T, factors, out=out)
        columns = min(self.rows.shape[1], _LONG_RUN)
        size = min(len(self.rows), _IN_CACHE // max(1, columns))
        held = out.new_empty(size, columns)  # once: taking memory costs more time than writing to it
        for block, part in zip(self.rows.split(columns, dim=1), out.split(columns), strict=True):
            for place, (some, own) in enumerate(zip(block.split(size), factors.split(size), strict=True)):
                doubles = held[: len(some), : len(part)].copy_(some)
                part.addmv_(doubles.T, own, beta=min(place, 1))
        return out

    def without(self, kept: Tensor) -> RowsUse:
        """Return zeros in rows that are not kept."""
        return RowsUse(self.rows.masked_fill(~kept[:, None], 0))


@dataclass(frozen=True, slots=True, eq=False)
class TurnedRowsUse(Use):
    """Gradients written out with the axes of the parameter in another order.

    A norm knows no order, and of a batch only the sum is put into that of the parameter.

    Parameters
    ----------
    turned : RowsUse
        The gradients as they are written.
    shape : tuple of int
        How long the axes are, as written.
    order : tuple of int
        Which of them is the first of the parameter, the second, and so on.
    """

    turned: RowsUse
    shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def in_order(self) -> RowsUse:
        """The same with rows in the order of the parameter."""
        axes = [0, *(axis + 1 for axis in self.order)]
        return RowsUse(self.turned.rows.unflatten(1, self.shape).permute(axes).flatten(1))

    @property
    def terms(self) -> int:
        """One for each example."""
        return self.turned.terms

    def mass(self) -> Tensor:
        """The norms themselves: nothing was added up."""
        return self.turned.mass()

    def squares(self, mass: Tensor) -> Tensor:
        """Return the squared norms of the rows."""
        return self.turned.squares(mass)

    def each(self) -> Tensor:
        """Return the rows in the order of the parameter."""
        return self.in_order.each()

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Put the sum in order, once."""
        found = self.turned.weighted_sum(factors, torch.empty_like(out))
        ordered = found.view(self.shape).permute(self.order)
        out.view(ordered.shape).copy_(ordered)
        return out

    def without(self, kept: Tensor) -> TurnedRowsUse:
        """Return zeros in rows that are not kept."""
        return TurnedRowsUse(self.turned.without(kept), self.shape, self.order)


@dataclass(frozen=True, slots=True, eq=False)
class OuterUse(Use):
    """Gradients of a matrix: sums over positions t of left_t right_t^T, never written out.

    Parameters
    ----------
    left, right : tensors (examples, positions, rows or columns of the matrix)
    """

    left: Tensor
    right: Tensor

    def __post_init__(self) -> None:
        self._amend(left=_held(self.left), right=_held(self.right))

    @property
    def positions(self) -> int:
        """How many outer products add up to a gradient."""
        return self.left.shape[1]

    @property
    def terms(self) -> int:
        """One for each position of each example."""
        return len(self.left) * self.positions

    def mass(self) -> Tensor:
        """Return the sum over positions of the products of norms."""
        return (lengths(self.left) * lengths(self.right)).sum(1)

    def squares(self, mass: Tensor) -> Tensor:
        """Return squared norms by Gram matrices; of one position, the product of two norms."""
        return mass.square() if self.positions == 1 else _between_outer(self, self)

    def each(self) -> Tensor:
        """Write the gradients out."""
        return torch.bmm(self.left.double().transpose(1, 2), self.right.double()).flatten(1)

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Scale the smaller side, and multiply two matrices."""
        scale, rows, columns = factors[:, None, None], self.left.shape[2], self.right.shape[2]
        left, right = (
            (self.left * scale, self.right.double())
            if rows <= columns
            else (self.left.double(), self.right * scale)
        )
        torch.mm(left.flatten(0, 1).T, right.flatten(0, 1), out=out.view(rows, columns))
        return out

    def without(self, kept: Tensor) -> OuterUse:
        """Return zeros on both sides of examples that are not kept."""
        gone = ~kept[:, None, None]
        return OuterUse(self.left.masked_fill(gone, 0), self.right.masked_fill(gone, 0))


@dataclass(frozen=True, slots=True, eq=False)
class LookupUse(Use):
    """Gradients of a table of which each position of an example reads a row.

    Parameters
    ----------
    index : tensor (examples, positions)
        Which row is read.
    slopes : tensor (examples, positions, columns)
        The gradient of what was read.
    rows : int
        How many rows the table has.
    """

    index: Tensor
    slopes: Tensor
    rows: int

    def __post_init__(self) -> None:
        self._amend(slopes=_held(self.slopes))

    @property
    def positions(self) -> int:
        """How many rows an example reads."""
        return self.index.shape[1]

    @property
    def terms(self) -> int:
        """One for each position of each example."""
        return self.index.numel()

    def mass(self) -> Tensor:
        """Return the sum of norms over positions."""
        return lengths(self.slopes).sum(1)

    def squares(self, mass: Tensor) -> Tensor:
        """Return the sum over pairs of positions that read the same row."""
        del mass
        return _between_lookups(self, self)

    def each(self) -> Tensor:
        """Write the gradients out."""
        examples, _, columns = self.slopes.shape
        out = torch.zeros(examples, self.rows, columns, dtype=torch.float64, device=self.slopes.device)
        place = self.index[:, :, None].expand(-1, -1, columns)
        return out.scatter_add_(1, place, self.slopes.double()).flatten(1)

    def weighted_sum(self, factors: Tensor, out: Tensor) -> Tensor:
        """Add each position to its row."""
        scaled = self.slopes.double() * factors[:, None, None]
        table = out.zero_().view(self.rows, self.slopes.shape[2])
        table.index_add_(0, self.index.flatten(), scaled.flatten(0, 1))
        return out

    def without(self, kept: Tensor) -> LookupUse:
        """Return zeros for examples that are not kept."""
        return LookupUse(self.index, self.slopes.masked_fill(~kept[:, None, None], 0), self.rows)


def _held(values: Tensor) -> Tensor:
    """Return doubles whose products stay in range; infinite ones make their example count for nothing."""
    if values.dtype != torch.float64:
        return values
    sizes = values.abs()
    return values.masked_fill(sizes < _LEAST, 0.0).masked_fill(sizes > _MOST, torch.inf)


def outer_use(left: Tensor, right: Tensor) -> Use:
    """Return sums of outer products in the cheaper form."""
    positions, rows, columns = left.shape[1], left.shape[2], right.shape[2]
    if is_written_out(positions, rows, columns):
        kind = torch.promote_types(left.dtype, right.dtype)  # they differ under autocast
        return RowsUse(torch.bmm(left.to(kind).transpose(1, 2), right.to(kind)).flatten(1))
    return OuterUse(left, right)


def is_written_out(positions: int, rows: int, columns: int) -> bool:
    """Whether sums of outer products are cheaper written out.

    Of one position, a norm costs two norms. Of many, Gram matrices take positions^2 (rows + columns)
    operations, and writing out takes positions rows columns.
    """
    return positions > 1 and rows * columns <= 2 * positions * (rows + columns)


def squared_norms(uses: list[Use], masses: list[Tensor]) -> Tensor:
    """Return the squared norm of the sum of all uses of one parameter, for each example."""
    total = reduce(torch.add, [use.squares(mass) for use, mass in zip(uses, masses, strict=True)])
    for one, other in combinations(uses, 2):
        total = total + 2 * inner_products(one, other)
    return total


def inner_products(one: Use, other: Use) -> Tensor:
    """Return the inner products of two uses of the same parameter."""
    if isinstance(one, OuterUse) and isinstance(other, OuterUse):
        return _between_outer(one, other)
    if isinstance(one, LookupUse) and isinstance(other, LookupUse):
        return _between_lookups(one, other)
    if isinstance(one, LookupUse) and isinstance(other, OuterUse):
        return _between_lookup_and_outer(one, other)
    if isinstance(one, OuterUse) and isinstance(other, LookupUse):
        return _between_lookup_and_outer(other, one)
    return (one.each() * other.each()).sum(1)


def _between_outer(one: OuterUse, other: OuterUse) -> Tensor:
    left = torch.bmm(one.left.double(), other.left.double().transpose(1, 2))
    right = torch.bmm(one.right.double(), other.right.double().transpose(1, 2))
    return (left * right).sum((1, 2))


def _between_lookups(one: LookupUse, other: LookupUse) -> Tensor:
    same = one.index[:, :, None] == other.index[:, None, :]
    products = torch.bmm(one.slopes.double(), other.slopes.double().transpose(1, 2))
    return (products * same).sum((1, 2))


def _between_lookup_and_outer(lookup: LookupUse, outer: OuterUse) -> Tensor:
    """Where a position of the lookup read row v, the outer product of each position has left[v] right."""
    place = lookup.index[:, None, :].expand(-1, outer.left.shape[1], -1)
    read = outer.left.gather(2, place).double()
    return (read * torch.bmm(outer.right.double(), lookup.slopes.double().transpose(1, 2))).sum((1, 2))
