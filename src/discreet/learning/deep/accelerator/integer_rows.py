"""Gradients as integers: what an accelerator adds up exactly, at the speed of its smallest numbers.

An example takes part with a coefficient c, and what is added is a vector H of integers near
c G, where G is its gradient. How far H may be from c G is known for each example before c is chosen
(`rounding`), so that c leaves room for it. Sums of integers are exact in any order: rounding ends here.

A matrix whose gradient is a sum of outer products of slopes and inputs is added up without writing the
gradients out. Inputs are kept as integers of 8 bits and slopes as floats of 16 bits, with a power of two for
each position, which is part of what G is; slopes times c become integers of 24 bits, in three parts of 8
bits. So the sum over a batch is a product of matrices of 8-bit integers, with sums of 32 bits
(docs/proofs/integer_gradients.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2, prod

import torch
from torch import Tensor

from discreet.learning.deep.accelerator.convolution_uses import TapRowsUse
from discreet.learning.deep.accelerator.measuring_kernels import (
    gram_products,
    keep_slopes,
    round_inputs,
    summarize,
)
from discreet.learning.deep.accelerator.product_kernels import LARGEST, add_product, round_slopes
from discreet.learning.deep.accelerator.row_sum import (
    add_rounded_look_ups,
    add_rounded_rows,
    squares_of_rows,
)
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, Use

__all__ = ["IntegerForm", "integer_form", "worst_rounding"]

_DOUBLES = 2.0**-24
"""Rounding of a squared norm that was summed in doubles, in units of the squared mass."""
_HALF = 0.51
"""Of a unit: how far rounding is from the exact product at most (lemma 2)."""
_LARGEST_INPUT = 127
_LARGEST_SLOPE = 8_300_000
_LARGE = 2**16
"""Numbers of a matrix from which on its sums may be cut off where 32 bits end: at 128 deviations of noise."""
_LONGEST_SUM = 2**16
"""Positions of one product of 8-bit integers: 2^16 128^2 is below 2^31."""


class IntegerForm(ABC):
    """The gradients of one use, ready to be measured and to be added up as integers."""

    @abstractmethod
    def kept(self) -> Use:
        """The use whose gradients these are, with numbers as they are kept."""

    @abstractmethod
    def mass(self) -> Tensor:
        """For each example, a sum of norms of terms that add up to its gradient."""

    @abstractmethod
    def squares(self) -> list[Tensor]:
        """Numbers that add up to the squared norm of each gradient, or more: each (examples, some)."""

    @abstractmethod
    def rounding(self) -> Tensor | float:
        """For each example, or for all, how far H may be from c G, whatever c is."""

    @abstractmethod
    def most(self) -> Tensor | None:
        """For each example, the largest c for which H can be written; None if there is no limit."""

    @abstractmethod
    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        """Add the H of all examples to a flat total of integers of 64 bits."""

    @property
    def worst_rounding(self) -> float:
        """The largest that `rounding` may be, whatever the numbers are."""
        return 0.0

    @property
    def has_steps(self) -> bool:
        """Whether the sum of all H can be written in grid steps, without a total of 64 bits."""
        return False

    def write_to(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        """Write the sum of all H in steps of 2^grid_shift, rounded and cut off, as integers of 32 bits."""
        total = torch.zeros(steps.numel(), dtype=torch.int64, device=steps.device)
        self.add_to(total, coefficients)
        steps.copy_(((total + (1 << (grid_shift - 1))) >> grid_shift).clamp(-LARGEST, LARGEST))


@dataclass(frozen=True, eq=False)
class _RowForm(IntegerForm):
    """Rows of numbers, rounded one by one."""

    use: RowsUse | TapRowsUse

    def kept(self) -> RowsUse | TapRowsUse:
        return self.use

    def mass(self) -> Tensor:
        return self.use.mass()

    def squares(self) -> list[Tensor]:
        use = self.use
        return [use.bounds[:, None] if isinstance(use, TapRowsUse) else squares_of_rows(use.rows)]

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

    def squares(self) -> list[Tensor]:
        mass = self.mass()
        return [self.use.squares(mass)[:, None], _DOUBLES * mass.square()[:, None]]

    def rounding(self) -> float:
        _, positions, columns = self.use.slopes.shape
        return _HALF * positions * columns**0.5

    def most(self) -> None:
        return None

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        table = total.view(self.use.rows, -1)
        add_rounded_look_ups(table, self.use.index, self.use.slopes, coefficients)


@dataclass(frozen=True, eq=False)
class _OuterForm(IntegerForm):
    """Outer products of slopes and inputs, as they are kept.

    Parameters
    ----------
    slopes : tensor of float16 (examples times positions, rows)
    slope_unit : tensor (examples times positions,)
        The powers of two that they are multiplied by.
    inputs : tensor of int8 (columns, places)
        The inputs' integers, with as many places as positions of all examples, and some zeros after them.
    input_unit : tensor (examples times positions,)
    slope_squares, largest, input_squares : tensors (examples times positions,)
        Sums of squares of slopes and of the inputs' integers, and the largest slopes.
    examples : int
    """

    slopes: Tensor
    slope_unit: Tensor
    inputs: Tensor
    input_unit: Tensor
    slope_squares: Tensor
    largest: Tensor
    input_squares: Tensor
    examples: int

    @property
    def shift(self) -> int:
        """Log2 of a unit of H."""
        return _shift_for(self.slopes.shape[1])

    @property
    def positions(self) -> int:
        """How many outer products add up to a gradient."""
        return len(self.slopes) // self.examples

    @cached_property
    def _summary(self) -> Tensor:
        """Masses, what is added to squares for rounding, roundings, and largest coefficients."""
        rows = self.slopes.shape[1]
        return summarize(
            self.slope_squares,
            self.slope_unit,
            self.largest,
            self.input_squares,
            self.input_unit,
            self.examples,
            share=1.0 if self.positions == 1 else 2.0**-16 + rows * 2.0**-30,
            step=_HALF * 2**self.shift * rows**0.5,
            most=float(_LARGEST_SLOPE * 2**self.shift),
        )

    def kept(self) -> OuterUse:
        shape = (self.examples, self.positions, -1)
        slopes = self.slopes.double() * self.slope_unit[:, None]
        inputs = self.inputs[:, : len(self.slopes)].T * self.input_unit[:, None].double()
        return OuterUse(slopes.reshape(shape), inputs.reshape(shape))

    def mass(self) -> Tensor:
        return self._summary[0]

    def squares(self) -> list[Tensor]:
        """By Gram matrices, whose rounding is a share of the squared mass (lemma 1)."""
        share = self._summary[1][:, None]
        if self.positions == 1:
            return [share]
        given = (self.slopes, self.slope_unit, self.inputs, self.input_unit)
        return [gram_products(*given, self.examples), share]

    def rounding(self) -> Tensor:
        return self._summary[2]

    @property
    def worst_rounding(self) -> float:
        return worst_rounding(self.positions, self.slopes.shape[1], self.inputs.shape[0])

    def most(self) -> Tensor:
        return self._summary[3]

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        parts = self._parts(coefficients)
        for start in range(0, self.inputs.shape[1], _LONGEST_SUM):
            some = slice(start, start + _LONGEST_SUM)
            add_product(total, parts[:, some], self.inputs[:, some], self.shift)

    @property
    def has_steps(self) -> bool:
        size = self.slopes.shape[1] * self.inputs.shape[0]
        return self.inputs.shape[1] <= _LONGEST_SUM and size >= _LARGE

    def write_to(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        add_product(steps, self._parts(coefficients), self.inputs, grid_shift - self.shift)

    def _parts(self, coefficients: Tensor) -> Tensor:
        places, shift = self.inputs.shape[1], self.shift
        return round_slopes(self.slopes, self.slope_unit, self.input_unit, coefficients, places, shift)


def worst_rounding(positions: int, rows: int, columns: int) -> float:
    """Return how far rounding of outer products may move a sum at most, whatever the numbers are."""
    return _HALF * 2 ** _shift_for(rows) * positions * (rows * columns) ** 0.5 * _LARGEST_INPUT


def _shift_for(rows: int) -> int:
    """Return log2 of a unit of H: so that an input with a single entry fits, with slopes of usual shape."""
    return max(0, ceil(2.03 - 0.5 * log2(max(rows, 1))))


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
    slopes, slope_unit, largest, slope_squares = keep_slopes(_as_floats(use.left).flatten(0, 1))
    inputs, input_unit, input_squares = round_inputs(_as_floats(use.right).flatten(0, 1))
    measured = (slope_squares, largest, input_squares)
    return _OuterForm(slopes, slope_unit, inputs, input_unit, *measured, len(use.left))
