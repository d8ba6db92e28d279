"""Gradients as integers: what an accelerator adds up exactly, at the speed of its smallest numbers.

An example takes part with a coefficient c, and what is added is a vector H of integers near
c G, where G is its gradient. How far H may be from c G is known for each example before c is chosen
(`rounding`), so that c leaves room for it. Sums of integers are exact in any order: rounding ends here.

A matrix whose gradient is a sum of outer products of slopes and inputs is added up without writing the
gradients out: inputs are kept as integers of 8 bits with a power of two for each position, which is part of
what G is, and slopes times c become integers of 24 bits, in three parts of 8 bits. So the sum over a batch is
a product of matrices of 8-bit integers, with sums of 32 bits (docs/proofs/integer_gradients.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, log2, prod

import torch
from torch import Tensor

from discreet.learning.deep.accelerator.convolution_uses import TapRowsUse
from discreet.learning.deep.accelerator.kernels import (
    add_parts,
    describe_rows,
    exact_product,
    gram_products,
    round_inputs,
    round_slopes,
)
from discreet.learning.deep.accelerator.row_sum import add_rounded_rows
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, Use

__all__ = ["IntegerForm", "integer_form"]

_DOUBLES = 2.0**-24
"""Rounding of a squared norm that was summed in doubles, in units of the squared mass."""
_LOST_PRODUCTS = 2.0**-56
"""Of a squared norm, because products of small floats are 0 (lemma 1)."""
_HALF = 0.51
"""Of a unit: how far rounding is from the exact product at most (lemma 2)."""
_LARGEST_INPUT = 127
_LARGEST_SLOPE = 8_300_000
_LONGEST_SUM = 2**16
"""Positions of one product of 8-bit integers: 2^16 128^2 is below 2^31."""
_EXPONENTS = (-100, 100)


class IntegerForm(ABC):
    """The gradients of one use, ready to be measured and to be added up as integers."""

    @abstractmethod
    def kept(self) -> Use:
        """The use whose gradients these are, with numbers as they are kept."""

    @abstractmethod
    def mass(self) -> Tensor:
        """For each example, a sum of norms of terms that add up to its gradient."""

    @abstractmethod
    def squares(self, mass: Tensor) -> Tensor:
        """The squared norm of each gradient from above, given the masses."""

    @abstractmethod
    def rounding(self) -> Tensor | float:
        """For each example, or for all, how far H may be from c G, whatever c is."""

    @abstractmethod
    def most(self) -> Tensor | None:
        """For each example, the largest c for which H can be written; None if there is no limit."""

    @abstractmethod
    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        """Add the H of all examples to a flat total of integers."""


@dataclass(frozen=True, eq=False)
class _RowForm(IntegerForm):
    """Rows of numbers, rounded one by one."""

    use: RowsUse | TapRowsUse

    def kept(self) -> RowsUse | TapRowsUse:
        return self.use

    def mass(self) -> Tensor:
        return self.use.mass()

    def squares(self, mass: Tensor) -> Tensor:
        return self.use.squares(mass)

    def rounding(self) -> float:
        return _HALF * prod(self.use.rows.shape[1:]) ** 0.5

    def most(self) -> None:
        return None

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        if isinstance(self.use, TapRowsUse):
            _, outputs, taps, channels = self.use.rows.shape
            total = total.view(outputs, channels, taps).transpose(1, 2)
        add_rounded_rows(total, self.use.rows, coefficients)


@dataclass(frozen=True, eq=False)
class _LookupForm(IntegerForm):
    """Slopes of rows of a table, rounded position by position."""

    use: LookupUse

    def kept(self) -> LookupUse:
        return self.use

    def mass(self) -> Tensor:
        return self.use.mass()

    def squares(self, mass: Tensor) -> Tensor:
        return self.use.squares(mass) + _DOUBLES * mass.square()

    def rounding(self) -> float:
        _, positions, columns = self.use.slopes.shape
        return _HALF * positions * columns**0.5

    def most(self) -> None:
        return None

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        use, factors = self.use, coefficients[:, None, None]
        rounded = torch.where(factors == 0, 0.0, use.slopes.double() * factors).round()
        table = total.reshape(use.rows, rounded.shape[2])
        table.index_add_(0, use.index.flatten(), rounded.long().flatten(0, 1))


@dataclass(frozen=True, eq=False)
class _OuterForm(IntegerForm):
    """Outer products of slopes and inputs, which are integers times a power of two.

    Parameters
    ----------
    slopes : tensor (examples times positions, rows)
    slope_lengths, largest : tensors (examples, positions)
        The norms of the slopes in doubles, and their largest absolute values.
    inputs : tensor of int8 (columns, places)
        The inputs' integers, with as many places as positions of all examples, and some zeros after them.
    unit, input_lengths : tensors (examples, positions)
        The powers of two that they are multiplied by, and their norms in doubles.
    """

    slopes: Tensor
    slope_lengths: Tensor
    largest: Tensor
    inputs: Tensor
    unit: Tensor
    input_lengths: Tensor

    @property
    def _shift(self) -> int:
        """Log2 of a unit of H: so that an input with a single entry fits, with slopes of usual shape."""
        return max(0, ceil(2.03 - 0.5 * log2(self.slopes.shape[1])))

    def kept(self) -> OuterUse:
        examples, positions = self.unit.shape
        inputs = self.inputs[:, : len(self.slopes)].T.reshape(examples, positions, -1)
        return OuterUse(self.slopes.reshape(examples, positions, -1), inputs * self.unit[:, :, None])

    def mass(self) -> Tensor:
        return (self.slope_lengths * self.input_lengths * self.unit).sum(1)

    def squares(self, mass: Tensor) -> Tensor:
        """By Gram matrices, whose rounding is a share of the squared mass (lemma 1)."""
        examples, positions = self.unit.shape
        if positions == 1:
            return mass.square()
        found = gram_products(self.slopes, self.unit.flatten(), self.inputs, examples)
        return found + (2.0**-14 + self.slopes.shape[1] * 2.0**-29) * mass.square() + _LOST_PRODUCTS

    def rounding(self) -> Tensor:
        return self.input_lengths.sum(1) * (_HALF * 2**self._shift * self.slopes.shape[1] ** 0.5)

    def most(self) -> Tensor:
        largest = (self.largest.double() * self.unit).amax(1)
        return (_LARGEST_SLOPE * 2**self._shift) / largest.clamp(min=2.0**-100)

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        factors = coefficients[:, None] * self.unit * 2.0**-self._shift
        factors = torch.where(coefficients[:, None] == 0, 0.0, factors).flatten()
        places = self.inputs.shape[1]
        parts = round_slopes(self.slopes, factors, places)
        for start in range(0, places, _LONGEST_SUM):
            some = slice(start, start + _LONGEST_SUM)
            add_parts(total, exact_product(parts[:, some], self.inputs[:, some]), self._shift)


def integer_form(use: Use) -> IntegerForm:
    """Return the gradients of a use as they are added up as integers."""
    if isinstance(use, OuterUse):
        return _outer_form(use)
    if isinstance(use, LookupUse):
        return _LookupForm(use)
    assert isinstance(use, RowsUse | TapRowsUse)  # noqa: S101 - there are four kinds
    return _RowForm(use)


def _as_floats(values: Tensor) -> Tensor:
    return values.float() if values.dtype == torch.float64 else values


def _outer_form(use: OuterUse) -> _OuterForm:
    """Round inputs to integers up to 127 times a power of two of their position."""
    shape = use.left.shape[:2]
    slopes, right = _as_floats(use.left).flatten(0, 1), _as_floats(use.right).flatten(0, 1)
    largest, squares = describe_rows(slopes)
    slope_squares = torch.where(largest < 2.0 ** _EXPONENTS[1], squares, torch.inf)
    biggest, _ = describe_rows(right)
    _, exponent = torch.frexp(biggest)
    unit = torch.ldexp(torch.ones_like(biggest), exponent.clamp(*_EXPONENTS) - 7)
    unit = torch.where(biggest < 2.0 ** _EXPONENTS[1], unit, torch.inf)  # such an example has no finite norm
    inputs, input_squares = round_inputs(right, unit, -(-len(right) // 16) * 16)
    return _OuterForm(
        slopes=slopes,
        slope_lengths=slope_squares.sqrt().reshape(shape),
        largest=largest.reshape(shape),
        inputs=inputs,
        unit=unit.reshape(shape),
        input_lengths=input_squares.double().sqrt().reshape(shape),
    )
