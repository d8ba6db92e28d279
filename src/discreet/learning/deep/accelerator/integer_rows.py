"""Gradients as integers: what an accelerator adds up exactly, at the speed of its smallest numbers.

An example takes part with a coefficient c, and what is added is a vector H of integers near
c G, where G is its gradient. How far H may be from c G is known for each example before c is chosen
(`rounding`), so that c leaves room for it. Sums of integers are exact in any order: rounding ends here.

A matrix whose gradient is a product of slopes and inputs is added up without writing the gradients out.
Where an example has one position, slopes times c become integers of 16 bits, in two parts of 8 bits, and
inputs are kept as integers of 8 bits, so that the sum over a batch is a product of matrices of 8-bit
integers. Where it has several, slopes and inputs are kept as floats of 16 bits, and the product of each
example is rounded by itself (docs/proofs/integer_gradients.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2, prod

import torch
from torch import Tensor

from discreet.learning.deep.accelerator.convolution_uses import PatchesUse, TapRowsUse
from discreet.learning.deep.accelerator.example_products import (
    MOST_EXAMPLES,
    add_products,
    look_up_squares_from_above,
    shorten,
    shortened,
    squares_from_above,
    write_products,
)
from discreet.learning.deep.accelerator.measuring_kernels import keep_slopes, round_inputs, summarize
from discreet.learning.deep.accelerator.noisy_sums import LARGEST
from discreet.learning.deep.accelerator.product_kernels import add_product, round_slopes, write_product
from discreet.learning.deep.accelerator.row_sum import (
    add_rounded_look_ups,
    add_rounded_rows,
    squares_of_rows,
)
from discreet.learning.deep.accelerator.side_streams import is_recording
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, TurnedRowsUse, Use

__all__ = ["MOST_POSITIONS", "IntegerForm", "integer_form", "joined_forms"]

MOST_POSITIONS = 2**13
"""Of an example, over which a sum is proven."""
_HALF = 0.51
"""Of a unit: how far rounding is from the exact product at most (lemma 2)."""
_UNIT = 8
"""Log2 of a unit of H where positions are added up: integers below 2^30 are at most 2^22 units."""
_MOST_UNITS = 2.0**22 - 1
"""How many an example may have of them."""
_LEAST_SQUARE = 2.0**-200  # coefficients are at most 2^58
_SHORT_FLOATS = 1.01 * 2.0**-14
"""Rounding of a squared norm and of products of 16-bit floats, in units of the squared mass (lemma 1)."""
_MOST_BITS = 30
"""Log2 of how long an example may be at most."""
_MOST_TABLE_STEPS = 2**29
"""Grid steps that all examples may add to a number of a table, so that 32 bits hold them with their noise."""
_LITTLE = 2.0**22
"""How far rounding to the grid may move an example: less than a hundredth of its length."""
_LARGEST_SLOPE = 32_600
"""So that two parts of 8 bits hold it, and one more."""
_LARGE = 2**16
"""Numbers of a matrix from which on its sums may be cut off where 32 bits end: at 128 deviations of noise."""
_NUMBERS_OF_A_POSITION = 32  # by time measured
_LONGEST_SUM = 2**16
"""Examples of one product of 8-bit integers: 2^16 128^2 is below 2^31."""


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

    def most_beside_others(self) -> Tensor | None:
        """The same of one of several uses, which may cancel: their norm says nothing of one alone."""
        return self.most()

    @abstractmethod
    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        """Add the H of all examples to a flat total of integers of 64 bits."""

    @property
    def has_short_sum(self) -> bool:
        """Whether the sum of all H may be cut off where 32 bits end: no total of 64 bits is needed then."""
        return False

    def write_steps(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        """Write the sum of all H in steps of 2^grid_shift, rounded and cut off, in 32 bits."""
        total = torch.zeros(steps.numel(), dtype=torch.int64, device=steps.device)
        self.add_to(total, coefficients)
        steps.copy_(((total + (1 << (grid_shift - 1))) >> grid_shift).clamp_(-LARGEST, LARGEST))


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
        return [use.bounds if isinstance(use, TapRowsUse) else squares_of_rows(use.rows)]

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
    """Slopes of rows of a table, rounded position by position.

    Parameters
    ----------
    use : LookupUse
        With slopes of 16 bits.
    unit : int
        Log2 of a unit of H: that of a grid step of the noise, if positions may be added up in 32 bits.
    """

    use: LookupUse
    unit: int

    @staticmethod
    def of(use: LookupUse, grid_shift: int) -> _LookupForm:
        """Return what is kept of a use, to be rounded to the grid of the noise where that moves it little."""
        size = use.rows * use.slopes.shape[2]
        is_little = _rounding_of(use, grid_shift) <= _LITTLE
        fits = len(use.slopes) << (_MOST_BITS - grid_shift) <= _MOST_TABLE_STEPS
        unit = grid_shift if size >= _LARGE and is_little and fits else 0
        may_share = is_recording()
        index = (
            use.index.contiguous() if may_share else use.index.clone(memory_format=torch.contiguous_format)
        )
        return _LookupForm(LookupUse(index, shortened(use.slopes, may_share=may_share), use.rows), unit)

    def kept(self) -> LookupUse:
        return self.use

    def mass(self) -> Tensor:
        return self.use.mass()

    def squares(self) -> list[Tensor]:
        share = _SHORT_FLOATS + self.use.slopes.shape[2] * 2.0**-30
        return [look_up_squares_from_above(self.use.slopes, self.use.index, share)]

    def rounding(self) -> float:
        return _rounding_of(self.use, self.unit)

    def most(self) -> None:
        return None

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        table = total.view(self.use.rows, -1)
        add_rounded_look_ups(table, self.use.index, self.use.slopes, coefficients, self.unit)

    @property
    def has_short_sum(self) -> bool:
        return self.unit > 0

    def write_steps(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        assert grid_shift == self.unit  # noqa: S101 - it was made for this grid
        self.add_to(steps.zero_(), coefficients)


def _rounding_of(use: LookupUse, unit: int) -> float:
    _, positions, columns = use.slopes.shape
    return _HALF * 2**unit * positions * columns**0.5


@dataclass(frozen=True, eq=False)
class _SingleForm(IntegerForm):
    """Outer products of slopes and inputs, one for each example, as they are kept.

    Parameters
    ----------
    slopes : tensor of float16 (examples, rows)
    slope_unit : tensor (examples,)
        The powers of two that they are multiplied by.
    inputs : tensor of int8 (columns, places)
        The inputs' integers, with as many places as examples, and some zeros after them.
    input_unit : tensor (examples,)
    measured : tensor of doubles (4, examples)
        Norms of the gradients, their squares, how far H may be from c G, and largest coefficients.
    """

    slopes: Tensor
    slope_unit: Tensor
    inputs: Tensor
    input_unit: Tensor
    measured: Tensor

    @staticmethod
    def of(slopes: Tensor, inputs: Tensor) -> _SingleForm:
        """Return what is kept of (examples, …)."""
        short, slope_unit, largest, slope_squares = keep_slopes(_as_floats(slopes))
        whole, input_unit, input_squares = round_inputs(_as_floats(inputs))
        rows = slopes.shape[1]
        unit = 2 ** _shift_for(rows)
        step, most = _HALF * unit * rows**0.5, float(_LARGEST_SLOPE * unit)
        given = (slope_squares, slope_unit, largest, input_squares, input_unit)
        return _SingleForm(short, slope_unit, whole, input_unit, summarize(*given, step=step, most=most))

    @property
    def shift(self) -> int:
        """Log2 of a unit of H."""
        return _shift_for(self.slopes.shape[1])

    def kept(self) -> OuterUse:
        slopes = self.slopes.double() * self.slope_unit[:, None]
        inputs = self.inputs[:, : len(self.slopes)].T * self.input_unit[:, None].double()
        return OuterUse(slopes[:, None], inputs[:, None])

    def mass(self) -> Tensor:
        return self.measured[0]

    def squares(self) -> list[Tensor]:
        return [self.measured[1][:, None]]

    def rounding(self) -> Tensor:
        return self.measured[2]

    def most(self) -> Tensor:
        return self.measured[3]

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        parts = self._parts(coefficients)
        for start in range(0, self.inputs.shape[1], _LONGEST_SUM):
            some = slice(start, start + _LONGEST_SUM)
            add_product(total, parts[:, some], self.inputs[:, some], self.shift)

    @property
    def has_short_sum(self) -> bool:
        size = self.slopes.shape[1] * self.inputs.shape[0]
        return self.inputs.shape[1] <= _LONGEST_SUM and size >= _LARGE

    def write_steps(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        write_product(steps, self._parts(coefficients), self.inputs, grid_shift - self.shift)

    def _parts(self, coefficients: Tensor) -> Tensor:
        places, shift = self.inputs.shape[1], self.shift
        return round_slopes(self.slopes, self.slope_unit, self.input_unit, coefficients, places, shift)


@dataclass(frozen=True, eq=False)
class _PositionsForm(IntegerForm):
    """Sums over positions of slopes times inputs, as they are kept: floats of 16 bits.

    In a recorded program they may be those of its forward and backward pass themselves, so that nothing is
    measured before both are over.
    """

    use: OuterUse

    def kept(self) -> OuterUse:
        return self.use

    def mass(self) -> Tensor:
        return self.use.mass()

    def squares(self) -> list[Tensor]:
        return [self._squares]

    @cached_property
    def _squares(self) -> Tensor:
        slopes, inputs = self.use.left, self.use.right
        share = _SHORT_FLOATS + (slopes.shape[2] + inputs.shape[2] + 2 * self.use.positions) * 2.0**-30
        return squares_from_above(slopes, inputs, share)

    def rounding(self) -> float:
        return _HALF * 2**_UNIT * (self.use.left.shape[2] * self.use.right.shape[2]) ** 0.5

    def most(self) -> None:
        return None

    def most_beside_others(self) -> Tensor:
        return _MOST_UNITS * 2**_UNIT / self._squares.sum(1).clamp(min=_LEAST_SQUARE).sqrt()

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        add_products(total, self.use.left, self.use.right, coefficients, _UNIT)

    @property
    def has_short_sum(self) -> bool:
        size = self.use.left.shape[2] * self.use.right.shape[2]
        # Of a small matrix many examples are shared by programs, which only a total allows.
        is_large = size >= max(_LARGE, _NUMBERS_OF_A_POSITION * self.use.terms)
        return self.use.terms > 0 and len(self.use.left) <= MOST_EXAMPLES and is_large

    def write_steps(self, steps: Tensor, coefficients: Tensor, grid_shift: int) -> None:
        write_products(steps, self.use.left, self.use.right, coefficients, _UNIT, grid_shift)


@dataclass(frozen=True, eq=False)
class _PatchesForm(_PositionsForm):
    """The same of a convolution, whose sums are put into the order of its parameter."""

    taps: int

    @staticmethod
    def of(use: PatchesUse) -> _PatchesForm:
        """Return what is kept of slopes and patches."""
        slopes, patches = shorten(use.slopes, use.patches, may_share=is_recording())
        return _PatchesForm(OuterUse(slopes, patches), use.taps)

    def kept(self) -> OuterUse:
        return PatchesUse(self.use.left, self.use.right, self.taps).in_order

    def add_to(self, total: Tensor, coefficients: Tensor) -> None:
        found = torch.zeros_like(total)
        super().add_to(found, coefficients)
        outputs = self.use.left.shape[2]
        total.view(outputs, -1, self.taps).add_(found.view(outputs, self.taps, -1).transpose(1, 2))

    @property
    def has_short_sum(self) -> bool:
        return False


def _shift_for(rows: int) -> int:
    """Return log2 of a unit of H: so that an input with a single entry fits, with slopes of usual shape."""
    return max(0, ceil(10.0 - 0.5 * log2(max(rows, 1))))


def integer_form(use: Use, grid_shift: int = 0) -> IntegerForm:
    """Return the gradients of a use as they are added up; 2^grid_shift integers are a step of the noise."""
    if isinstance(use, OuterUse) and use.positions == 1:
        return _SingleForm.of(use.left[:, 0], use.right[:, 0])
    if isinstance(use, OuterUse):
        return _PositionsForm(OuterUse(*shorten(use.left, use.right, may_share=is_recording())))
    if isinstance(use, PatchesUse):
        return _PatchesForm.of(use)
    if isinstance(use, LookupUse):
        return _LookupForm.of(use, grid_shift)
    if isinstance(use, TurnedRowsUse):
        return _RowForm(use.in_order)
    assert isinstance(use, RowsUse | TapRowsUse)  # noqa: S101 - there are six kinds
    return _RowForm(use)


def joined_forms(forms: list[IntegerForm]) -> list[IntegerForm]:
    """Return the forms of one parameter, with all that are sums over positions as one, if these are few.

    What cancels between uses then cancels before it is rounded.
    """
    sums = [form.use for form in forms if type(form) is _PositionsForm]
    if len(sums) < 2 or sum(use.positions for use in sums) > MOST_POSITIONS:
        return forms
    left, right = torch.cat([use.left for use in sums], 1), torch.cat([use.right for use in sums], 1)
    return [
        *(form for form in forms if type(form) is not _PositionsForm),
        integer_form(OuterUse(left, right)),
    ]


def _as_floats(values: Tensor) -> Tensor:
    return values.float() if values.dtype == torch.float64 else values
